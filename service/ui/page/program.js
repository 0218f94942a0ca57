// The dialog that shows one program of the run: what was measured, what was wrong, its source.

import { programDocument } from "./data.js";
import { listing, make, note, pairs, programLink, section } from "./dom.js";
import { shapes, sources } from "./run.js";
import { counted, measuredText, number } from "./words.js";

export class ProgramDialog {
  constructor(dialog) {
    this.dialog = dialog;
    this.asked = null;
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("button.close")) dialog.close();
    });
  }

  async open(id) {
    this.asked = id;
    let parts;
    try {
      parts = contents(await programDocument(id));
    } catch (error) {
      parts = [make("h2", `Program ${id}`), note(error.message)];
    }
    if (this.asked !== id) return; // another one was asked for meanwhile
    const close = make("button.close", "Close");
    close.type = "button";
    this.dialog.replaceChildren(close, ...parts.filter(Boolean));
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }
}

function contents(program) {
  const { evaluation } = program;
  const timed = shapes(evaluation.shapes);
  if (timed) timed.querySelector("h2").textContent = "Timed shapes";
  return [
    make("h2", `Program ${program.program} (${program.origin})`),
    facts(program),
    evaluation.accepted ? null : section(`Rejected: ${evaluation.stage}, ${evaluation.code}`,
      evaluation.diagnostics ? listing(evaluation.diagnostics) : ""),
    evaluation.advice ? section("Advice", note(evaluation.advice)) : null,
    timed,
    section("Source", ...sources(program)),
  ];
}

function facts({ parents, children, knobs, evaluation }) {
  const rows = [];
  const add = (name, value) => { if (value) rows.push([name, value]); };
  const { measurement, speedup } = evaluation;
  add(speedup ? "speedup" : "fitness", measurement && measuredText(speedup ?? measurement));
  if (measurement && measurement.low < measurement.median) {
    const { low, unit } = measurement;
    add("ranked by", `${measuredText({ median: low, low, high: low, unit })}, the low end of the fitness`);
  }
  add("time of a call", evaluation.runtime && measuredText(evaluation.runtime));
  add("knobs", Object.entries(knobs).map(([name, value]) => `${name} ${value}`).join(", "));
  // A knob's feature is its place on the archive's axis.
  add("features", Object.entries(evaluation.features).filter(([name]) => !name.startsWith("knob."))
    .map(([name, value]) => `${name} ${number(value)}`).join(", "));
  add("parents", links(parents));
  add("children", links(children));
  add("tier", evaluation.tier);
  add("hardware", evaluation.hardware);
  add("toolchain", evaluation.toolchain);
  return rows.length ? pairs(rows) : null;
}

function links({ count, shown }) {
  if (count === 0) return null;
  const made = shown.flatMap((id, at) => (at ? [", ", programLink(id)] : [programLink(id)]));
  if (count > shown.length) made.push(` and ${counted(count - shown.length, "more program")}`);
  return make("span", ...made);
}
