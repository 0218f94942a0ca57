// The live page: follows the server's events and draws what changed. A run and a service have pages of their own
// (run.js, service.js).

import { make } from "./dom.js";
import { ProgramDialog } from "./program.js";
import * as run from "./run.js";
import * as service from "./service.js";
import { shortened } from "./words.js";

const byId = (id) => document.getElementById(id);

// What a part showed last, and its element.
const drawn = new Map();
const dialog = new ProgramDialog(byId("program"));
const fetched = { best: null, lineage: null };
const wanted = { best: "", lineage: "" };
let latest = null;

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
  head(summary.name, run.statusOf(summary));
  byId("footer").textContent = `Run ${summary.run}, seed ${summary.seed}`
    + `${summary.deterministic ? ", deterministic" : ""}. This page follows it and changes nothing.`;
  show(run.partsOf(summary, fetched));
  const best = summary.best?.program;
  if (best !== undefined) want("best", String(best), `/api/programs/${best}`);
  if (summary.lineage.steps.length > 0) {
    want("lineage", summary.lineage.steps.map((step) => step.program).join(), "/api/lineage");
  }
}

function showService(summary) {
  head(summary.name, service.statusOf(summary));
  byId("footer").textContent = "This page follows the service and changes nothing.";
  show(service.partsOf(summary));
}

// Fetches once for each key, and draws.
async function want(name, key, path) {
  if (wanted[name] === key) return;
  wanted[name] = key;
  try {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(answer.statusText);
    const body = await answer.json();
    if (wanted[name] !== key) return;
    fetched[name] = body;
    show(run.partsOf(latest, fetched));
  } catch {
    if (wanted[name] === key) wanted[name] = ""; // with the next event again
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
    const { message, where, code, hint } = JSON.parse(event.data);
    trouble(`${where ? `${where}: ` : ""}${message} (${code})${hint ? `; ${hint}` : ""}`);
    mark("lost");
  });
  events.addEventListener("error", () => {
    trouble("The server of this page does not answer; what stands here is the last that it sent.");
    mark("lost");
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
  });
}

// Whatever names a program opens it; pictures tell below them what the pointer is at.
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

follow();
