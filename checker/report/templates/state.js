// A state as a reader sees it: machines as chips, the current one lit, and a table of the rest.
var drawing = (function () {
  "use strict";
  function make(name, kind, text) {
    var item = document.createElement(name);
    if (kind) { item.className = kind; }
    if (text !== undefined) { item.textContent = text; }
    return item;
  }
  function plain(place) { return place.replace(/\[[^\]]*\]/g, ""); }
  // Places that contain one of the words, and none of those with a minus before them.
  function words(text) {
    var all = text.split(/\s+/).filter(Boolean);
    var asked = all.filter(function (word) { return word[0] !== "-"; });
    var hidden = all.filter(function (word) { return word[0] === "-" && word.length > 1; });
    function fits(place) {
      if (asked.length && !asked.some(function (word) { return place.indexOf(word) >= 0; })) { return false; }
      return !hidden.some(function (word) { return place.indexOf(word.slice(1)) >= 0; });
    }
    return { none: !all.length, fits: fits };
  }
  function chips(place, value, states) {
    var line = make("p", "");
    line.appendChild(make("code", "", place + " "));
    states.forEach(function (name) {
      var chip = make("span", name === value ? "chip now" : "chip", name);
      if (name === value) { chip.setAttribute("aria-current", "true"); }
      line.appendChild(chip);
    });
    return line;
  }
  function row(place, value, fresh) {
    var line = make("tr", fresh ? "new" : ""), head = make("th"), cell = make("td");
    head.setAttribute("scope", "row");
    head.appendChild(make("code", "", place));
    cell.appendChild(make("code", "", value));
    line.appendChild(head); line.appendChild(cell);
    return line;
  }
  return { make: make, plain: plain, words: words, chips: chips, row: row };
}());
