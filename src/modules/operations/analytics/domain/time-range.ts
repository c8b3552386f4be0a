import { invalid } from "../../../../errors/index.ts";
import { limits } from "./limits.ts";

/** The times at which a query is evaluated. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepS: number;
}

/** A requested range. Absent parts are chosen. */
export interface RequestedRange {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** 0: chosen from the length of the range. */
  readonly stepS: number;
}

const defaultRangeMs = 3_600_000;
const defaultPoints = 240;
const defaultStepSMin = 15;

/** Completes and checks a range. */
export function resolveRange(requested: RequestedRange, nowMs: number): TimeRange {
  const endMs = requested.endMs ?? nowMs;
  const startMs = requested.startMs ?? endMs - defaultRangeMs;
  if (startMs > endMs) throw invalid("start", "range", "must not be after end");
  const lengthS = (endMs - startMs) / 1000;
  if (lengthS > limits.rangeSMax) throw invalid("start", "range", "must be at most 31 days before end");
  const stepS = requested.stepS || Math.max(defaultStepSMin, Math.ceil(lengthS / defaultPoints));
  if (Math.floor(lengthS / stepS) + 1 > limits.pointsMax) {
    const least = Math.ceil(lengthS / (limits.pointsMax - 1));
    throw invalid(
      "step_s",
      "points",
      `must be at least ${least} for this range, which has ${limits.pointsMax} points then`,
    );
  }
  return { startMs, endMs, stepS };
}
