{% include "expressions.js" %}
{% include "state.js" %}
(function () {
  "use strict";
  document.documentElement.classList.add("scripted");
  var stories = Array.prototype.slice.call(document.querySelectorAll("[data-story]"));
  var current = 0, shown = stories.map(function () { return null; });
  var make = drawing.make, plain = drawing.plain;
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
  function wanted(root) {
    var component = root.querySelector(".component").value, name = root.querySelector(".property").value;
    var words = drawing.words(root.querySelector(".variable").value);
    var reads = name ? root.data.reads[name] : null;
    var free = !component && !name && words.none;
    function fits(place) {
      if (component && place.split(".")[0].split("[")[0] !== component) { return false; }
      if (reads && reads.indexOf(plain(place)) < 0) { return false; }
      return words.fits(place);
    }
    return { free: free, fits: fits };
  }
  function filter(root) {
    var asked = wanted(root);
    each(root, "[data-place]", function (item) {
      item.classList.toggle("filtered", !asked.fits(item.getAttribute("data-place")));
    });
    each(root, "li[data-step]", function (item) {
      var all = item.querySelectorAll("[data-place]").length;
      var left = item.querySelectorAll("[data-place]:not(.filtered)").length;
      item.classList.toggle("quiet", !asked.free && !left && !item.classList.contains("breaks"));
      if (all && left && !asked.free) { each(item, "details.more", function (box) { box.open = true; }); }
    });
    state(root, shown[stories.indexOf(root)] || 0);
  }
  function state(root, number) {
    var data = root.data, values = [], fresh = {}, asked = wanted(root);
    for (var step = 0; step <= number && step < data.steps.length; step += 1) {
      fresh = {};
      data.steps[step].forEach(function (change) { values[change[0]] = change[1]; fresh[change[0]] = true; });
    }
    var lit = root.querySelector(".lit"), body = root.querySelector(".values tbody");
    lit.textContent = ""; body.textContent = "";
    data.places.forEach(function (place, index) {
      var states = data.machines[plain(place)], value = values[index];
      if (value === undefined || value === null || !asked.fits(place)) { return; }
      if (states) {
        lit.appendChild(drawing.chips(place, value, states));
      } else {
        body.appendChild(drawing.row(place, value, fresh[index] && number));
      }
    });
    var item = root.querySelector("li[data-step='" + number + "']"), at = item && item.querySelector(".at");
    if (item && !at) {
      each(root, "li[data-row]", function (other) {
        if (!at && other.getAttribute("data-row") === item.getAttribute("data-row")) { at = other.querySelector(".at"); }
      });
    }
    ask(root, number);
    root.querySelector(".fired").textContent = number && item ? "Row " + item.getAttribute("data-row") + (at && at.textContent ? " (" + at.textContent + ")" : "") : "";
  }
  function ask(root, number) {
    var text = root.querySelector(".ask").value.trim(), out = root.querySelector(".answer"), data = root.data;
    var values = [], told = [], last = null, here = null;
    (text ? data.steps : []).forEach(function (changes, step) {
      changes.forEach(function (change) { values[change[0]] = change[1]; });
      var places = {};
      data.places.forEach(function (place, index) {
        if (values[index] !== undefined && values[index] !== null) { places[place] = values[index]; }
      });
      var found = expressions.ask(text, { places: places, domains: data.domains, words: data.words, constants: data.constants });
      if (step === number) { here = found; }
      if (found.text !== last) { told.push((told.length ? "from step " + step : "at first") + " " + found.text); }
      last = found.text;
    });
    out.classList.toggle("wrong", Boolean(here && !here.ok));
    out.textContent = !here ? "" : told.length > 1 ? "is " + here.text + " (" + told.join(", ") + ")" : here.ok ? "is " + here.text + " throughout" : here.text;
  }
  // The step that is looked at shows all it did; the one before is folded again.
  function unfold(root, item) {
    each(root, "details.walked", function (box) { box.open = false; box.classList.remove("walked"); });
    each(item, "details.more:not([open])", function (box) { box.open = true; box.classList.add("walked"); });
  }
  function show(place, number, move) {
    var root = stories[place], last = root.querySelectorAll("li[data-step]").length - 1;
    number = Math.max(0, Math.min(last, number));
    current = place;
    shown[place] = number;
    each(root, ".on", function (item) { item.classList.remove("on"); });
    each(root, "li[aria-current]", function (item) { item.removeAttribute("aria-current"); });
    each(root, "[data-step='" + number + "'], [data-sent='" + number + "'], [data-ended='" + number + "']",
      function (item) { item.classList.add("on"); });
    var item = root.querySelector("li[data-step='" + number + "']"), phase = item.closest("details.phase");
    each(root, "details.also", function (box) { box.open = true; });
    if (phase) { phase.open = true; }
    unfold(root, item);
    item.setAttribute("aria-current", "step");
    root.querySelector(".where").textContent = "Step " + number + " of " + last + ": " +
      item.querySelector(".called").textContent;
    var mark = root.querySelector("g[data-step='" + number + "']"), box = mark && mark.closest(".chart");
    if (box) { within(box, mark, true); }
    state(root, number);
    if (move) { item.scrollIntoView({ block: "nearest" }); }
  }
  function go(by) {
    var now = shown[current];
    show(current, now === null ? (by > 0 ? 1 : 0) : now + by, true);
  }
  function choices(select, names) {
    names.forEach(function (name) { var item = make("option", "", name); item.value = name; select.appendChild(item); });
    select.parentNode.hidden = names.length < 2;
  }
  stories.forEach(function (root, place) {
    var bar = root.querySelector(".walk"), components = [];
    root.data = JSON.parse(root.querySelector("script.states").textContent);
    root.data.places.forEach(function (name) {
      var word = name.split(".")[0].split("[")[0];
      if (components.indexOf(word) < 0) { components.push(word); }
    });
    choices(root.querySelector(".component"), components);
    choices(root.querySelector(".property"), Object.keys(root.data.reads));
    bar.hidden = false;
    root.querySelector("details.state").hidden = false;
    state(root, 0);
    bar.querySelector(".back").addEventListener("click", function () { current = place; go(-1); });
    bar.querySelector(".forth").addEventListener("click", function () { current = place; go(1); });
    bar.querySelector(".unfold").addEventListener("click", function () {
      var open = this.getAttribute("aria-pressed") !== "true";
      this.setAttribute("aria-pressed", String(open));
      each(root, "ol.steps details.more", function (box) { box.open = open; box.classList.remove("walked"); });
    });
    each(root, ".filters select", function (item) { item.addEventListener("change", function () { filter(root); }); });
    root.querySelector(".ask").addEventListener("input", function () { ask(root, shown[place] || 0); });
    root.querySelector(".variable").addEventListener("input", function () { filter(root); });
    each(root, "[data-step]", function (item) {
      item.addEventListener("click", function (event) {
        if (!event.target.closest("a, details.more") && !String(window.getSelection())) {
          show(place, Number(item.getAttribute("data-step")), item.tagName !== "LI");
        }
      });
    });
  });
  document.addEventListener("keydown", function (event) {
    if (!stories.length || event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) { return; }
    if (event.key === "j" || event.key === "ArrowRight") { go(1); event.preventDefault(); }
    if (event.key === "k" || event.key === "ArrowLeft") { go(-1); event.preventDefault(); }
  });
  function named() {
    var found = /^#story-(\d+)-step-(\d+)$/.exec(location.hash);
    if (found && stories[found[1] - 1]) { show(found[1] - 1, Number(found[2]), true); }
  }
  window.addEventListener("hashchange", named);
  // Paper has no folds; what was opened for it is folded again afterwards.
  window.addEventListener("beforeprint", function () {
    each(document, "details:not([open]):not(.state)", function (item) { item.open = true; item.classList.add("printed"); });
  });
  window.addEventListener("afterprint", function () {
    each(document, "details.printed", function (item) { item.open = false; item.classList.remove("printed"); });
  });
  named();
}());
