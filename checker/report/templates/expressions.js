// Expressions of the language over the states of a run, evaluated where the page is read.
// What a value is: a number, true, false, null (none), a string (an id or a name), or an object with
// `items` (set, sequence, bag), `entries` (map) or `fields` (record). Two are equal if they are
// written alike. A word of the language that needs more than a state is an error that says so.
var expressions = (function () {
  "use strict";
  var LEVELS = [["|"], ["^"], ["&"], ["+", "-"], ["*", "//", "%"]];
  var COMPARE = ["==", "!=", "<=", ">=", "<", ">"];
  var WORDS = ["and", "or", "not", "in", "if", "else", "for"];
  var ELSEWHERE = "checker trace FILE --eval '...' knows the whole language";

  function wrong(text) { throw new Error(text); }

  // ------------------------------------------------------------------------------- reading
  function tokens(text) {
    var pattern = /\s*(?:(\d+)|([A-Za-z_]\w*)|(==|!=|<=|>=|\/\/|[-+*%<>|&^()[\]{},.:=]))/y, found = [];
    text = text.trim();
    while (pattern.lastIndex < text.length) {
      var at = pattern.lastIndex, match = pattern.exec(text);
      if (!match) { wrong("'" + text.slice(at).trim()[0] + "' is not of the language"); }
      if (match[1] !== undefined) { found.push({ number: Number(match[1]) }); }
      else if (match[2] !== undefined) { found.push(WORDS.indexOf(match[2]) < 0 ? { name: match[2] } : { mark: match[2] }); }
      else { found.push({ mark: match[3] }); }
    }
    return found;
  }

  function read(text) {
    var rest = tokens(text), depth = 0;
    function is(mark) { return rest.length > 0 && rest[0].mark === mark; }
    function take(mark) { if (is(mark)) { rest.shift(); return true; } return false; }
    function need(mark) { if (!take(mark)) { wrong("expected '" + mark + "'" + (rest.length ? " before '" + said(rest[0]) + "'" : " at the end")); } }
    function said(token) { return String(token.mark || token.name || token.number); }

    function whole() {
      depth += 1;
      if (depth > 60) { wrong("nested too deep"); }
      var then = either(), found = then;
      if (take("if")) {
        var condition = either();
        need("else");
        found = { kind: "if", condition: condition, then: then, otherwise: whole() };
      }
      depth -= 1;
      return found;
    }
    function either() { return joined("or", both); }
    function both() { return joined("and", negated); }
    function joined(word, inner) {
      var parts = [inner()];
      while (take(word)) { parts.push(inner()); }
      return parts.length > 1 ? { kind: word, parts: parts } : parts[0];
    }
    function negated() { return take("not") ? { kind: "not", of: negated() } : compared(); }
    function compared() {
      var first = level(0), links = [];
      for (;;) {
        var mark = rest.length && COMPARE.indexOf(rest[0].mark) >= 0 ? rest.shift().mark : null;
        if (!mark && take("in")) { mark = "in"; }
        if (!mark && is("not") && rest.length > 1 && rest[1].mark === "in") { rest.splice(0, 2); mark = "not in"; }
        if (!mark) { break; }
        links.push({ mark: mark, right: level(0) });
      }
      return links.length ? { kind: "compare", first: first, links: links } : first;
    }
    function level(number) {
      if (number === LEVELS.length) { return signed(); }
      var left = level(number + 1);
      while (rest.length && LEVELS[number].indexOf(rest[0].mark) >= 0) {
        left = { kind: "binary", mark: rest.shift().mark, left: left, right: level(number + 1) };
      }
      return left;
    }
    function signed() { return take("-") ? { kind: "minus", of: signed() } : trailed(); }
    function trailed() {
      var found = atom();
      for (;;) {
        if (take(".")) { found = { kind: "attribute", of: found, name: named() }; }
        else if (take("[")) { found = { kind: "index", of: found, at: whole() }; need("]"); }
        else if (found.kind === "name" && take("(")) { found = call(found.name); }
        else { return found; }
      }
    }
    function named() { var token = rest.shift(); return token && token.name || wrong("expected a name"); }
    function call(name) {
      var parts = [], fields = [];
      while (!is(")")) {
        if (rest.length > 1 && rest[0].name && rest[1].mark === "=") {
          var field = named();
          need("=");
          fields.push([field, whole()]);
        } else {
          var part = whole();
          parts.push(is("for") ? { kind: "each", of: part, generators: generators() } : part);
        }
        if (!take(",")) { break; }
      }
      need(")");
      return { kind: "call", name: name, parts: parts, fields: fields };
    }
    function generators() {
      var found = [];
      while (take("for")) {
        var name = named();
        need("in");
        var one = { name: name, domain: either(), conditions: [] };
        while (take("if")) { one.conditions.push(either()); }
        found.push(one);
      }
      return found;
    }
    function atom() {
      if (take("(")) {
        var inner = whole();
        if (is("for")) { inner = { kind: "each", of: inner, generators: generators() }; }
        need(")");
        return inner;
      }
      if (take("[")) { return { kind: "items", parts: listed("]") }; }
      if (take("{")) { return braces(); }
      var token = rest.shift() || wrong("the expression ends too early");
      if (token.number !== undefined) { return { kind: "value", value: token.number }; }
      return token.name ? { kind: "name", name: token.name } : wrong("'" + token.mark + "' stands where a value should");
    }
    function listed(end) {
      var parts = [];
      while (!is(end)) { parts.push(whole()); if (!take(",")) { break; } }
      need(end);
      return parts;
    }
    function braces() {
      if (take("}")) { return { kind: "name", name: "empty" }; }
      var first = whole();
      if (take(":")) {
        var pairs = [[first, whole()]];
        while (take(",") && !is("}")) { var key = whole(); need(":"); pairs.push([key, whole()]); }
        need("}");
        return { kind: "pairs", pairs: pairs };
      }
      if (is("for")) {
        var made = { kind: "each", of: first, generators: generators() };
        need("}");
        return { kind: "set", of: made };
      }
      var parts = take(",") ? listed("}") : (need("}"), []);
      return { kind: "set", of: { kind: "items", parts: [first].concat(parts) } };
    }
    var found = whole();
    if (rest.length) { wrong("'" + said(rest[0]) + "' is one too many"); }
    return found;
  }

  // -------------------------------------------------------------------------------- values
  function written(value) {
    if (value === null) { return "none"; }
    if (typeof value !== "object") { return String(value); }
    if (value.record) { return value.record + "(" + value.fields.map(function (pair) { return pair[0] + "=" + written(pair[1]); }).join(", ") + ")"; }
    if (value.entries) { return "{" + value.entries.map(function (pair) { return written(pair[0]) + ": " + written(pair[1]); }).sort(natural).join(", ") + "}"; }
    var parts = value.items.map(written);
    return value.set ? "{" + parts.sort(natural).join(", ") + "}" : "[" + parts.join(", ") + "]";
  }
  function natural(one, other) { return one.localeCompare(other, "en", { numeric: true }); }
  function members(value) {
    if (value && value.items) { return value.items; }
    if (value && value.entries) { return value.entries.map(function (pair) { return pair[0]; }); }
    return wrong(written(value) + " holds nothing that could be run through");
  }
  function setOf(items) {
    var seen = {};
    return { set: true, items: items.filter(function (item) { var text = written(item); var fresh = !seen["=" + text]; seen["=" + text] = true; return fresh; }) };
  }
  function equal(one, other) {
    function nothing(value) { return value && (value.items || value.entries || [0]).length === 0; }
    return written(one) === written(other) || Boolean(nothing(one) && nothing(other));
  }
  function has(value, item) { return members(value).some(function (one) { return equal(one, item); }); }
  function truth(value) { return typeof value === "boolean" ? value : wrong(written(value) + " is neither true nor false"); }
  function integer(value) { return typeof value === "number" ? value : wrong(written(value) + " is no number"); }

  var BINARY = {
    "+": function (a, b) { return a && a.items && !a.set ? { items: a.items.concat(members(b)) } : integer(a) + integer(b); },
    "-": function (a, b) { return a && a.set ? setOf(a.items.filter(function (item) { return !has(b, item); })) : integer(a) - integer(b); },
    "*": function (a, b) { return integer(a) * integer(b); },
    "//": function (a, b) { return integer(b) ? Math.floor(integer(a) / b) : wrong("division by 0"); },
    "%": function (a, b) { return integer(b) ? ((integer(a) % b) + b) % b : wrong("division by 0"); },
    "|": function (a, b) { return setOf(members(a).concat(members(b))); },
    "&": function (a, b) { return setOf(members(a).filter(function (item) { return has(b, item); })); },
    "^": function (a, b) { return setOf(members(a).filter(function (item) { return !has(b, item); }).concat(members(b).filter(function (item) { return !has(a, item); }))); }
  };
  function ordered(mark, a, b) {
    if (a && a.set && b && b.set) {
      var below = a.items.every(function (item) { return has(b, item); }), above = b.items.every(function (item) { return has(a, item); });
      return mark === "<=" ? below : mark === ">=" ? above : mark === "<" ? below && !above : above && !below;
    }
    a = integer(a); b = integer(b);
    return mark === "<" ? a < b : mark === "<=" ? a <= b : mark === ">" ? a > b : a >= b;
  }
  function related(mark, a, b) {
    if (mark === "==" || mark === "!=") { return equal(a, b) === (mark === "=="); }
    if (mark === "in" || mark === "not in") { return has(b, a) === (mark === "in"); }
    return ordered(mark, a, b);
  }

  // ---------------------------------------------------------------------------- evaluation
  // `world`: the text of each place, constants as text, the members of each type, all known words.
  // A part of a place's name, such as client[c1], is a `path` until the rest of the name is read.
  var ALONE = { places: {}, constants: {}, domains: {}, words: null };
  function own(object, key) { return Object.prototype.hasOwnProperty.call(object, key); }
  function meant(text) { return evaluate(read(text), ALONE, {}); }
  function settled(found, world) {
    if (!found || found.path === undefined) { return found; }
    return own(world.places, found.path) ? meant(world.places[found.path]) : wrong(found.path + " is no value yet: give the rest of its name");
  }
  function evaluate(tree, world, names) {
    function of(part, inner) { return settled(evaluate(part, world, inner || names), world); }
    function begins(path) {
      return Object.keys(world.places).some(function (place) {
        return place === path || (place.slice(0, path.length) === path && "[.".indexOf(place[path.length]) >= 0);
      });
    }
    function each(part, todo, inner) {
      function from(number, scope) {
        if (number === part.generators.length) { return todo(scope); }
        var one = part.generators[number], items = members(of(one.domain, scope));
        for (var place = 0; place < items.length; place += 1) {
          var next = Object.assign({}, scope);
          next[one.name] = items[place];
          if (one.conditions.every(function (condition) { return truth(of(condition, next)); }) && from(number + 1, next) === false) { return false; }
        }
        return true;
      }
      return from(0, inner);
    }
    function all(part) {
      if (!part || part.kind !== "each") { return members(of(part)); }
      var found = [];
      each(part, function (scope) { found.push(of(part.of, scope)); }, names);
      return found;
    }
    function name(word) {
      if (own(names, word)) { return names[word]; }
      if (word === "true" || word === "True") { return true; }
      if (word === "false" || word === "False") { return false; }
      if (word === "none") { return null; }
      if (word === "empty") { return { set: true, items: [] }; }
      if (begins(word)) { return { path: word }; }
      if (own(world.domains, word)) { return setOf(world.domains[word]); }
      if (own(world.constants, word)) { return meant(world.constants[word]); }
      if (world.words === null || world.words.indexOf(word) >= 0) { return word; }
      return wrong(word + " is not known here; " + ELSEWHERE);
    }
    function least(part, sign) {
      var items = part.parts.length > 1 ? part.parts.map(function (item) { return of(item); }) : all(part.parts[0]);
      var defaults = part.fields.filter(function (pair) { return pair[0] === "default"; });
      if (!items.length) { return defaults.length ? of(defaults[0][1]) : wrong("the least or most of nothing"); }
      return items.map(integer).reduce(function (a, b) { return sign * a <= sign * b ? a : b; });
    }
    function called(part) {
      var first = part.parts[0];
      if (!part.parts.length && (world.words === null || world.words.indexOf(part.name) >= 0)) {
        return { record: part.name, fields: part.fields.map(function (pair) { return [pair[0], of(pair[1])]; }) };
      }
      if (part.name === "len") { return all(first).length; }
      if (part.name === "abs") { return Math.abs(integer(of(first))); }
      if (part.name === "min") { return least(part, 1); }
      if (part.name === "max") { return least(part, -1); }
      if (part.name === "sum") { return all(first).map(integer).reduce(function (a, b) { return a + b; }, 0); }
      if (part.name === "implies") { return !truth(of(first)) || truth(of(part.parts[1])); }
      if ((part.name === "all" || part.name === "any") && first && first.kind === "each") {
        var wanted = part.name === "any", found = !wanted;
        each(first, function (scope) { if (truth(of(first.of, scope)) === wanted) { found = wanted; return false; } return true; }, names);
        return found;
      }
      return wrong(part.name + "(...) is not known here; " + ELSEWHERE);
    }
    switch (tree.kind) {
      case "value": return tree.value;
      case "name": return name(tree.name);
      case "items": return { items: tree.parts.map(function (part) { return of(part); }) };
      case "set": return setOf(all(tree.of));
      case "pairs": return { entries: tree.pairs.map(function (pair) { return [of(pair[0]), of(pair[1])]; }) };
      case "if": return truth(of(tree.condition)) ? of(tree.then) : of(tree.otherwise);
      case "and": return tree.parts.every(function (part) { return truth(of(part)); });
      case "or": return tree.parts.some(function (part) { return truth(of(part)); });
      case "not": return !truth(of(tree.of));
      case "minus": return -integer(of(tree.of));
      case "binary": return BINARY[tree.mark](of(tree.left), of(tree.right));
      case "call": return called(tree);
      case "compare":
        var left = of(tree.first);
        return tree.links.every(function (link) { var right = of(link.right), holds = related(link.mark, left, right); left = right; return holds; });
      case "attribute":
        var held = evaluate(tree.of, world, names);
        if (held && held.path !== undefined && begins(held.path + "." + tree.name)) { return { path: held.path + "." + tree.name }; }
        held = settled(held, world);
        var field = held && held.fields && held.fields.filter(function (pair) { return pair[0] === tree.name; })[0];
        return field ? field[1] : wrong(written(held) + " has no " + tree.name);
      case "index":
        var outer = evaluate(tree.of, world, names), at = of(tree.at);
        if (outer && outer.path !== undefined && begins(outer.path + "[" + written(at) + "]")) { return { path: outer.path + "[" + written(at) + "]" }; }
        outer = settled(outer, world);
        if (outer && outer.entries) {
          var entry = outer.entries.filter(function (pair) { return equal(pair[0], at); })[0];
          return entry ? entry[1] : wrong("nothing at " + written(at));
        }
        return outer && outer.items && !outer.set && outer.items[integer(at)] !== undefined ? outer.items[at] : wrong("nothing at " + written(at));
      default: return wrong("a comprehension stands in braces or in a function");
    }
  }

  // The value of an expression in a state as { text, ok }; what cannot be said is not ok.
  function ask(text, world) {
    try {
      return { text: written(settled(evaluate(read(text), world, {}), world)), ok: true };
    } catch (error) {
      return { text: error.message, ok: false };
    }
  }
  return { ask: ask };
}());
if (typeof module !== "undefined") { module.exports = expressions; }
