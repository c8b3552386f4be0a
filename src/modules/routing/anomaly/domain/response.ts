import { unreachable } from "../../../../errors/index.ts";
import type { AnomalyConfig } from "../../pools/index.ts";
import type { AnomalyAction, Finding, ScopedFinding } from "./anomaly.ts";

/** The subject of a finding, used to suppress repeated reports. */
export type Topic = Pick<ScopedFinding, "recipientId" | "metric">;

function topicKey({ recipientId, metric }: Topic): string {
  return `${recipientId}/${metric}`;
}

/** Selects the first finding of each topic, except topics that were reported recently. */
export function selectReportable<F extends Topic>(findings: readonly F[], recentTopics: readonly Topic[]): F[] {
  const topics = new Set(recentTopics.map(topicKey));
  // Adding a known topic does not grow the set.
  return findings.filter((finding) => topics.size < topics.add(topicKey(finding)).size);
}

/** Recipient counts of a pool. */
export interface RecipientCounts {
  readonly active: number;
  /** Recipients that an anomaly paused and that are still paused. */
  readonly autoPaused: number;
}

/** Returns how many more recipients may be paused: at most half of those that would be active otherwise. */
export function countAllowedPauses({ active, autoPaused }: RecipientCounts): number {
  return Math.max(0, Math.floor((active + autoPaused) / 2) - autoPaused);
}

/** Returns until when a recipient is paused automatically; null if somebody has to resume it. At least a window passes. */
export function pausedUntil(
  { autoResume, cooldownS, windowS }: Pick<AnomalyConfig, "autoResume" | "cooldownS" | "windowS">,
  nowMs: number,
): Date | null {
  return autoResume ? new Date(nowMs + Math.max(cooldownS, windowS) * 1000) : null;
}

/** Describes a finding in words. */
export function describeFinding({ metric, value, baseline, method }: Finding): string {
  return `${method}: ${metric} is ${toText(value)}, and was ${toText(baseline)} before`;
}

function toText(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** Selects the configured actions that apply to a finding. */
export function selectActions(
  wanted: readonly AnomalyAction[],
  { recipientId }: Pick<ScopedFinding, "recipientId">,
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
