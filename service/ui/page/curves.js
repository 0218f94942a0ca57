// The pictures over time: the best so far over evaluated programs, and the lineage of the best.

import { clamped, Frame, linear, marker } from "./scale.js";
import { counted, measuredText } from "./words.js";

// This share of the worst programs may lie outside: a very bad one would flatten all others.
const LEFT_OUT = 0.05;
// With more steps than this there is no room for the programs' numbers.
const NUMBERED_STEPS = 12;

const fitnessLabel = (unit) => (unit ? `fitness (${unit})` : "fitness");

// `best` is the summary's: if it was measured again with another result, a diamond shows that.
export function bestSoFar({ evaluated, unit, steps, accepted, rejected }, best, width) {
  const frame = new Frame("Best so far", "Best fitness so far over evaluated programs", width, 340);
  if (steps.length === 0) {
    return frame.nothing(evaluated === 0 ? "nothing was evaluated yet"
      : `none of ${counted(evaluated, "program")} was accepted`);
  }
  const again = measuredAgain(steps.at(-1), best);
  const lows = steps.map((step) => clamped(step.low)), highs = steps.map((step) => clamped(step.high));
  if (again) [lows, highs].forEach((list, at) => list.push(clamped(at ? again.high : again.low)));
  const sorted = accepted.map(([, fitness]) => clamped(fitness)).sort((a, b) => a - b);
  const lowest = Math.min(sorted[Math.floor(LEFT_OUT * sorted.length)], ...lows), highest = Math.max(...highs);
  const room = (highest - lowest) * 0.06 || Math.abs(highest) * 0.1 || 1;
  const low = lowest - 1.6 * room, high = highest + room, last = Math.max(evaluated, 2) + 0.5;
  const x = linear(0.5, last, frame.left, frame.right), y = linear(low, high, frame.bottom, frame.top);
  frame.yAxis(y, low, high);
  frame.xAxis(x, 1, last);
  frame.xLabel("evaluated programs");
  frame.yLabel(fitnessLabel(unit));
  frame.legend([
    ["accepted", "var(--dots)", "dot"],
    ...(rejected.length ? [["rejected", "var(--bad)", "tick"]] : []),
    ["best so far", "var(--accent)", "line"],
    ...(again ? [["measured again", "var(--again)", "diamond"]] : []),
  ]);
  for (const at of rejected) {
    frame.add("path", { d: marker("tick", x(at), frame.bottom - 6), stroke: "var(--bad)", "stroke-opacity": 0.6 });
  }
  for (const [at, fitness, program] of accepted) {
    if (clamped(fitness) < low) continue;
    frame.add("circle", { cx: x(at), cy: y(fitness), r: 2.6, fill: "var(--dots)", "fill-opacity": 0.55,
      "data-program": program, "data-says": `program ${program}` });
  }
  const path = (values) => stairs(steps.map((step) => x(step.at)), values.map(y), x(evaluated));
  const band = stairs([...steps.map((step) => x(step.at))], steps.map((step) => y(step.low)), x(evaluated));
  frame.add("path", { d: `M${path(steps.map((step) => step.high)).join("L")}L${band.reverse().join("L")}Z`,
    fill: "var(--accent)", "fill-opacity": 0.18 });
  frame.add("path", { d: "M" + path(steps.map((step) => step.fitness)).join("L"), fill: "none",
    stroke: "var(--accent)", "stroke-width": 2 });
  for (const step of steps) {
    frame.add("circle", { cx: x(step.at), cy: y(step.fitness), r: 3.6, fill: "var(--accent)",
      "data-program": step.program, "data-says": `program ${step.program}, the best from here on` });
  }
  if (again) interval(frame, x(evaluated), y, again, "var(--again)", marker("diamond", x(evaluated), y(again.median)));
  return frame.svg;
}

// Corners of a line that keeps each value until the next one.
function stairs(xs, ys, end) {
  return xs.flatMap((x, at) => [`${x} ${ys[at]}`, `${xs[at + 1] ?? end} ${ys[at]}`]);
}

function measuredAgain(step, best) {
  const again = best?.confirmed ? best.evaluation.measurement : null;
  const same = again && again.median === step.fitness && again.low === step.low && again.high === step.high;
  return same ? null : again;
}

function interval(frame, x, y, { low, high }, colour, shape, more = {}) {
  frame.add("path", { d: `M${x} ${y(low)}V${y(high)}M${x - 3} ${y(low)}h6M${x - 3} ${y(high)}h6`, stroke: colour,
    "stroke-width": 1.4 });
  frame.add("path", { d: shape, fill: colour, ...more });
}

// Fitness with its interval by step; the colour says what made the program.
export function lineage(steps, unit, width) {
  const frame = new Frame("Lineage of the best", "Fitness along the lineage of the best", width, 340);
  if (steps.length === 0) return frame.nothing("nothing was accepted yet");
  const known = steps.filter((step) => step.measurement);
  const lowest = Math.min(...known.map((step) => clamped(step.measurement.low)));
  const highest = Math.max(...known.map((step) => clamped(step.measurement.high)));
  const room = (highest - lowest) * 0.18 || Math.abs(highest) * 0.1 || 1;
  const first = steps[0].step, last = steps.at(-1).step, side = Math.max((last - first) * 0.08, 0.5);
  const x = linear(first - side, last + side, frame.left, frame.right);
  const y = linear(lowest - room, highest + room, frame.bottom, frame.top);
  frame.yAxis(y, lowest - room, highest + room);
  frame.xAxis(x, first, last);
  frame.xLabel("step");
  frame.yLabel(fitnessLabel(unit));
  const broken = steps.filter((step) => !step.measurement);
  const origins = [...new Set(known.map((step) => step.origin))];
  frame.legend([
    ...origins.slice(0, 4).map((origin) => [origin, `var(--${origin})`, "dot"]),
    ...(broken.length ? [["rejected", "var(--bad)", "cross"]] : []),
  ]);
  frame.add("path", { d: "M" + known.map((one) => `${x(one.step)} ${y(one.measurement.median)}`).join("L"), fill: "none",
    stroke: "var(--dots)" });
  const few = steps.length <= NUMBERED_STEPS;
  for (const step of known) {
    const at = x(step.step), { median, high } = step.measurement, size = few ? 5 : 3.4;
    const says = `step ${step.step}: program ${step.program} (${step.origin}), fitness ${measuredText(step.measurement)}`;
    interval(frame, at, y, step.measurement, `var(--${step.origin})`,
      `M${at - size} ${y(median)}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0`,
      { "data-program": step.program, "data-says": says });
    if (few) {
      frame.add("text", { x: at, y: y(high) - 9, "text-anchor": "middle", class: "value" }, `#${step.program}`);
    }
  }
  for (const step of broken) {
    frame.add("path", { d: marker("cross", x(step.step), frame.bottom - 10), stroke: "var(--bad)", "stroke-width": 2,
      "data-program": step.program, "data-says": `program ${step.program}, rejected: ${step.code}` });
  }
  return frame.svg;
}
