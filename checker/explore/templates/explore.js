(function () {
  "use strict";
  // The address holds the token and the path, so that it can be reloaded and kept as a bookmark.
  var token = location.hash.slice(1).split("/")[0], about = null, shown = null, offered = [], kept = [], told = [];
  var turn = Promise.resolve();
  function by(id) { return document.getElementById(id); }
  var make = drawing.make;
  function empty(item) { while (item.firstChild) { item.removeChild(item.firstChild); } return item; }
  function say(text) { by("said").textContent = text || ""; }
  function ask(name, fields) {
    document.body.setAttribute("aria-busy", "true");
    return fetch("/api/" + name, { method: "POST", headers: { "X-Checker-Token": token, "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields || {}).toString(), credentials: "omit", cache: "no-store" })
      .catch(function () { throw new Error("Nobody answers here any more: checker explore has ended. Start it again, or take the command line of this path below."); })
      .then(function (reply) { return reply.json(); })
      .then(function (data) { if (data.error) { throw new Error(data.error); } return data; })
      .finally(function () { document.body.removeAttribute("aria-busy"); });
  }
  function counted(steps) { return steps + (steps === 1 ? " step" : " steps"); }
  function fail(error) { say(error.message); }
  // Keys and clicks come faster than answers: each waits for those before it, and goes on from where they led.
  function next(move) {
    turn = turn.then(function () { say(""); return move(); }).catch(fail);
    return turn;
  }
  // The path in the address, null where there is none.
  function given() {
    var path = location.hash.slice(1).split("/")[1] || "";
    return /^\d+(\.\d+)*$/.test(path) ? path.split(".").map(Number) : null;
  }
  function visit(path) {
    return ask("here", { path: path.join(".") }).then(function (data) {
      shown = data; told = []; draw();
      var place = "#" + token + "/" + shown.path.join(".");
      // Each path is a place that the browser goes back to; the first one replaces the bare address.
      if (location.hash !== place) { history[given() ? "pushState" : "replaceState"](null, "", place); }
    });
  }
  function go(path) { return next(function () { return visit(path); }); }
  function back() {
    return next(function () { return shown.path.length > about.first.length ? visit(shown.path.slice(0, -1)) : null; });
  }
  // The choice in a place of those that are shown when its turn comes.
  function take(place) {
    return next(function () {
      var choice = offered[place];
      return choice && choice.possible ? visit(shown.path.concat([choice.number])) : null;
    });
  }
  // What the address says; where it leads nowhere, what was shown, or the beginning.
  function follow() {
    var path = given() || about.begin;
    return next(function () {
      return visit(path).catch(function (error) {
        history.replaceState(null, "", "#" + token);
        return visit(shown ? shown.path : about.begin).then(function () { fail(error); });
      });
    });
  }
  function details(list) {
    var box = make("ul", "details");
    list.forEach(function (text) { var line = make("li"); line.appendChild(make("code", "", text)); box.appendChild(line); });
    return box;
  }
  function steps() {
    var box = empty(by("steps")), path = shown.path;
    shown.steps.forEach(function (step, number) {
      var line = make("li"), button = make("button", "go");
      button.type = "button";
      button.appendChild(make("code", "", step.name));
      button.addEventListener("click", function () { go(path.slice(0, number + 1)); });
      line.appendChild(button);
      if (step.fault) { line.appendChild(make("span", "tag fault", step.fault)); }
      if (told[number] !== undefined) { line.appendChild(make("code", "told", told[number])); }
      if (number === shown.steps.length - 1 && number) {
        if (step.about) { line.appendChild(make("p", "dim", step.about)); }
        line.appendChild(details(step.details));
        line.setAttribute("aria-current", "step");
      }
      box.appendChild(line);
    });
  }
  function choices() {
    var box = empty(by("choices")), words = by("filter").value.split(/\s+/).filter(Boolean), path = shown.path;
    offered = shown.choices.filter(function (choice) {
      return words.every(function (word) { return choice.name.indexOf(word) >= 0; });
    });
    offered.forEach(function (choice) {
      var line = make("li"), button = make("button", "take");
      button.type = "button";
      button.disabled = !choice.possible;
      button.appendChild(make("code", "", choice.name));
      button.addEventListener("click", function () { go(path.concat([choice.number])); });
      line.appendChild(button);
      if (choice.actor) { line.appendChild(make("span", "tag", choice.actor)); }
      if (choice.fault) { line.appendChild(make("span", "tag fault", choice.fault)); }
      choice.marks.forEach(function (mark) { line.appendChild(make("span", mark[1] ? "tag bad" : "tag", mark[0])); });
      if (choice.about) { line.appendChild(make("p", "dim", choice.about)); }
      var more = make("details"), head = make("summary", "dim", "what it would change");
      more.appendChild(head);
      more.appendChild(details(choice.details));
      if (choice.source) { more.appendChild(make("p", "dim", choice.source)); }
      line.appendChild(more);
      box.appendChild(line);
    });
    by("count").textContent = counted(offered.length);
    if (!shown.choices.length) { box.appendChild(make("li", "broken", "Nothing can happen here.")); }
  }
  function state() {
    var lit = empty(by("lit")), body = empty(by("places")), words = drawing.words(by("variables").value);
    Object.keys(shown.places).forEach(function (place) {
      var value = shown.places[place], states = about.machines[drawing.plain(place)];
      if (states) {
        lit.appendChild(drawing.chips(place, value, states));
      } else if (words.fits(place)) {
        body.appendChild(drawing.row(place, value, shown.changed.indexOf(place) >= 0));
      }
    });
    var list = empty(by("properties"));
    shown.properties.forEach(function (item) {
      list.appendChild(make("li", item.broken ? "broken" : "dim", item.name + " (" + item.kind + "): " + item.value));
    });
  }
  function branches() {
    var box = empty(by("branches"));
    by("kept").hidden = !kept.length;
    kept.forEach(function (branch) {
      var line = make("li"), button = make("button", "go", branch.name);
      button.type = "button";
      button.addEventListener("click", function () { go(branch.path); });
      line.appendChild(button);
      box.appendChild(line);
    });
  }
  function draw() {
    steps(); choices(); state(); branches();
    by("back").disabled = shown.path.length <= about.first.length;
    by("command").textContent = shown.command;
  }
  // Asks about the state that is shown when its turn comes; nothing else waits for the answer, which
  // is dropped where another state is shown by then.
  function inquire(name, fields, meanwhile, answered) {
    next(function () {
      var asked = shown;
      say(meanwhile);
      fields.path = asked.path.join(".");
      ask(name, fields).then(function (found) { if (shown === asked) { answered(found); } }).catch(fail);
    });
  }
  function seek(from) {
    inquire("seek", { text: by("text").value, from: from }, "searching …", function (found) {
      if (found.path) { go(found.path); } else { say(found.said); }
    });
  }
  by("back").addEventListener("click", back);
  by("restart").addEventListener("click", function () { go(about.first); });
  by("keep").addEventListener("click", function () {
    next(function () {
      var last = shown.steps[shown.steps.length - 1];
      kept.push({ path: shown.path, name: counted(shown.steps.length - 1) + ", last " + (last ? last.name : "none") });
      branches();
    });
  });
  by("filter").addEventListener("input", choices);
  by("variables").addEventListener("input", state);
  by("ask").addEventListener("submit", function (event) {
    event.preventDefault();
    inquire("value", { text: by("text").value }, "", function (found) { told = found.values; steps(); });
  });
  by("seek").addEventListener("click", function () { seek("here"); });
  by("seekstart").addEventListener("click", function () { seek("start"); });
  by("save").addEventListener("click", function () {
    next(function () { return ask("trace", { path: shown.path.join(".") }); }).then(function (found) {
      if (!found) { return; }
      var link = make("a");
      link.href = URL.createObjectURL(new Blob([found.trace], { type: "application/json" }));
      link.download = "path.itf.json";
      link.click();
    });
  });
  by("load").addEventListener("change", function (event) {
    var file = event.target.files[0];
    if (!file) { return; }
    event.target.value = "";  // so that the same file can be chosen again
    file.text().then(function (text) { return ask("load", { text: text }); })
      .then(function (found) { return go(found.path); }).catch(fail);
  });
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName) || !shown) { return; }
    if (event.key === "Backspace" || event.key === "k") { back(); event.preventDefault(); }
    if (/^[1-9]$/.test(event.key)) { take(event.key - 1); }
  });
  ask("about").then(function (data) {
    about = data;
    by("name").textContent = data.name + ", instance " + data.instance;
    document.title = data.name + ": explore";
    by("about").textContent = data.about;
    window.addEventListener("popstate", follow);
    return follow();
  }).catch(fail);
}());
