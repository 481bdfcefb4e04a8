(function () {
  "use strict";
  document.documentElement.classList.add("scripted");
  var stories = Array.prototype.slice.call(document.querySelectorAll("[data-story]"));
  var current = 0, shown = stories.map(function () { return null; });
  function each(root, selector, todo) { Array.prototype.forEach.call(root.querySelectorAll(selector), todo); }
  function within(box, item, sideways) {
    var outer = box.getBoundingClientRect(), inner = item.getBoundingClientRect();
    if (box.scrollHeight > box.clientHeight + 2) {
      box.scrollTop += inner.top - outer.top - (box.clientHeight - inner.height) / 2;
    }
    if (sideways && box.scrollWidth > box.clientWidth + 2 &&
        (inner.left < outer.left || inner.right > outer.right)) {
      box.scrollLeft += inner.left - outer.left - 40;
    }
  }
  function show(place, number, move) {
    var root = stories[place], last = root.querySelectorAll("li[data-step]").length - 1;
    number = Math.max(0, Math.min(last, number));
    current = place;
    shown[place] = number;
    each(root, ".on", function (item) { item.classList.remove("on"); });
    each(root, "[aria-current]", function (item) { item.removeAttribute("aria-current"); });
    each(root, "[data-step='" + number + "'], [data-sent='" + number + "'], [data-ended='" + number + "']",
      function (item) { item.classList.add("on"); });
    var item = root.querySelector("li[data-step='" + number + "']");
    item.setAttribute("aria-current", "step");
    root.querySelector(".where").textContent = "Step " + number + " of " + last + ": " +
      item.querySelector(".called").textContent;
    var box = root.querySelector(".chart"), mark = root.querySelector("g[data-step='" + number + "']");
    if (box && mark) { within(box, mark, true); }
    if (move) { item.scrollIntoView({ block: "nearest" }); }
  }
  function go(by) {
    var now = shown[current];
    show(current, now === null ? (by > 0 ? 1 : 0) : now + by, true);
  }
  stories.forEach(function (root, place) {
    var bar = root.querySelector(".walk");
    bar.hidden = false;
    bar.querySelector(".back").addEventListener("click", function () { current = place; go(-1); });
    bar.querySelector(".forth").addEventListener("click", function () { current = place; go(1); });
    each(root, "[data-step]", function (item) {
      item.addEventListener("click", function (event) {
        if (!event.target.closest("a") && !String(window.getSelection())) {
          show(place, Number(item.getAttribute("data-step")), item.tagName !== "LI");
        }
      });
    });
  });
  document.addEventListener("keydown", function (event) {
    if (!stories.length || event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (event.key === "j" || event.key === "ArrowRight") { go(1); event.preventDefault(); }
    if (event.key === "k" || event.key === "ArrowLeft") { go(-1); event.preventDefault(); }
  });
  function named() {
    var found = /^#story-(\d+)-step-(\d+)$/.exec(location.hash);
    if (found && stories[found[1] - 1]) { show(found[1] - 1, Number(found[2]), true); }
  }
  window.addEventListener("hashchange", named);
  named();
}());
