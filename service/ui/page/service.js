// An evaluation service's page: its queue, its workers and its rates. What a service does not report is null.

import { bar, card, make, note, section, table } from "./dom.js";
import { clock, counted, number, whole } from "./words.js";

const known = (value, words) => (value === null ? "" : words(value));

export function statusOfService(service) {
  const { queue, workers } = service;
  return [service.state ?? "state not known",
    known(queue.pending, (value) => `${counted(value, "request")} waiting`),
    known(service.under_way, (value) => `${whole(value)} under way`),
    known(workers.count, (value) => counted(value, "worker")),
    known(service.finished_a_minute, (value) => `${number(value)} finished a minute`)].filter(Boolean).join(" · ");
}

export function partsOfService(service) {
  return [["cards", service, serviceCards], ["workers", service.workers, workers]];
}

function serviceCards(service) {
  const { queue, finished } = service;
  const total = Object.values(finished).reduce((sum, value) => sum + value, 0);
  return make("div.cards",
    card("Queue", known(queue.pending, whole) || "not known", "requests that wait",
      ...Object.entries(queue.by_priority ?? {}).filter(([, count]) => count > 0)
        .map(([name, count]) => `${whole(count)} of ${name} priority`),
      bar({ used: queue.pending ?? 0, limit: queue.limit }), known(queue.limit, (value) => `at most ${whole(value)}`)),
    card("Under way", known(service.under_way, whole) || "not known",
      known(service.workers.count, (value) => `on ${counted(value, "worker")}`),
      bar({ used: service.under_way ?? 0, limit: service.workers.count }),
      known(service.prepared_tasks, (value) => `${counted(value, "task")} prepared`)),
    card("Finished", whole(total), ...Object.entries(finished).filter(([, count]) => count > 0)
      .map(([state, count]) => `${whole(count)} ${state}`),
      known(service.refused, (value) => (value ? `${whole(value)} refused` : "")),
      known(service.retried, (value) => (value ? `${whole(value)} tried again` : ""))),
    card("Rate", known(service.finished_a_minute, (value) => `${number(value)}/min`) || "–",
      "finished in the last minute",
      known(service.submitted_a_minute, (value) => `${number(value)}/min came in`),
      known(service.evaluation_s, (value) => `${number(value)} s an evaluation`),
      known(service.waiting_s, (value) => `${number(value)} s of waiting before`)),
    card("State", service.state ?? "not known", known(service.uptime_s, (value) => `up for ${clock(value)}`),
      known(service.version, (value) => `kernelsmith ${value}`),
      known(service.results_kept, (value) => `${counted(value, "result")} kept`)));
}

function workers({ count, shown }) {
  if (shown.length === 0) return null;
  return section("Workers", count > shown.length ? note(`The first ${shown.length} of ${whole(count)}.`) : "",
    table(["worker", "status", "request", "for"], shown.map((one) => [String(one.name), String(one.status),
      one.task ?? "–", one.task === null || one.seconds === null ? "–" : clock(one.seconds)])));
}
