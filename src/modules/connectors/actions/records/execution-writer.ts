import { createBatcher, type Sql, writePersistently } from "../../../../platform/db/index.ts";
import { isRecorded, type KeyedCall } from "../../../../platform/idempotency/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { QuotaRequest, Quotas } from "../../../tenancy/index.ts";
import { type Beginning, type Begun, insertExecutions, type NewExecution } from "./begin-store.ts";
import { endEvent } from "./execution-events.ts";
import { type Settlement, settleExecutions } from "./settle-store.ts";

/** The quota operation that executions count against. */
export const executeQuota = "connector.execute";

/** A beginning with its tenant's daily quota; undefined for no limit. */
export interface MeteredBeginning extends Beginning {
  readonly quota: number | undefined;
}

export interface ExecutionSettlement extends Settlement {
  readonly execution: NewExecution;
}

interface Dependencies extends Pick<PlatformServices, "db" | "log"> {
  readonly events: EventRecorder;
  readonly quotas: () => Pick<Quotas, "takeIn" | "isUsedUp" | "exceeded">;
}

/** Stores the beginnings and outcomes of executions, many per commit. */
export type ExecutionWriter = ReturnType<typeof createExecutionWriter>;

/** Creates the writer of this node. The global lock order is quota rows, then idempotency keys, then everything else. */
export function createExecutionWriter({ db, log, events, quotas }: Dependencies) {
  const beginnings = createBatcher<MeteredBeginning, Begun | "over_quota">({
    lanes: 2,
    batchMax: 200,
    async flush(inputs) {
      if (inputs.every(({ quota }) => quota === undefined)) return insertExecutions(db.sql, inputs);
      const { begun, remember } = await db.transaction((tx) => beginMetered(tx, inputs));
      remember();
      return begun;
    },
  });

  async function beginMetered(tx: Sql, inputs: readonly MeteredBeginning[]) {
    const counted = inputs.filter(({ quota }) => quota !== undefined);
    const { granted, remember, refund } = await quotas().takeIn(tx, counted.map(takeOf));
    const over = new Set(counted.filter((_, at) => !granted[at]));
    const within = inputs.filter((input) => !over.has(input));
    const inserted = within.length === 0 ? [] : await insertExecutions(tx, within);
    const results = new Map(within.map((input, at) => [input, inserted[at]!]));
    await refund(counted.filter((input) => results.get(input) === "duplicate").map(takeOf));
    return { begun: inputs.map((input) => results.get(input) ?? ("over_quota" as const)), remember };
  }

  const settlements = createBatcher<ExecutionSettlement, boolean>({
    lanes: 2,
    batchMax: 200,
    async flush(inputs) {
      const settled = await db.transaction(async (tx) => {
        const settled = await settleExecutions(tx, inputs);
        const entries = inputs.filter(({ id }) => settled.has(id)).map(eventOf);
        await events.recordMany(tx, entries, inputs[0]!.endedAtMs);
        return settled;
      });
      return inputs.map(({ id }) => settled.has(id));
    },
  });

  /** Refuses an execution that exceeds the quota, unless its key was already used: a repeat gets the first response. */
  async function refuse(quota: number, keyed: KeyedCall | undefined): Promise<"duplicate"> {
    if (await isRecorded(db.sql, keyed)) return "duplicate";
    throw quotas().exceeded({ operation: executeQuota, limit: quota });
  }

  return {
    isRecorded: (keyed: KeyedCall | undefined) => isRecorded(db.sql, keyed),

    /** Refuses an execution early when its quota is known to be used up; "duplicate" for a repeat. */
    async check(
      tenantId: NewExecution["tenantId"],
      quota: number | undefined,
      keyed: KeyedCall | undefined,
    ): Promise<"duplicate" | "within"> {
      if (quota === undefined || !quotas().isUsedUp({ tenantId, operation: executeQuota, limit: quota }))
        return "within";
      return refuse(quota, keyed);
    },

    /** Commits that an execution starts; throws QUOTA_EXCEEDED without storing anything. */
    async begin(input: MeteredBeginning, keyed: KeyedCall | undefined): Promise<Begun> {
      const begun = await beginnings.run(input);
      return begun === "over_quota" ? refuse(input.quota!, keyed) : begun;
    },

    /** Commits the outcome of an execution. A lost connection is no reason to lose an outcome, so it is tried again. */
    async settle(settlement: ExecutionSettlement): Promise<void> {
      const stored = await writePersistently(
        () => settlements.run(settlement),
        (error) =>
          log.warn({ err: error, execution_id: settlement.id }, "storing the outcome of a connector action failed"),
      );
      if (!stored) log.warn({ execution_id: settlement.id }, "the outcome of a connector action was stored before");
    },

    /** Resolves when nothing is being stored. */
    async idle(): Promise<void> {
      await beginnings.idle();
      await settlements.idle();
    },
  };
}

function takeOf({ execution: { tenantId }, quota }: MeteredBeginning): QuotaRequest {
  return { tenantId, operation: executeQuota, limit: quota!, count: 1 };
}

function eventOf({ execution, outcome, endedAtMs }: ExecutionSettlement) {
  const startedAtMs = outcome.attempts[0]?.startedAtMs ?? endedAtMs;
  return endEvent(execution, outcome, { attempts: outcome.attempts.length, durationMs: endedAtMs - startedAtMs });
}
