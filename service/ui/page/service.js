// An evaluation service's page: its queue, its workers and its rates.

import { card, make, note, section, table } from "./dom.js";
import { clock, counted, number, whole } from "./words.js";

export function statusOf(service) {
  return service.status;
}

export function partsOf(service) {
  return [];
}
