// The page's elements. Texts of candidates and models are foreign: they become text nodes, and nothing here ever parses
// HTML.

import { codePoint, counted, isOdd, whole } from "./words.js";

// Longer texts are cut: nobody scrolls further, and the run has all of it.
const LINES = 1500;
const CHARACTERS_OF_A_LINE = 500;

const SVG = "http://www.w3.org/2000/svg";

// make("p.note", "text", element, ...): children that are null or empty are left out.
export function make(kind, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  put(element, children);
  return element;
}

export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  put(element, children, true);
  return element;
}

function put(element, children, plain = false) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === "") continue;
    if (child instanceof Node) element.append(child);
    else if (plain) element.append(visible(String(child)));
    else element.append(...foreign(String(child)));
  }
}

// The text, with code points in place of characters that would hide or turn others.
function foreign(text) {
  const parts = [];
  let run = "";
  for (const one of text) {
    if (!isOdd(one)) {
      run += one;
      continue;
    }
    if (run) parts.push(document.createTextNode(run));
    run = "";
    const odd = document.createElement("span");
    odd.className = "odd";
    odd.textContent = codePoint(one);
    parts.push(odd);
  }
  if (run) parts.push(document.createTextNode(run));
  return parts;
}

function visible(text) {
  return [...text].map((one) => (isOdd(one) ? codePoint(one) : one)).join("");
}

export function section(title, ...parts) {
  return make("section", make("h2", title), ...parts);
}

export function note(words) {
  return make("p.note", words);
}

export function card(label, value, ...notes) {
  const lines = notes.filter(Boolean).map((one) => (one instanceof Node ? one : make("p", one)));
  return make("div.card", make("h3", label), make("p.value", value), ...lines);
}

// How much of a limit is used; nothing if there is none.
export function bar({ used, limit }) {
  if (limit === null) return null;
  const element = document.createElement("progress");
  element.max = limit;
  element.value = Math.min(used, limit);
  return element;
}

// A button that opens a program.
export function programLink(id) {
  if (id === null) return make("span", "–");
  const button = make("button.link", `program ${id}`);
  button.type = "button";
  button.dataset.program = id;
  return button;
}

// Whole numbers are aligned to the right. A cell that is an element keeps its own width; one in an array takes the room
// that is left.
export function table(head, rows) {
  const numbers = head.map((_, at) => rows.some((row) => typeof row[at] === "number"));
  const titles = head.map((title, at) => make(numbers[at] ? "th.number" : "th", title));
  const cell = (value) => {
    if (Array.isArray(value)) return make("td.listing", ...value);
    if (value instanceof Node) return make("td.short", value);
    return typeof value === "number" ? make("td.number", whole(value)) : make("td", value);
  };
  const lines = rows.map((row) => make("tr", ...row.map(cell)));
  return make("div.wide", make("table", make("thead", make("tr", ...titles)), make("tbody", ...lines)));
}

// Names with their values, one pair a row.
export function pairs(rows) {
  const lines = rows.map(([name, value]) => make("tr", make("th", name), make("td", value)));
  return make("div.wide", make("table", make("tbody", ...lines)));
}

export function folded(summary, ...parts) {
  return make("details", make("summary", summary), ...parts);
}

export function listing(text) {
  return code(linesOf(text).map((line) => ["plain", line]));
}

// A unified diff, with colours for what was added and removed.
export function diff(text) {
  return code(kinds(linesOf(text)));
}

function linesOf(text) {
  return text.replace(/\n$/, "").split("\n");
}

// A removed line "-- x" is not a file's name: the lengths in a hunk's head tell which lines are inside of it.
function kinds(lines) {
  let before = 0, after = 0;
  return lines.map((line) => {
    const head = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (before <= 0 && after <= 0) {
      if (head) [before, after] = [Number(head[1] ?? 1), Number(head[2] ?? 1)];
      return ["at", line];
    }
    if (line.startsWith("\\")) return ["at", line];
    if (!line.startsWith("+")) before -= 1;
    if (!line.startsWith("-")) after -= 1;
    return [{ "+": "added", "-": "removed" }[line[0]] ?? "plain", line];
  });
}

function code(lines) {
  const shown = lines.slice(0, LINES).map(([kind, line]) => {
    const more = line.length - CHARACTERS_OF_A_LINE;
    const rest = more > 0 ? make("span.odd", `… ${counted(more, "more character")}`) : "";
    return make(`span.${kind}`, line.slice(0, CHARACTERS_OF_A_LINE), rest, "\n");
  });
  if (lines.length > LINES) shown.push(make("span.at", `… ${counted(lines.length - LINES, "more line")}`));
  return make("pre.code", ...shown);
}
