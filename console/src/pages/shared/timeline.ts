import type { History, HistoryCounts } from "@client/gen/history";
import type { Sample } from "../../ui/chart/samples";

/** Counts of a record at a time, or what happened to it per minute. Undefined where nothing is known. */
export type Counts = { readonly [Count in keyof Omit<HistoryCounts, "at" | "covered_s">]?: number | undefined };

/** What is counted per minute. */
type Flow = "started" | "completed" | "failed" | "dead_lettered";

/** The counts of a moment. */
interface Moment {
  readonly atMs: number;
  readonly counts: Counts;
}

/** Rates of a page's own samples are taken over this many samples, so that one item is no peak. */
const rateSamples = 10;

/**
 * The moments that a chart shows: those of the history, empty where the service was away, and then those that the page has read
 * itself.
 */
export function momentsOf(history: History | undefined, samples: readonly Sample<Counts>[]): readonly Moment[] {
  const moments = samples.map((sample, index) => fromSample(sample, samples[Math.max(0, index - rateSamples)]!));
  // The first sample has no rates.
  const live = moments.length > 1 ? moments.slice(1) : moments;
  if (history === undefined) return live;
  const stepMs = history.step_s * 1000;
  const startMs = Date.parse(history.start ?? "");
  const known = new Map(history.points.map((point) => [Date.parse(point.at ?? ""), point]));
  const lastMs = Math.max(startMs, ...known.keys());
  const liveMs = live[0]?.atMs ?? Number.POSITIVE_INFINITY;
  const past: Moment[] = [];
  for (let atMs = startMs; atMs <= lastMs && atMs < liveMs; atMs += stepMs) {
    const point = known.get(atMs);
    past.push({ atMs, counts: point === undefined ? {} : fromPoint(point, past.at(-1)?.counts ?? {}) });
  }
  // The newest point is complete a moment after its step. If it is older, the service was away meanwhile.
  if (live.length > 0 && liveMs - lastMs > 3 * stepMs) past.push({ atMs: liveMs - 1, counts: {} });
  // The newest step goes on until now.
  const newest = past.at(-1);
  if (live.length === 0 && newest !== undefined)
    past.push({ atMs: Math.min(Date.now(), newest.atMs + stepMs), counts: newest.counts });
  return [...past, ...live];
}

/** The first minute of a step goes on from the step before, so that one run in its first seconds is no peak. */
function fromPoint(point: HistoryCounts, before: Counts): Counts {
  const minutes = point.covered_s / 60;
  const perMinute = (count: Flow) =>
    minutes < 1 && before[count] !== undefined ? point[count] + before[count] * (1 - minutes) : point[count] / minutes;
  return {
    waiting: point.waiting,
    in_progress: point.in_progress,
    oldest_age_s: point.oldest_age_s,
    started: perMinute("started"),
    completed: perMinute("completed"),
    failed: perMinute("failed"),
    dead_lettered: perMinute("dead_lettered"),
  };
}

function fromSample({ atMs, values }: Sample<Counts>, earlier: Sample<Counts>): Moment {
  const minutes = (atMs - earlier.atMs) / 60_000;
  // A count that starts again at midnight counts from zero.
  const perMinute = (count: Exclude<Flow, "dead_lettered">) =>
    values[count] === undefined || minutes === 0
      ? undefined
      : Math.max(0, values[count] - (earlier.values[count] ?? 0)) / minutes;
  const [started, completed, failed] = [perMinute("started"), perMinute("completed"), perMinute("failed")];
  return { atMs, counts: { ...values, started, completed, failed } };
}
