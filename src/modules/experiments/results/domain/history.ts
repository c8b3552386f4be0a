import type { Analysis, Interval } from "../../analysis/index.ts";

/** A comparison with control at one time. */
export interface PointComparison {
  readonly variant: string;
  readonly metric: string;
  readonly difference: number | null;
  readonly interval: Interval | null;
  readonly lift: number | null;
  readonly liftInterval: Interval | null;
  readonly p: number | null;
}

/** The results at one time. */
export interface Point {
  readonly verdict: string;
  readonly units: number;
  readonly mature: number;
  readonly comparisons: readonly PointComparison[];
}

/** Reduces an analysis to its history entry. */
export function pointOf({ verdict, variants }: Analysis): Point {
  return {
    verdict,
    units: variants.reduce((sum, { units }) => sum + units, 0),
    mature: variants.reduce((sum, { mature }) => sum + mature, 0),
    comparisons: variants.flatMap(({ variant, comparisons }) =>
      comparisons.map(({ key, difference, interval, lift, liftInterval, p }) => ({
        ...{ variant, metric: key, difference, interval, lift, liftInterval, p },
      })),
    ),
  };
}

/** At most `count` points, spread evenly, with the first and the last. */
export function thin<T>(points: readonly T[], count: number): readonly T[] {
  if (points.length <= count) return points;
  return Array.from({ length: count }, (_, at) => points[Math.round((at * (points.length - 1)) / (count - 1))]!);
}
