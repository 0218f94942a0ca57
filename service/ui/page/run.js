// A run's page: a list of parts, each drawn again only when its data has changed.

import { bestSoFar, lineage } from "./curves.js";
import { bar, card, diff, folded, listing, make, note, programLink, section, table } from "./dom.js";
import { archiveMap } from "./map.js";
import { clock, counted, measured, measuredText, number, shortened, usd, whole } from "./words.js";

const BROAD = 1094, NARROW = 526;

const ENDS = {
  flat: "what is left is expected to gain too little",
  exhausted: "nothing new was found to propose",
  finished: "its proposer said that it has finished",
  refused: "the task is not usable: its seed was rejected",
};

// [the state of the search, the reason for it].
function stateOf({ ended, used_up: usedUp, in_use: inUse, goes_on: goesOn, open: { count }, error }) {
  const why = usedUp ? `its budget is used up: ${usedUp}` : ENDS[ended] ?? ended;
  if (inUse && (!ended || count > 0)) return ["under way", usedUp ? `${why}; what was begun is waited for` : ""];
  if (ended) return ["ended", why];
  if (error) return ["stopped", `an error ended the last session: ${errorText(error)}`];
  return ["not at its end", goesOn ?? ""];
}

export function errorText({ message, where, code }) {
  return `${where ? `${where}: ` : ""}${message} (${code})`;
}

export function statusOfRun(run) {
  const { budgets } = run;
  const used = ({ used: amount, limit }, what) => (limit === null ? counted(amount, what)
    : `${whole(amount)} of ${counted(limit, what)}`);
  const [is, why] = stateOf(run);
  return [is + (why ? ` (${why})` : ""), used(budgets.iterations, "iteration"),
    used(budgets.evaluations, "evaluation"), timeText(budgets.wall_time_s),
    run.cost.calls ? costText(run) : ""].filter(Boolean).join(" · ");
}

function timeText({ used, limit }) {
  return limit === null ? clock(used) : `${clock(used)} of ${clock(limit)}`;
}

function costText({ cost, budgets }) {
  return budgets.usd.limit === null ? usd(spentUsd(cost)) : `${number(budgets.usd.used)} of ${number(budgets.usd.limit)} USD`;
}

// The cost with the estimated part; null if no call had a price.
function spentUsd({ usd: known, guessed_usd: guessed }) {
  return known === null ? null : known + guessed;
}

// In the order of the page: [name, what it shows, how it is drawn, group]. `best` is the best program's document, null until
// it is there.
export function partsOfRun(run, best) {
  return [
    ["cards", cardsData(run), cards],
    ["curve", { curve: run.curve, best: run.best }, curveFigure, "pictures"],
    ["steps", { lineage: run.lineage, unit: run.curve.unit }, lineageFigure, "pictures"],
    ["map", { archive: run.archive, best: run.best?.program }, mapFigure, "pictures"],
    ["open", { open: run.open, in_use: run.in_use, calls: run.calls_under_way, arrived: run.answers_on_their_way }, open],
    ["islands", { islands: run.islands, archive: archiveNumbers(run.archive) }, islands],
    ["shapes", run.best?.evaluation.shapes ?? [], shapes],
    ["lineage", run.lineage, lineageSteps],
    ["limits", best?.evaluation.advice ?? "", limits],
    ["best", { best, diff: run.best?.diff }, bestProgram],
    ["failures", run.failures, failures],
    ["refusals", run.refusals, refusals],
    ["models", run.cost, models],
  ];
}

function cardsData(run) {
  const { best, counts, given_back: givenBack, budgets, confirming_s: confirming, cost, task } = run;
  return { best, counts, givenBack, state: stateOf(run), budgets, confirming, cost, task };
}

function archiveNumbers(archive) {
  return archive ? { migrations: archive.migrations } : null;
}

function cards(run) {
  const { counts, budgets, cost, task } = run;
  const some = (count, what, more = "") => (count ? counted(count, what) + more : "");
  const made = [
    bestCard(run),
    card("Programs", `${whole(counts.accepted)} accepted`, `${whole(counts.rejected)} rejected`,
      some(counts.repeated, "repeat", counts.same_binary ? ` (${whole(counts.same_binary)} by the binary)` : ""), some(counts.refused, "proposal", " without a child"),
      counts.remeasured ? `${whole(counts.remeasured)} measured again` : "", some(counts.demoted, "former best", " that did not hold"),
      ...run.givenBack.map(({ code, count }) => counted(count, "ticket") + ` without a verdict: ${code}`)),
    card("State", ...run.state, task.name ? `task ${task.name} (${task.backend})` : ""),
    card("Used", counted(budgets.iterations.used, "iteration"), bar(budgets.iterations),
      ofLimit(budgets.evaluations, (value) => counted(value, "evaluation")), bar(budgets.evaluations),
      `${timeText(budgets.wall_time_s)} of wall time`, bar(budgets.wall_time_s),
      run.confirming >= 1 ? `and ${clock(run.confirming)} measuring the best again` : ""),
  ];
  if (cost.calls) {
    made.push(card("Cost", usd(spentUsd(cost)),
      budgets.usd.limit === null ? "" : `of ${number(budgets.usd.limit)} USD`, bar(budgets.usd),
      counted(cost.calls, "call"), counted(cost.input_tokens + cost.output_tokens, "token")));
  }
  return make("div.cards", ...made);
}

