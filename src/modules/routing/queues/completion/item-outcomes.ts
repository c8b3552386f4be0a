import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { EventEntry, EventRecorder } from "../../../operations/index.ts";
import type { DeadLetters } from "../../dead-letters/index.ts";
import type { Ended, Followers } from "./completion-service.ts";

/** How what a recipient did turned out, as whoever learns from it wants to know. */
export interface WorkOutcome {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly recipientId: string;
  readonly decisionId: string;
  readonly status: "success" | "failure" | "timeout";
  readonly latencyMs: number | undefined;
  readonly cost: number | undefined;
  readonly score: number | undefined;
  /** Whether the item will not be worked on again: only then is the outcome the decision's. */
  readonly final: boolean;
}

/** Keeps outcomes and learns from them. */
export interface OutcomeSink {
  keep(tx: Sql, outcomes: readonly WorkOutcome[], nowMs: number): Promise<void>;
  learn(outcomes: readonly WorkOutcome[], nowMs: number): void;
}

interface Parts {
  readonly deadLetters: Pick<DeadLetters, "record" | "deleteResolved">;
  readonly events: EventRecorder;
  readonly outcomes: OutcomeSink;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Told of the next moment at which one of the items is due. */
  readonly expect: (atMs: number) => void;
}

/** What follows when workers are done with items: outcomes, dead letters and events, in the same transaction. */
export function createFollowers({ deadLetters, events, outcomes, wake, expect }: Parts): Followers {
  return {
    async ended(tx, ended, nowMs) {
      const learnt = ended.flatMap(outcomeOf);
      await Promise.all([
        outcomes.keep(
          tx,
          learnt.filter(({ final }) => final),
          nowMs,
        ),
        ...[...byTenant(ended)].flatMap(([tenantId, items]) => [
          deadLetters.record(
            tx,
            tenantId,
            items.flatMap((item) => letterOf(item, nowMs)),
          ),
          deadLetters.deleteResolved(
            tx,
            tenantId,
            items.flatMap(({ moved, to }) => (to === "completed" && moved.revived ? [moved.id] : [])),
          ),
        ]),
      ]);
      return events.recordMany(tx, ended.flatMap(eventOf), nowMs);
    },

    committed(ended, freed, nowMs) {
      outcomes.learn(ended.flatMap(outcomeOf), nowMs);
      const pools = new Map<string, string>();
      for (const { tenantId, poolId } of freed) pools.set(poolId, tenantId);
      for (const { moved, to, retryAtMs } of ended) {
        if (to === "ready") pools.set(moved.poolId, moved.tenantId);
        if (retryAtMs !== undefined) expect(retryAtMs);
      }
      for (const [poolId, tenantId] of pools) wake(tenantId, poolId);
    },
  };
}

function outcomeOf({ finish, moved, to, tookMs }: Ended): WorkOutcome[] {
  const { recipientId, tenantId, poolId, id } = moved;
  if (recipientId === "") return [];
  const failed = finish.failure !== undefined;
  return [
    {
      tenantId,
      poolId,
      recipientId,
      decisionId: id,
      status: !failed ? "success" : finish.phase === "lease" ? "timeout" : "failure",
      latencyMs: tookMs,
      cost: finish.cost,
      score: finish.score,
      final: to === "completed" || to === "dead_lettered",
    },
  ];
}

function letterOf({ finish, moved, to }: Ended, nowMs: number) {
  if (to !== "dead_lettered") return [];
  const { poolId, id, failures } = moved;
  return [
    {
      poolId,
      queueItemId: id,
      reasonCode: finish.failure!.reasonCode,
      phase: finish.phase,
      attempts: failures,
      maxRetries: finish.maxRetries,
      failedAt: new Date(nowMs),
    },
  ];
}

function eventOf({ finish, moved, to }: Ended): EventEntry[] {
  const { tenantId, id: subject, poolId, recipientId, attempt } = moved;
  const data = { pool_id: poolId, recipient_id: recipientId, attempt };
  if (to === "dead_lettered") {
    const { reasonCode } = finish.failure!;
    return [
      {
        tenantId,
        subject,
        type: "queue.item.dead_lettered",
        data: { ...data, reason_code: reasonCode, phase: finish.phase },
      },
    ];
  }
  if (!finish.itemEvents) return [];
  if (to === "completed") return [{ tenantId, subject, type: "queue.item.completed", data }];
  return [{ tenantId, subject, type: "queue.item.failed", data: { ...data, reason_code: finish.failure!.reasonCode } }];
}

function byTenant(ended: readonly Ended[]): ReadonlyMap<TenantId, Ended[]> {
  const groups = new Map<TenantId, Ended[]>();
  for (const each of ended) {
    const group = groups.get(each.moved.tenantId);
    if (group === undefined) groups.set(each.moved.tenantId, [each]);
    else group.push(each);
  }
  return groups;
}
