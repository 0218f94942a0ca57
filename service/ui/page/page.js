// The page: a live one follows the server's events and draws what changed, a report draws its own text once. A run and a
// service have pages of their own (run.js, service.js). A report is all modules as one (service/ui/report.cpp): an import
// stands on one line, and no two modules have a name in common.

import { inlined, programDocument } from "./data.js";
import { make } from "./dom.js";
import { ProgramDialog } from "./program.js";
import { errorText, partsOfRun, statusOfRun } from "./run.js";
import { partsOfService, statusOfService } from "./service.js";
import { shortened } from "./words.js";

const byId = (id) => document.getElementById(id);

// What a part showed last, and its element.
const drawn = new Map();
const dialog = new ProgramDialog(byId("program"));
let latest = null, best = null, wanted = null; // a run, its best's document, the id that was asked for

// Draws the parts that changed; one that has nothing to show is an empty element. Parts of one group stand together.
function show(parts) {
  for (const [name, data, build, group] of parts) {
    const key = JSON.stringify(data);
    const old = drawn.get(name);
    if (old?.key === key) continue;
    const element = build(data) ?? make("div");
    element.id = `part-${name}`;
    if (old) {
      keepState(old.element, element);
      old.element.replaceWith(element);
    } else {
      (group ? groupOf(group) : byId("content")).append(element);
    }
    drawn.set(name, { key, element });
  }
}

function groupOf(name) {
  const found = byId(`group-${name}`);
  if (found) return found;
  const made = make(`section.${name}`);
  made.id = `group-${name}`;
  byId("content").append(made);
  return made;
}

function keepState(from, to) {
  for (const open of from.querySelectorAll("details[open]")) {
    const same = to.querySelector(`details[data-fold="${CSS.escape(open.dataset.fold)}"]`);
    if (same) same.open = true;
  }
  const [before, now] = [from, to].map((element) => element.querySelector("figcaption"));
  if (before && now) now.textContent = before.textContent;
}

function showRun(summary) {
  latest = summary;
  head(summary.name, statusOfRun(summary));
  const archive = summary.archive ? `, archive ${summary.archive.digest.slice(0, 16)}` : "";
  byId("footer").textContent = `Run ${summary.run}, seed ${summary.seed}${summary.deterministic ? ", deterministic" : ""}`
    + `${archive}. ${inlined ? `As it stood when kernelsmith ${inlined.version} wrote this page.`
      : "This page follows it and changes nothing."}`;
  show(partsOfRun(summary, best));
  if (summary.best && summary.best.program !== wanted) wantBest(summary.best.program);
}

function showService(summary) {
  head(summary.name, statusOfService(summary));
  byId("footer").textContent = "This page follows the service and changes nothing.";
  show(partsOfService(summary));
}

async function wantBest(id) {
  wanted = id;
  try {
    const found = await programDocument(id);
    if (wanted !== id) return;
    best = found;
    show(partsOfRun(latest, best));
  } catch {
    if (wanted === id) wanted = null; // the next event asks again
  }
}

function head(name, status) {
  const title = shortened(name, 120);
  document.title = `${title}: kernelsmith`;
  byId("title").textContent = title;
  byId("status").textContent = shortened(status, 400);
}

function mark(kind) {
  byId("status").className = `status ${kind}`;
}

function trouble(words) {
  byId("trouble").hidden = !words;
  byId("trouble").textContent = words ? shortened(words, 600) : "";
}

function follow() {
  const events = new EventSource("/api/events");
  const shows = { run: showRun, service: showService };
  events.addEventListener("summary", (event) => {
    const summary = JSON.parse(event.data);
    trouble("");
    shows[summary.kind](summary);
    mark(summary.in_use === false ? "still" : "live");
  });
  events.addEventListener("trouble", (event) => {
    const error = JSON.parse(event.data);
    trouble(errorText(error) + (error.hint ? `; ${error.hint}` : ""));
    mark("lost");
  });
  events.addEventListener("error", () => {
    trouble("The server of this page does not answer; what stands here is the last that it sent.");
    mark("lost");
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
  });
}

// Whatever names a program opens it; below a picture stands what the pointer is at.
document.addEventListener("click", (event) => openProgram(event.target));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("svg [data-program]")) openProgram(event.target);
});

function openProgram(target) {
  const named = target.closest("[data-program]");
  if (named) dialog.open(Number(named.dataset.program));
}

for (const kind of ["mouseover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const caption = event.target.closest?.("[data-captions]")?.querySelector("figcaption");
    if (caption) caption.textContent = event.target.closest("[data-says]")?.dataset.says ?? "";
  });
}

if (inlined) {
  showRun(inlined.run);
  mark("still");
} else {
  follow();
}
