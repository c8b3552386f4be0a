import type { TenantId } from "../../../../platform/access/index.ts";
import { createBatcher, mayBeCommitted, type Sql } from "../../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { shardOf } from "../../../../platform/shards/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Json } from "../../definitions/index.ts";
import type { TaskDispatch } from "../../tasks/index.ts";
import { Advance } from "../domain/engine/advance.ts";
import type { Plan } from "../domain/engine/plan.ts";
import { stateTooLarge } from "../domain/engine/size-limits.ts";
import { createRunState, type Mail, type RunError, type RunState } from "../domain/engine/state.ts";
import { type RunOrigin, shardCount } from "../domain/run.ts";
import { type CommittedAdvance, isTooLarge, runVariable, settleReservations } from "../run-engine.ts";
import { toMailWrite, toRunWrite } from "../run-write-builder.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import type { NewRunWrite, RunWrite } from "../storage/run-write.ts";
import { insertRuns, type StartRefusal } from "../storage/run-writer.ts";

export interface NewRun {
  readonly tenantId: TenantId;
  /** Default: a new id. */
  readonly id?: string;
  readonly environmentId: string;
  readonly runKey: string;
  readonly input: Json;
  /** When it starts; undefined: now. */
  readonly startAtMs?: number | undefined;
  readonly origin: RunOrigin;
  readonly parentRunId: string;
  /** The events that the run starts with. */
  readonly mail?: readonly Mail[] | undefined;
  /** Why it fails instead of starting. */
  readonly refusal?: RunError | undefined;
  /** The state to start from, for a replay. */
  readonly state?: RunState | undefined;
}

/** A run after its first advance, not stored yet. */
export interface PreparedRun {
  readonly run: LiveRun;
  readonly plan: Plan;
  readonly advance: Advance;
  readonly write: NewRunWrite;
}

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "shares"> {
  readonly dispatch: TaskDispatch;
  readonly onCommitted: (committed: readonly CommittedAdvance[]) => void;
}

export type RunStarter = ReturnType<typeof createRunStarter>;

/** Creates the starter of this node. */
export function createRunStarter({ db, clock, shares, dispatch, onCommitted }: Dependencies) {
  const batcher = createBatcher<PreparedRun, "started" | StartRefusal>({
    lanes: 2,
    batchMax: 500,
    concurrentMin: 50,
    async flush(prepared) {
      const writes = prepared.map(({ write }) => write);
      const refused = await insertRuns(db.sql, writes).catch((error) => {
        const committed = mayBeCommitted(error) ? undefined : false;
        for (const { run, write } of prepared) settleReservations(dispatch, run, write, committed);
        throw error;
      });
      for (const [nth, { run, write }] of prepared.entries()) {
        settleReservations(dispatch, run, write, !refused.has(nth));
      }
      onCommitted(prepared.filter((_, nth) => !refused.has(nth)));
      return prepared.map((_, nth) => refused.get(nth) ?? "started");
    },
  });

  return {
    /** Executes the first steps of a run. Nothing is stored. */
    async prepare(plan: Plan, input: NewRun, record?: (run: PreparedRun) => IdempotencyRecord): Promise<PreparedRun> {
      const slices = shares.forCall(input.tenantId);
      if (slices.isOver()) await slices.next();
      const nowMs = clock.now();
      const { tenantId, environmentId, runKey, origin, parentRunId } = input;
      const id = input.id ?? ulid(nowMs);
      const run: LiveRun = {
        ...{ tenantId, id, environmentId, definitionId: plan.definitionId, version: plan.version, runKey, origin },
        ...{
          parentRunId,
          stateJson: "",
          revision: 0,
          shard: shardOf(id, shardCount),
          createdAt: new Date(nowMs),
          mail: [],
        },
      };
      const isLater = input.startAtMs !== undefined && input.startAtMs > nowMs;
      const begin = () => {
        const state =
          input.state === undefined ? createRunState(input.input, input.startAtMs) : structuredClone(input.state);
        const variable = runVariable(run, plan, nowMs);
        const isAwaited = parentRunId !== "";
        return new Advance(plan, state, { nowMs, run: variable, mail: [], newId: () => ulid(nowMs), isAwaited });
      };
      const build = (advance: Advance, newMail: RunWrite["newMail"]) =>
        toRunWrite(run, advance, { nowMs, reserve: dispatch.reserve, newMail, unread: 0 });
      let advance = begin();
      if (input.refusal !== undefined) advance.apply({ kind: "abort", error: input.refusal });
      else if (!isLater) advance.apply({ kind: "start" });
      // A run that is continued at once is started by the engine, which stores the next run together with its end.
      if (advance.ended?.next !== undefined) advance = begin();
      // A run that needs no event may have ended already.
      const mail = advance.ended === undefined ? (input.mail ?? []) : [];
      for (const each of mail) advance.apply({ kind: "mail", mail: each });
      let written = build(advance, mail.map(toMailWrite));
      if (isTooLarge(written)) {
        settleReservations(dispatch, run, written, false);
        advance = begin();
        advance.apply({ kind: "abort", error: stateTooLarge() });
        written = build(advance, []);
      }
      const prepared = { run, plan, advance };
      const fixed = {
        ...{ definitionId: plan.definitionId, version: plan.version, runKey, shard: run.shard, parentRunId },
        ...{ originJson: JSON.stringify(origin), createdAtMs: nowMs },
      };
      const done: PreparedRun = { ...prepared, write: { ...written, ...fixed } };
      return record === undefined ? done : { ...done, write: { ...done.write, records: [record(done)] } };
    },

    /** Stores a prepared run. Refused if its idempotency key was used before, or if its run key is in use. */
    store: (prepared: PreparedRun): Promise<"started" | StartRefusal> => batcher.run(prepared),

    /**
     * Stores a prepared run and a change of the caller in one transaction. Nothing is stored if the change returns false, or
     * if the run is refused.
     */
    async storeWith(
      prepared: PreparedRun,
      change: (tx: Sql) => Promise<boolean>,
    ): Promise<"started" | "unchanged" | StartRefusal> {
      const { run, write } = prepared;
      const settle = (committed: boolean | undefined) => settleReservations(dispatch, run, write, committed);
      try {
        await db.transaction(async (tx) => {
          if (!(await change(tx))) throw new NotStored("unchanged");
          const [refusal] = (await insertRuns(tx, [write])).values();
          if (refusal !== undefined) throw new NotStored(refusal);
        });
      } catch (error) {
        settle(!(error instanceof NotStored) && mayBeCommitted(error) ? undefined : false);
        if (error instanceof NotStored) return error.result;
        throw error;
      }
      settle(true);
      onCommitted([prepared]);
      return "started";
    },

    idle: batcher.idle,
  };
}

/** Rolls back the transaction of a run that is not stored. */
class NotStored extends Error {
  readonly result: "unchanged" | StartRefusal;

  constructor(result: "unchanged" | StartRefusal) {
    super(result);
    this.result = result;
  }
}
