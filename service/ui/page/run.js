// A run's page: a list of parts, each drawn anew only when what it shows has changed.

import { bestSoFar, lineage } from "./curves.js";
import { bar, card, diff, folded, listing, make, note, programLink, section, table } from "./dom.js";
import { archiveMap } from "./map.js";
import { clock, counted, measured, measuredText, number, shortened, usd, whole } from "./words.js";

const BROAD = 1094, NARROW = 526;

export function statusOf(run) {
  const { budgets } = run;
  const used = ({ used: amount, limit }, what) => (limit === null ? counted(amount, what)
    : `${whole(amount)} of ${counted(limit, what)}`);
  return [run.state.is + (run.state.why ? ` (${run.state.why})` : ""), used(budgets.iterations, "iteration"),
    used(budgets.evaluations, "evaluation"), timeText(budgets.wall_time_s),
    run.cost.calls ? costText(run) : ""].filter(Boolean).join(" · ");
}

function timeText({ used, limit }) {
  return limit === null ? clock(used) : `${clock(used)} of ${clock(limit)}`;
}

function costText({ cost, budgets }) {
  return budgets.usd.limit === null ? usd(cost.usd) : `${number(budgets.usd.used)} of ${number(budgets.usd.limit)} USD`;
}

// In the order of the page: [name, what it shows, how it is drawn, group]. `fetched` holds what comes by requests of its own:
// `best` (a program's details) and `lineage` (diffs), null until they are there.
export function partsOf(run, fetched) {
  return [
    ["cards", cardsData(run), cards],
    ["curve", { curve: run.curve, best: run.best }, curveFigure, "pictures"],
    ["steps", { lineage: run.lineage, unit: run.curve.unit }, lineageFigure, "pictures"],
    ["map", run.archive, mapFigure, "pictures"],
    ["open", { open: run.open, in_use: run.in_use, calls: run.calls_under_way, arrived: run.answers_on_their_way }, open],
    ["islands", { islands: run.islands, archive: archiveNumbers(run.archive) }, islands],
    ["shapes", run.best?.evaluation.shapes ?? [], shapes],
    ["best", fetched.best, bestProgram],
    ["lineage", { steps: run.lineage, diffs: fetched.lineage }, lineageSteps],
    ["failures", run.failures, failures],
    ["refusals", run.refusals, refusals],
    ["models", run.cost, models],
  ];
}

function cardsData({ best, demoted, counts, given_back: givenBack, state, budgets, confirming_s: confirming, cost, task }) {
  return { best, demoted, counts, givenBack, state, budgets, confirming, cost, task };
}

function archiveNumbers(archive) {
  return archive ? { migrations: archive.migrations } : null;
}

function cards(run) {
  const { counts, state, budgets, cost } = run;
  const some = (count, what, more = "") => (count ? counted(count, what) + more : "");
  const made = [
    bestCard(run),
    card("Programs", `${whole(counts.accepted)} accepted`, `${whole(counts.rejected)} rejected`,
      some(counts.repeated, "repeat"), some(counts.refused, "proposal", " without a child"),
      counts.remeasured ? `${whole(counts.remeasured)} measured again` : "", some(counts.demoted, "former best", " that did not hold"),
      ...run.givenBack.map(({ code, count }) => counted(count, "ticket") + ` without a verdict: ${code}`)),
    card("State", state.is, state.why, run.task ? `task ${run.task.name} (${run.task.backend})` : ""),
    card("Used", counted(budgets.iterations.used, "iteration"), bar(budgets.iterations),
      ofLimit(budgets.evaluations, (value) => counted(value, "evaluation")), bar(budgets.evaluations),
      `${timeText(budgets.wall_time_s)} of wall time`, bar(budgets.wall_time_s),
      run.confirming >= 1 ? `and ${clock(run.confirming)} measuring the best again` : ""),
  ];
  if (cost.calls) {
    made.push(card("Cost", usd(cost.usd),
      budgets.usd.limit === null ? "" : `of ${number(budgets.usd.limit)} USD`, bar(budgets.usd),
      counted(cost.calls, "call"), counted(cost.input_tokens + cost.output_tokens, "token")));
  }
  return make("div.cards", ...made);
}

function ofLimit({ used, limit }, words) {
  return limit === null ? words(used) : `${whole(used)} of ${words(limit)}`;
}

function bestCard({ best, demoted }) {
  const fell = demoted.length ? `${counted(demoted.length, "former best")} did not hold` : "";
  if (!best) return card("Best", "none", "nothing was accepted yet", fell);
  const { speedup, fitness, tier } = best.evaluation;
  const [value, interval] = measured(speedup ?? fitness);
  return card("Best", value, interval, speedup ? "speedup over the baseline" : "fitness, higher is better",
    make("p", programLink(best.program), ` (${best.origin})`), best.measured_again ? "measured again at the end" : "",
    tier ? `tier ${tier}` : "");
}

