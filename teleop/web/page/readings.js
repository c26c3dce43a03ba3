// How the line does: frames per second as they are drawn, and the time from an input to the first picture it is in.

import { byId, setText } from "./elements.js";

const WINDOW = 30;
// A longer one is a world that stood still, not a slow one.
const LONGEST_GAP_MS = 1000;
// What tools see of each, in `performance`'s marks and measures.
const DRAWN = "picture";
const LATENCY = "input to picture";

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
      mark(now);
      if (waiting[0]?.seq <= seq) push(latencies, now - waiting[0].ms);
      while (waiting[0]?.seq <= seq) measure(waiting.shift().ms, now);
      if (now - drawnAt.at(-1) > LONGEST_GAP_MS) drawnAt.length = 0;
      push(drawnAt, now);
      setText(byId("latency"), latencies.length ? `${Math.round(median(latencies))} ms` : "–");
      setText(byId("fps"), drawnAt.length > 1 ? rate(drawnAt).toFixed(1) : "–");
    },
    /** The line was lost: what was under way never comes. */
    reset() {
      for (const list of [waiting, latencies, drawnAt]) list.length = 0;
      byId("fps").textContent = byId("latency").textContent = "–";
    },
  };
}

// Observers keep what they saw; the page's own list of it would grow for hours.
function measure(start, end) {
  performance.measure(LATENCY, { start, end });
  performance.clearMeasures(LATENCY);
}

function mark(startTime) {
  performance.mark(DRAWN, { startTime });
  performance.clearMarks(DRAWN);
}

function push(list, value) {
  list.push(value);
  if (list.length > WINDOW) list.shift();
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const rate = (times) => (1000 * (times.length - 1)) / (times.at(-1) - times[0]);
