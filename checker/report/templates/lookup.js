(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("places").textContent);
  var find = document.querySelector("form.find");
  if (!find) { return; }
  var rows = Array.prototype.slice.call(document.querySelectorAll("article[data-row]")).map(function (box) {
    var name = box.getAttribute("data-row");
    return { box: box, text: box.textContent.toLowerCase(), places: data.places[name] || [],
             reads: (data.touched[name] || [[], []])[0], writes: (data.touched[name] || [[], []])[1] };
  });
  function value(name) { var field = find.querySelector("." + name); return field ? field.value : ""; }
  function fits(row, asked) {
    if (asked.on || asked.inside) {
      var here = row.places.some(function (place) {
        return (!asked.on || place[0] === asked.on) && (!asked.inside || place[1] === asked.inside);
      });
      if (!here) { return false; }
    }
    if (asked.reads && row.reads.indexOf(asked.reads) < 0) { return false; }
    if (asked.writes && row.writes.indexOf(asked.writes) < 0) { return false; }
    return asked.words.every(function (word) {
      return word[0] === "-" && word.length > 1 ? row.text.indexOf(word.slice(1)) < 0 : row.text.indexOf(word) >= 0;
    });
  }
  function show() {
    var asked = { on: value("on"), inside: value("in"), reads: value("reads"), writes: value("writes"),
                  words: value("words").toLowerCase().split(/\s+/).filter(Boolean) };
    var left = 0;
    rows.forEach(function (row) {
      var here = fits(row, asked);
      row.box.classList.toggle("filtered", !here);
      left += here ? 1 : 0;
    });
    Array.prototype.forEach.call(find.parentNode.querySelectorAll(".part"), function (part) {
      part.classList.toggle("filtered", !part.querySelector("article:not(.filtered)"));
    });
    Array.prototype.forEach.call(document.querySelectorAll("td a[data-on]"), function (link) {
      link.classList.toggle("now", Boolean(asked.on && asked.inside) &&
        link.getAttribute("data-on") === asked.on && link.getAttribute("data-in") === asked.inside);
    });
    find.querySelector("output").textContent = left === rows.length ? rows.length + " rows" : left + " of " + rows.length + " rows";
  }
  document.addEventListener("click", function (event) {
    var link = event.target.closest ? event.target.closest("td a[data-on]") : null;
    if (!link) { return; }
    find.reset();
    find.querySelector(".on").value = link.getAttribute("data-on");
    find.querySelector(".in").value = link.getAttribute("data-in");
    show();
  });
  // A row that a link or an address names is shown, whatever was asked before.
  function arrive() {
    var box = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (box && box.classList.contains("filtered")) { find.reset(); show(); box.scrollIntoView(); }
  }
  window.addEventListener("hashchange", arrive);
  find.addEventListener("input", show);
  find.addEventListener("reset", function () { setTimeout(show, 0); });
  find.addEventListener("submit", function (event) { event.preventDefault(); });
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      find.querySelector(".words").focus();
    }
  });
  find.hidden = false;
  show();
})();
