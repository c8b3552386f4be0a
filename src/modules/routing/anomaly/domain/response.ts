import { unreachable } from "../../../../errors/index.ts";
import type { AnomalyAction, PlacedFinding } from "./anomaly.ts";

/** What a finding is about, for telling whether it was reported lately. */
export type Topic = Pick<PlacedFinding, "recipientId" | "metric">;

/** One word for a topic. */
function topicKey({ recipientId, metric }: Topic): string {
  return `${recipientId}/${metric}`;
}

/** The findings to report: the first of each recipient and metric, unless that was reported lately. */
export function worthReporting<F extends Topic>(findings: readonly F[], reportedLately: readonly Topic[]): F[] {
  const told = new Set(reportedLately.map(topicKey));
  // Adding leaves the set as large as it was when the topic is in it already.
  return findings.filter((finding) => told.size < told.add(topicKey(finding)).size);
}

/** How a pool's recipients stand. */
export interface PoolStanding {
  readonly active: number;
  /** Those that were paused because of an anomaly, and still are. */
  readonly autoPaused: number;
}

/** How many more recipients may be paused: never more than half of those that would be active without it. */
export function pausesLeft({ active, autoPaused }: PoolStanding): number {
  return Math.max(0, Math.floor((active + autoPaused) / 2) - autoPaused);
}

/** What is done about a finding: all that the pool's config says, as far as it can be. */
export function actionsTaken(
  wanted: readonly AnomalyAction[],
  { recipientId }: Pick<PlacedFinding, "recipientId">,
  paused: ReadonlySet<string>,
): AnomalyAction[] {
  return wanted.filter((action) => {
    switch (action) {
      case "alert":
      case "log":
        return true;
      case "deprioritize":
        return recipientId !== "";
      case "auto_pause":
        return paused.has(recipientId);
      default:
        return unreachable(action);
    }
  });
}