function figure(kind, svg) {
  const made = make(kind, svg, make("figcaption"));
  made.dataset.captions = "";
  return made;
}

function curveFigure({ curve, best }) {
  return figure("figure.broad", bestSoFar(curve, best, BROAD));
}

function lineageFigure({ lineage: steps, unit }) {
  return figure("figure", lineage(steps, unit, NARROW));
}

function mapFigure(archive) {
  return figure("figure", archiveMap(archive, NARROW));
}

function open({ open: { count, shown }, in_use: inUse, calls, arrived }) {
  if (count === 0) return null;
  const rows = shown.map((one) => [one.ticket, one.purpose, one.waits_for, one.model || "–", one.island,
    programLink(one.parent)]);
  const words = [
    calls && inUse ? `${counted(calls, "call")} to models under way.` : "",
    arrived ? `${counted(arrived, "answer")} arrived, not in the journal yet.` : "",
    count > shown.length ? `The first ${shown.length} of ${counted(count, "ticket")}.` : "",
  ].filter(Boolean).join(" ");
  return section(inUse ? "Under way" : "Begun, to be continued by resume", words ? note(words) : "",
    table(["ticket", "for", "waits for", "model", "island", "parent"], rows));
}

function islands({ islands: { count, shown }, archive }) {
  if (count < 2) return null;
  const rows = shown.map((one) => [one.island, one.filled, measuredText(one.best), programLink(one.program),
    one.mean === null ? "–" : number(one.mean), one.sends_to.join(", ") || "–"]);
  const words = [archive ? `${counted(archive.migrations, "migration")} so far.` : "",
    count > shown.length ? `The first ${shown.length} of ${whole(count)} islands.` : ""].filter(Boolean).join(" ");
  return section("Islands", words ? note(words) : "",
    table(["island", "cells filled", "best fitness", "program", "mean fitness", "sends to"], rows));
}

export function shapes(rows) {
  if (rows.length === 0) return null;
  return section("Timed shapes of the best", table(["shape", "time of a call", "speedup", ""], rows.map((one) =>
    [one.shape, measuredText(one.runtime_us), measuredText(one.speedup), one.short_call ? "short call" : ""])));
}

function bestProgram(program) {
  if (!program) return null;
  return section("The best program", ...sources(program));
}

export function sources({ files, file_count: count }) {
  const made = files.flatMap((file) => [count > 1 ? note(file.path) : "", listing(file)]);
  if (count > files.length) made.push(note(`${counted(count - files.length, "further file")} left out.`));
  return made;
}

function lineageSteps({ steps: { left_out: leftOut, steps }, diffs }) {
  if (leftOut + steps.length < 2 || !diffs) return null;
  const byProgram = new Map(diffs.steps.map((step) => [step.program, step.diff]));
  const folds = steps.filter((step) => byProgram.get(step.program)?.text).map((step) => {
    const how = step.fitness ? `fitness ${measuredText(step.fitness)}` : `rejected: ${step.code}`;
    const fold = folded(`Step ${step.step}: program ${step.program} (${step.origin}), ${how}`,
      diff(byProgram.get(step.program)));
    fold.dataset.fold = step.program;
    return fold;
  });
  return section("How it came about",
    leftOut ? note(`The last ${steps.length} of ${counted(leftOut + steps.length - 1, "step")}.`) : "", ...folds);
}

function failures(rows) {
  if (rows.length === 0) return null;
  return section("Rejected programs", table(["stage", "code", "programs", "the latest"], rows.map((row) =>
    [row.stage, row.code, row.count, example(row.latest)])));
}

function example(latest) {
  if (!latest) return [make("span", "no island remembers one")];
  const words = latest.diagnostics.text.trim();
  return [programLink(latest.program), words ? listing(latest.diagnostics) : ", without further words"];
}

function refusals(rows) {
  if (rows.length === 0) return null;
  return section("Proposals without a child", table(["code", "proposals", "the last one"], rows.map((row) =>
    [row.code, row.count, row.detail.text ? [listing(row.detail)] : ""])));
}

function models({ models: rows, interrupted_calls: interrupted }) {
  if (rows.length === 0) return null;
  return section("Models",
    interrupted ? note(`Up to ${counted(interrupted, "call")} under way when the process ended: cost unknown.`) : "",
    table(["model", "calls", "tokens in", "tokens out", "USD"], rows.map((row) =>
      [shortened(row.model, 60) || "(no name)", row.calls, row.input_tokens, row.output_tokens,
        row.usd === null ? "–" : number(row.usd)])));
}
