// How the line does: frames per second as they are drawn, and the time from an input to the first picture it is in.

import { byId } from "./elements.js";

const WINDOW = 30;
/** Emitted through `performance.measure` for each, so that tools see every one of them. */
export const LATENCY_MARK = "input to picture";

/** Readings: `sent(seq, ms)` for an input, `drawn(frame)` for a picture. */
export function makeReadings() {
  const waiting = [];
  const latencies = [];
  const drawnAt = [];

  return {
    sent(seq, ms) {
      waiting.push({ seq, ms });
      if (waiting.length > 10 * WINDOW) waiting.shift();
    },
    drawn({ seq }) {
      const now = performance.now();
      if (waiting[0]?.seq <= seq) push(latencies, now - waiting[0].ms);
      while (waiting[0]?.seq <= seq) measure(waiting.shift().ms, now);
      push(drawnAt, now);
      byId("latency").textContent = latencies.length ? `${Math.round(median(latencies))} ms` : "–";
      byId("fps").textContent = drawnAt.length > 1 ? rate(drawnAt).toFixed(1) : "–";
    },
    /** The line was lost: what was under way never comes. */
    reset() {
      for (const list of [waiting, latencies, drawnAt]) list.length = 0;
      byId("fps").textContent = byId("latency").textContent = "–";
    },
  };
}

function measure(start, end) {
  performance.measure(LATENCY_MARK, { start, end });
  // Observers have it; the page's own list of measures would grow for hours.
  performance.clearMeasures(LATENCY_MARK);
}

function push(list, value) {
  list.push(value);
  if (list.length > WINDOW) list.shift();
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const rate = (times) => (1000 * (times.length - 1)) / (times.at(-1) - times[0]);
