// Scales, ticks and the frame that the pictures share.

import { draw } from "./dom.js";
import { number, whole } from "./words.js";

// Arithmetic on larger numbers overflows.
const LARGEST = 1e300;

export function clamped(value) {
  return Math.min(Math.max(value, -LARGEST), LARGEST);
}

// A function from [low, high] to [from, to].
export function linear(low, high, from, to) {
  const width = high - low || 1;
  return (value) => from + ((clamped(value) - low) / width) * (to - from);
}

// About `count` round numbers within [low, high].
export function ticks(low, high, count, wholeOnly = false) {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? 10 * power;
  if (wholeOnly) step = Math.max(1, Math.round(step));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const found = [];
  for (let at = first; at <= last && found.length < 50; ++at) found.push(at * step + 0); // + 0: no "-0"
  return found;
}

// The numbers with as many digits as it takes to tell them apart.
function told(values) {
  for (let digits = 3; digits < 9; ++digits) {
    const made = values.map((value) => (digits === 3 ? number(value) : String(Number(value.toPrecision(digits)))));
    if (new Set(made).size === made.length) return made;
  }
  return values.map(number);
}

export class Frame {
  // `says` is for readers that cannot see the picture.
  constructor(title, says, width, height) {
    this.width = width;
    this.height = height;
    this.left = 56;
    this.right = width - 14;
    this.top = 46;
    this.bottom = height - 44;
    this.svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": says });
    this.add("text", { x: 4, y: 18, class: "title" }, title);
  }

  add(tag, attributes, ...children) {
    const element = draw(tag, attributes, ...children);
    this.svg.append(element);
    return element;
  }

  nothing(why) {
    this.add("text", { x: this.width / 2, y: this.height / 2, "text-anchor": "middle" }, why);
    return this.svg;
  }

  xLabel(text) {
    this.add("text", { x: (this.left + this.right) / 2, y: this.height - 6, "text-anchor": "middle" }, text);
  }

  yLabel(text) {
    const x = 13, y = (this.top + this.bottom) / 2;
    this.add("text", { x, y, "text-anchor": "middle", transform: `rotate(-90 ${x} ${y})` }, text);
  }

  // Grid lines and numbers at the left, for values from `low` to `high`.
  yAxis(scale, low, high, wholeOnly = false) {
    const values = ticks(low, high, 5, wholeOnly), words = told(values);
    for (const [i, value] of values.entries()) {
      const y = scale(value);
      this.add("line", { x1: this.left, x2: this.right, y1: y, y2: y, stroke: "var(--grid)" });
      this.add("text", { x: this.left - 7, y: y + 4, "text-anchor": "end" }, words[i]);
    }
    this.add("line", { x1: this.left, x2: this.left, y1: this.top, y2: this.bottom, stroke: "var(--dots)" });
  }

  xAxis(scale, low, high) {
    for (const value of ticks(low, high, 7, true)) {
      const x = scale(value);
      this.add("line", { x1: x, x2: x, y1: this.bottom, y2: this.bottom + 4, stroke: "var(--dots)" });
      const words = whole(value), room = this.width - x > 3.2 * words.length;
      this.add("text", { x, y: this.bottom + 18, "text-anchor": room ? "middle" : "end" }, words);
    }
    this.add("line", { x1: this.left, x2: this.right, y1: this.bottom, y2: this.bottom, stroke: "var(--dots)" });
  }

  // At the right of the title's line, the last one outermost: [words, colour, sign] with the sign "line" or a letter.
  legend(entries) {
    let x = this.right;
    for (const [words, colour, sign] of [...entries].reverse()) {
      this.add("text", { x, y: 18, "text-anchor": "end" }, words);
      x -= words.length * 6.8 + 8;  // letters are at most that wide on average, so signs do not touch them
      if (sign === "line") {
        this.add("line", { x1: x - 16, x2: x, y1: 14, y2: 14, stroke: colour, "stroke-width": 2 });
      } else {
        this.add("path", { d: marker(sign, x - 6, 14), fill: sign === "tick" ? "none" : colour, stroke: colour });
      }
      x -= 30;
    }
  }
}

export function marker(sign, x, y) {
  if (sign === "diamond") return `M${x - 5} ${y}L${x} ${y - 5}L${x + 5} ${y}L${x} ${y + 5}Z`;
  if (sign === "tick") return `M${x} ${y - 5}V${y + 5}`;
  if (sign === "cross") return `M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x - 4} ${y + 4}L${x + 4} ${y - 4}`;
  return `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0`;
}
