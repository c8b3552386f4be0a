import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { EventEntry, EventRecorder } from "../../../operations/index.ts";
import type { DeadLetters } from "../../dead-letters/index.ts";
import type { CompletionEffects, FinishedItem } from "./completion-service.ts";

/** The outcome of a recipient's work on an item. */
export interface WorkOutcome {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly recipientId: string;
  readonly decisionId: string;
  /** The key of the item; empty if it has none. */
  readonly key: string;
  /** The experiments that the item is in. */
  readonly experiments: readonly { readonly id: string }[];
  readonly status: "success" | "failure" | "timeout";
  readonly latencyMs: number | undefined;
  readonly cost: number | undefined;
  readonly score: number | undefined;
  /** Whether the item has ended. Only a final outcome is the outcome of the decision. */
  readonly final: boolean;
}

/** Saves outcomes and learns from them. */
export interface OutcomeSink {
  save(tx: Sql, outcomes: readonly WorkOutcome[], nowMs: number): Promise<void>;
  learn(outcomes: readonly WorkOutcome[], nowMs: number): void;
}

interface Dependencies {
  readonly deadLetters: Pick<DeadLetters, "record" | "deleteResolved">;
  readonly events: EventRecorder;
  readonly outcomes: OutcomeSink;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Called with the time at which an item is due. */
  readonly sweepBy: (atMs: number) => void;
  /** Called with the items of every commit. */
  readonly onFinished: (finished: readonly FinishedItem[]) => void;
}

/** Creates the side effects of finished items: outcomes, dead letters and events, in the same transaction. */
export function createCompletionEffects(dependencies: Dependencies): CompletionEffects {
  const { deadLetters, events, outcomes, wake, sweepBy, onFinished } = dependencies;
  return {
    async record(tx, finished, nowMs) {
      const workOutcomes = finished.flatMap(outcomeOf);
      await Promise.all([
        outcomes.save(
          tx,
          workOutcomes.filter(({ final }) => final),
          nowMs,
        ),
        ...[...Map.groupBy(finished, ({ item }) => item.tenantId)].flatMap(([tenantId, items]) => [
          deadLetters.record(
            tx,
            tenantId,
            items.flatMap((item) => letterOf(item, nowMs)),
          ),
          deadLetters.deleteResolved(
            tx,
            tenantId,
            items.flatMap(({ item, to }) => (to === "completed" && item.revived ? [item] : [])),
          ),
        ]),
      ]);
      await events.recordMany(tx, finished.flatMap(eventOf), nowMs);
    },

    afterCommit(finished, freed, nowMs) {
      outcomes.learn(finished.flatMap(outcomeOf), nowMs);
      const pools = new Map<string, string>();
      for (const { tenantId, poolId } of freed) pools.set(poolId, tenantId);
      for (const { item, to, retryAtMs } of finished) {
        if (to === "ready") pools.set(item.poolId, item.tenantId);
        if (retryAtMs !== undefined) sweepBy(retryAtMs);
      }
      for (const [poolId, tenantId] of pools) wake(tenantId, poolId);
      onFinished(finished);
    },
  };
}

function outcomeOf({ report, item, to, tookMs }: FinishedItem): WorkOutcome[] {
  const { recipientId, tenantId, poolId, id, key } = item;
  if (recipientId === "" || report.released === true) return [];
  const failed = report.failure !== undefined;
  return [
    {
      tenantId,
      poolId,
      recipientId,
      decisionId: id,
      key,
      experiments: item.experiments ?? [],
      status: !failed ? "success" : report.phase === "lease" ? "timeout" : "failure",
      latencyMs: tookMs,
      cost: report.cost,
      score: report.score,
      final: to === "completed" || to === "dead_lettered",
    },
  ];
}

function letterOf({ report, item, to }: FinishedItem, nowMs: number) {
  if (to !== "dead_lettered") return [];
  const { poolId, id, failures } = item;
  return [
    {
      poolId,
      queueItemId: id,
      reasonCode: report.failure!.reasonCode,
      phase: report.phase,
      attempts: failures,
      maxRetries: report.maxRetries,
      failedAt: new Date(nowMs),
    },
  ];
}

function eventOf({ report, item, to }: FinishedItem): EventEntry[] {
  const { tenantId, id: subject, poolId, recipientId, attempt } = item;
  const data = { pool_id: poolId, recipient_id: recipientId, attempt };
  if (to === "dead_lettered") {
    const failed = { ...data, reason_code: report.failure!.reasonCode, phase: report.phase };
    return [{ tenantId, subject, type: "queue.item.dead_lettered", data: failed }];
  }
  if (!report.itemEvents) return [];
  if (report.released === true) {
    const released = { pool_id: poolId, recipient_id: recipientId, reason: "given back by its worker" };
    return [{ tenantId, subject, type: "queue.item.released", data: released }];
  }
  if (to === "completed") {
    const { result } = report;
    const completed = result === undefined ? data : { ...data, result };
    return [{ tenantId, subject, type: "queue.item.completed", data: completed }];
  }
  return [{ tenantId, subject, type: "queue.item.failed", data: { ...data, reason_code: report.failure!.reasonCode } }];
}