function ofLimit({ used, limit }, words) {
  return limit === null ? words(used) : `${whole(used)} of ${words(limit)}`;
}

function bestCard({ best, counts: { demoted } }) {
  const fell = demoted ? `${counted(demoted, "former best")} did not hold` : "";
  if (!best) return card("Best", "none", "nothing was accepted yet", fell);
  const { speedup, measurement, tier } = best.evaluation;
  const [value, interval] = measured(speedup ?? measurement);
  return card("Best", value, interval, speedup ? "speedup over the baseline" : "fitness, higher is better",
    make("p", programLink(best.program), ` (${best.origin})`), best.confirmed ? "measured again at the end" : "",
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

function mapFigure({ archive, best }) {
  return figure("figure", archiveMap(archive, best, NARROW));
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
    table(["island", "cells filled", "best", "program", "mean low end", "sends to"], rows));
}

export function shapes(rows) {
  const timed = rows.filter((one) => one.timed);
  if (timed.length === 0) return null;
  return section("Timed shapes of the best", table(["shape", "time of a call", "speedup", ""], timed.map((one) =>
    [one.shape, measuredText(one.runtime), measuredText(one.speedup), 
     [one.short_call ? "short call" : "", one.weight ? `${number(100 * one.weight)} % of the score` : ""]
       .filter(Boolean).join(", ")])));
}

function limits(advice) {
  if (!advice) return null;
  const text = listing(advice);
  text.classList.add("wrapped");
  return section("What limits the best now", text);
}

function bestProgram({ best, diff: changes }) {
  if (!best) return null;
  const fold = changes ? folded("Against the seed", diff(changes))
    : note(best.origin === "seed" ? "It is the seed, unchanged." : "It is a first program: there was no seed.");
  fold.dataset.fold = "seed";
  return section("The best program", fold, ...sources(best));
}

export function sources({ files, file_count: count }) {
  const made = files.flatMap((file) => [count > 1 ? note(file.path) : "", listing(file.text)]);
  if (count > files.length) made.push(note(`${counted(count - files.length, "further file")} left out.`));
  return made;
}

const gained = (times) => times === "1" ? ", equal to its parent" : `, ${times} times its parent`;

function lineageSteps(steps) {
  const last = steps.at(-1)?.step ?? 0, leftOut = last + 1 > steps.length;
  if (last === 0) return null;
  const before = new Map(steps.map((step) => [step.step + 1, step.measurement?.median]));
  const folds = steps.filter((step) => step.diff).map((step) => {
    const parent = before.get(step.step), now = step.measurement?.median;
    const how = (step.measurement ? `fitness ${measuredText(step.measurement)}` : `rejected: ${step.code}`)
      + (parent > 0 && now > 0 ? gained(number(now / parent)) : "");
    const fold = folded(`Step ${step.step}: program ${step.program} (${step.origin}), ${how}`, diff(step.diff));
    fold.dataset.fold = step.program;
    return fold;
  });
  return section("How it came about",
    leftOut ? note(`The last ${steps.length} of ${counted(last, "step")}.`) : "", ...folds);
}

function failures(rows) {
  if (rows.length === 0) return null;
  return section("Rejected programs", table(["stage", "code", "programs", "the latest"], rows.map((row) =>
    [row.stage, row.code, row.count, example(row.latest)])));
}

function example(latest) {
  if (!latest) return [make("span", "no island remembers one")];
  const words = latest.diagnostics.trim();
  return [programLink(latest.program), words ? listing(words) : ", without further words"];
}

function refusals(rows) {
  if (rows.length === 0) return null;
  return section("Proposals without a child", table(["code", "proposals", "the last one"], rows.map((row) =>
    [row.code, row.count, row.detail ? [listing(row.detail)] : ""])));
}

function models({ models: rows, interrupted_calls: interrupted }) {
  if (rows.length === 0) return null;
  return section("Models",
    interrupted ? note(`Up to ${counted(interrupted, "call")} under way when the process ended: cost unknown.`) : "",
    table(["model", "calls", "tokens in", "tokens out", "USD"], rows.map((row) =>
      [shortened(row.model, 60) || "(no name)", row.calls, row.input_tokens, row.output_tokens,
        row.usd === null ? "–" : number(spentUsd(row))])));
}
