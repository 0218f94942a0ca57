// The archive as a heat map over its first two axes; each cell shows the best over all further ones.

import { draw } from "./dom.js";
import { clamped, Frame, linear } from "./scale.js";
import { number, rounded, shortened, whole } from "./words.js";

// With more cells than this in a row there is no room for their numbers, or for lines between them.
const NUMBERED_CELLS = 10;
const LINED_CELLS = 40;
// More labels than this along an axis overlap.
const LABELS = 10;
const LABEL_CHARACTERS = 16;

const FRAME = "#e11d48"; // visible on all colours of the map

// The colours of matplotlib's viridis at equal distances.
const VIRIDIS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"]
  .map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));

function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1), below = Math.min(Math.floor(at), VIRIDIS.length - 2);
  return VIRIDIS[below].map((value, i) => Math.round(value + (VIRIDIS[below + 1][i] - value) * (at - below)));
}

const isDark = ([red, green, blue]) => 0.3 * red + 0.59 * green + 0.11 * blue < 128;

// `best` is the number of the run's best program, which a frame marks.
export function archiveMap(archive, best, width) {
  const says = "Archive as a heat map";
  if (!archive) {
    return new Frame("Archive", says, width, 340)
      .nothing("its axes read what only the program that began the run computes");
  }
  const { axes, elites: shown } = archive;
  if (shown.length === 0) return new Frame("Archive", says, width, 340).nothing("no cell is filled yet");
  if (axes.length === 0) {
    return new Frame("Archive", says, width, 340).nothing(`one cell, for the best: ${number(shown[0].fitness)}`);
  }
  const hidden = axes.slice(2).map((axis) => shortened(axis.feature, 16));
  const title = `Archive: ${whole(archive.filled)} of ${whole(archive.cells)} cells`
    + (hidden.length ? `, best over ${hidden.join(", ")}` : "");
  const frame = new Frame(title, says, width, 340);
  const values = shown.map((cell) => clamped(cell.fitness));
  const low = Math.min(...values), high = Math.max(...values);
  frame.top = 32;
  frame.right -= low < high ? 62 : 0;
  frame.left = axes.length > 1 ? 28 + labelRoom(axes[1]) : 20;
  const columns = axes[0].bins.length, rows = axes[1]?.bins.length ?? 1;
  const x = linear(0, columns, frame.left, frame.right), y = linear(0, rows, frame.bottom, frame.top);
  const shareOf = linear(low, high, low < high ? 0 : 0.5, low < high ? 1 : 0.5);
  const numbered = Math.max(columns, rows) <= NUMBERED_CELLS;
  lines(frame, columns, rows, x, y);
  for (const cell of shown) {
    const [column, row = 0] = cell.at, rgb = colour(shareOf(cell.fitness));
    const where = { x: x(column), y: y(row + 1), width: x(column + 1) - x(column), height: y(row) - y(row + 1) };
    frame.add("rect", { ...where, fill: `rgb(${rgb.join(",")})`, "shape-rendering": "crispEdges",
      "data-program": cell.program, "data-says": saysOf(cell, axes), tabindex: shown.length <= 400 ? 0 : undefined });
    if (numbered) {
      const middle = { x: where.x + where.width / 2, y: where.y + where.height / 2 + 4 };
      frame.add("text", { ...middle, "text-anchor": "middle", "pointer-events": "none",
        class: `value on-${isDark(rgb) ? "dark" : "light"}` }, number(cell.fitness));
    }
    if (cell.program === best) frame.best = where;
  }
  if (frame.best) {
    frame.add("rect", { ...frame.best, fill: "none", stroke: FRAME, "stroke-width": 2.5, "pointer-events": "none" });
  }
  labels(frame, axes[0], axes[1], x, y);
  if (low < high) colourBar(frame, low, high);
  return frame.svg;
}

function saysOf(cell, axes) {
  const bins = cell.at.map((bin, at) => `${shortened(axes[at].feature, 24)} ${binText(axes[at], bin)}`);
  return `program ${cell.program} (${cell.origin}), fitness ${number(cell.fitness)}; ${bins.join(", ")}`;
}

function binText(axis, bin) {
  return shortened(rounded(axis.bins[bin] || `bin ${bin}`), 24);
}

// Lines between cells, so that empty ones are visible.
function lines(frame, columns, rows, x, y) {
  const outline = `M${x(0)} ${y(0)}H${x(columns)}V${y(rows)}H${x(0)}Z`;
  let path = "";
  if (Math.max(columns, rows) <= LINED_CELLS) {
    for (let at = 1; at < columns; ++at) path += `M${x(at)} ${y(0)}V${y(rows)}`;
    for (let at = 1; at < rows; ++at) path += `M${x(0)} ${y(at)}H${x(columns)}`;
  }
  frame.add("path", { d: outline + path, fill: "none", stroke: "var(--grid)" });
}

function shownLabels(axis) {
  const step = Math.ceil(axis.bins.length / LABELS), found = [];
  for (let bin = 0; bin < axis.bins.length; bin += step) {
    found.push([bin, shortened(rounded(axis.bins[bin] || String(bin)), LABEL_CHARACTERS)]);
  }
  return found;
}

function labelRoom(axis) {
  return Math.max(...shownLabels(axis).map(([, text]) => text.length)) * 6.4 + 6;
}

function labels(frame, across, up, x, y) {
  const shown = shownLabels(across);
  const room = (x(across.bins.length) - x(0)) / shown.length;
  const turned = shown.some(([, text]) => text.length * 6.4 > room);
  if (turned) frame.svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height + 40}`);
  for (const [bin, text] of shown) {
    const at = x(bin + 0.5), below = frame.bottom + (turned ? 12 : 18);
    frame.add("text", { x: at, y: below, "text-anchor": turned ? "end" : "middle",
      transform: turned ? `rotate(-35 ${at} ${below})` : undefined }, text);
  }
  frame.add("text", { x: (frame.left + frame.right) / 2, y: frame.height + (turned ? 34 : -6), "text-anchor": "middle" },
    shortened(across.feature, 48));
  if (!up) return;
  for (const [bin, text] of shownLabels(up)) {
    frame.add("text", { x: frame.left - 6, y: y(bin + 0.5) + 4, "text-anchor": "end" }, text);
  }
  frame.yLabel(shortened(up.feature, 40));
}

function colourBar(frame, low, high) {
  const x = frame.right + 12, stops = [];
  for (let at = 0; at <= 10; ++at) {
    stops.push(draw("stop", { offset: at / 10, "stop-color": `rgb(${colour(at / 10).join(",")})` }));
  }
  frame.svg.append(draw("defs", {}, draw("linearGradient", { id: "viridis", x1: 0, x2: 0, y1: 1, y2: 0 }, ...stops)));
  const height = frame.bottom - frame.top;
  frame.add("rect", { x, y: frame.top, width: 12, height, fill: "url(#viridis)" });
  for (const [share, value] of [[0, low], [0.5, (low + high) / 2], [1, high]]) {
    frame.add("text", { x: x + 17, y: frame.bottom - share * height + (share === 1 ? 9 : share === 0 ? 0 : 4) },
      number(value));
  }
}
