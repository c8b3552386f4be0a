import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { createBatcher, type Database, mayBeCommitted } from "../../../platform/db/index.ts";
import { type Claim, type IdempotencyRecord, keyName, readUsedKeys } from "../../../platform/idempotency/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventLoopShares } from "../../../platform/scheduling/index.ts";
import type { Shards } from "../../../platform/shards/index.ts";
import type { TaskDispatch } from "../tasks/index.ts";
import { Advance } from "./domain/engine/advance.ts";
import type { Plan } from "./domain/engine/plan.ts";
import { stateBytesMax, stateTooLarge } from "./domain/engine/size-limits.ts";
import { isAttemptOpen, type RunEvent, type RunState, statusOf, wakeTime } from "./domain/engine/state.ts";
import type { Run } from "./domain/run.ts";
import type { PlanCache } from "./plan-cache.ts";
import { toRunWrite } from "./run-write-builder.ts";
import { findKnownMail, type LeasedTask, type LiveRun, loadLeasedTasks, loadRuns } from "./storage/run-loader.ts";
import type { MailWrite, RunWrite } from "./storage/run-write.ts";
import { updateRuns } from "./storage/run-writer.ts";

/** A request to advance a run. */
export interface AdvanceRequest {
  readonly tenantId: TenantId;
  readonly runId: string;
  /** The task that the request is about. */
  readonly taskId?: string;
  /** The id of the event that is sent to the run. */
  readonly eventId?: string;
  /** The epoch of the run's shard, if only its owner may make this advance. */
  readonly epoch?: number;
  /** The idempotency key of the call. */
  readonly claim?: Claim | undefined;
  /** Builds the response of the call from the advanced run, and the record to store with it. Called before the commit. */
  respond?(run: Run): IdempotencyRecord | undefined;
  /**
   * The event to apply to the current state; undefined if there is nothing to apply. Throws a Failure to refuse the
   * request. Called again when the run has changed before the event could be stored.
   */
  toEvent(run: AdvancedRun): RunEvent | undefined;
}

/** The current state of a run, for a request to decide on. */
export interface AdvancedRun {
  readonly run: LiveRun;
  readonly plan: Plan;
  readonly state: RunState;
  /** The task of the request, if somebody has leased it. */
  readonly task: LeasedTask | undefined;
  /** Whether the event of the request was sent to the run before. */
  readonly isKnown: boolean;
}

/** What an advance has changed: its run as committed. */
export interface CommittedAdvance {
  readonly run: LiveRun;
  readonly plan: Plan;
  readonly advance: Advance;
}

/**
 * The result of a request. unchanged: there was nothing to apply. not_found: there is no such run, or it has ended.
 * duplicate: the idempotency key was used before.
 */
export type AdvanceResult = "applied" | "unchanged" | "not_found" | "duplicate";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly shares: EventLoopShares;
  readonly plans: PlanCache;
  readonly dispatch: TaskDispatch;
  readonly currentShards: Shards["currentSql"];
  /** Called after every commit, with what has to follow it. */
  readonly onCommitted: (committed: readonly CommittedAdvance[]) => void;
}

/** The advance of one run, not stored yet. */
interface RunAdvance {
  readonly run: LiveRun;
  readonly plan: Plan;
  readonly advance: Advance;
  readonly write: RunWrite;
  /** The requests that it carries out. */
  readonly requests: readonly AdvanceRequest[];
  /** Requests for the same run that have to follow in an advance of their own. */
  readonly later: readonly AdvanceRequest[];
}

/** How often a run is read again because it changed meanwhile. */
const roundsMax = 50;

/** Advances runs: reads them, applies events, and stores the results of many runs with one statement. */
export type RunEngine = ReturnType<typeof createRunEngine>;

/** Creates the engine of this node. */
export function createRunEngine({ db, clock, shares, plans, dispatch, currentShards, onCommitted }: Parts) {
  const batcher = createBatcher<AdvanceRequest, AdvanceResult | { error: unknown }>({
    lanes: 4,
    batchMax: 200,
    concurrentMin: 20,
    async flush(requests) {
      const results = new Map<AdvanceRequest, AdvanceResult | { error: unknown }>();
      let open: readonly AdvanceRequest[] = requests;
      for (let round = 0; open.length > 0; round++) {
        if (round === roundsMax) {
          const error = fail("UNAVAILABLE", { public: "The run changes too often at the moment. Try again." });
          for (const request of open) results.set(request, { error });
          break;
        }
        try {
          open = await advanceOnce(open, results);
        } catch (error) {
          // In the first round nothing is stored yet, so the batcher can find the request that the database refuses.
          if (round === 0) throw error;
          for (const request of open) if (!results.has(request)) results.set(request, { error });
          break;
        }
      }
      return requests.map((request) => results.get(request)!);
    },
  });

  /** Reads, advances and writes the runs of requests. Returns the requests whose run changed meanwhile. */
  async function advanceOnce(
    requests: readonly AdvanceRequest[],
    results: Map<AdvanceRequest, AdvanceResult | { error: unknown }>,
  ): Promise<readonly AdvanceRequest[]> {
    const groups = Map.groupBy(requests, ({ tenantId, runId }) => `${tenantId}:${runId}`);
    const refs = [...groups.values()].map(([first]) => ({ tenantId: first!.tenantId, id: first!.runId }));
    const [runs, tasks] = await Promise.all([
      loadRuns(db.steady.sql, refs),
      loadLeasedTasks(
        db.steady.sql,
        requests.flatMap(({ tenantId, taskId }) => (taskId === undefined ? [] : [{ tenantId, id: taskId }])),
      ),
    ]);
    // Read after the runs: what another node stores before this is seen here, and what it stores after this changes the
    // revision of the run. Otherwise an event or a call that is repeated at the same moment could be applied twice.
    const [known, usedKeys] = await Promise.all([
      findKnownMail(
        db.sql,
        requests.flatMap(({ tenantId, runId, eventId }) =>
          eventId === undefined ? [] : [{ tenantId, runId, eventId }],
        ),
      ),
      readUsedKeys(
        db.sql,
        requests.flatMap(({ claim }) => (claim === undefined ? [] : [claim])),
      ),
    ]);
    for (const request of requests) {
      if (request.claim !== undefined && usedKeys.has(keyName(request.claim))) results.set(request, "duplicate");
    }
    const taskById = new Map(tasks.map((task) => [`${task.tenantId}:${task.id}`, task]));
    const advances: RunAdvance[] = [];
    for (const run of runs) {
      const group = groups.get(`${run.tenantId}:${run.id}`)!.filter((request) => !results.has(request));
      groups.delete(`${run.tenantId}:${run.id}`);
      try {
        const plan = await plans.get(run.tenantId, run.definitionId, run.version);
        const slices = shares.forCall(run.tenantId);
        if (slices.isOver()) await slices.next();
        const advanced = advanceRun(run, plan, group, { taskById, known, results });
        if (advanced !== undefined) advances.push(advanced);
      } catch (error) {
        for (const request of group) if (!results.has(request)) results.set(request, { error });
      }
    }
    for (const request of [...groups.values()].flat()) if (!results.has(request)) results.set(request, "not_found");
    const conflicts = await commit(advances, results);
    return [...conflicts, ...advances.flatMap(({ later }) => later)];
  }

  /** Applies the requests for one run to it; undefined if nothing changed. */
  function advanceRun(
    run: LiveRun,
    plan: Plan,
    requests: readonly AdvanceRequest[],
    facts: {
      readonly taskById: ReadonlyMap<string, LeasedTask>;
      readonly known: ReadonlySet<string>;
      readonly results: Map<AdvanceRequest, AdvanceResult | { error: unknown }>;
    },
  ): RunAdvance | undefined {
    const nowMs = clock.now();
    const begin = () => createAdvance(run, plan, nowMs);
    let advance = begin();
    const applied: AdvanceRequest[] = [];
    const later: AdvanceRequest[] = [];
    const newMail: MailWrite[] = [];
    for (const request of requests) {
      // The response of a call shows the run after its own change only.
      if (applied.length > 0 && (request.respond !== undefined || applied[0]!.respond !== undefined)) {
        later.push(request);
        continue;
      }
      try {
        if (advance.ended !== undefined) {
          facts.results.set(request, "not_found");
          continue;
        }
        const event = request.toEvent({
          ...{ run, plan, state: advance.state },
          task: request.taskId === undefined ? undefined : facts.taskById.get(`${run.tenantId}:${request.taskId}`),
          isKnown: request.eventId !== undefined && facts.known.has(`${run.id}:${request.eventId}`),
        });
        if (event === undefined || isLate(advance.state, event)) {
          facts.results.set(request, "unchanged");
          continue;
        }
        if (event.kind === "mail") {
          const { payload, ...mail } = event.mail;
          newMail.push({ ...mail, payloadJson: JSON.stringify(payload) });
        }
        advance.apply(event);
        applied.push(request);
      } catch (error) {
        facts.results.set(request, { error });
      }
    }
    if (applied.length === 0) return undefined;
    const build = () =>
      toRunWrite(run, advance, { nowMs, reserve: dispatch.reserve, newMail, unread: run.mail.length });
    let write = build();
    // The engine bounds what steps add. Results that a paused run keeps are not part of a step yet.
    if (isTooLarge(write)) {
      settle(run, write, false);
      advance = begin();
      advance.apply({ kind: "abort", error: stateTooLarge() });
      write = build();
    }
    const epoch = applied.every(({ epoch }) => epoch !== undefined) ? applied[0]!.epoch : undefined;
    if (epoch !== undefined) write = { ...write, epoch: { shard: run.shard, epoch } };
    const record = applied[0]!.respond?.(toRun(run, advance, write.stateJson, nowMs));
    return { run, plan, advance, write: { ...write, record }, requests: applied, later };
  }

  async function commit(
    advances: readonly RunAdvance[],
    results: Map<AdvanceRequest, AdvanceResult | { error: unknown }>,
  ): Promise<readonly AdvanceRequest[]> {
    if (advances.length === 0) return [];
    const written = await updateRuns(
      db.steady.sql,
      advances.map(({ write }) => write),
      currentShards,
    ).catch((error) => {
      for (const { run, write } of advances) settle(run, write, mayBeCommitted(error) ? undefined : false);
      throw error;
    });
    const conflicts: AdvanceRequest[] = [];
    const committed: CommittedAdvance[] = [];
    for (const [nth, { run, plan, advance, write, requests }] of advances.entries()) {
      settle(run, write, written.has(nth));
      if (!written.has(nth)) {
        conflicts.push(...requests);
        continue;
      }
      committed.push({ run, plan, advance });
      for (const request of requests) results.set(request, "applied");
    }
    if (committed.length > 0) onCommitted(committed);
    // An owner that lost its shard must not try again.
    for (const request of conflicts.filter(({ epoch }) => epoch !== undefined)) results.set(request, "unchanged");
    return conflicts.filter(({ epoch }) => epoch === undefined);
  }

  const settle = (run: LiveRun, write: RunWrite, committed: boolean | undefined) =>
    settleReservations(dispatch, run, write, committed);

  return {
    /** Advances a run; resolves after the commit. */
    async advance(request: AdvanceRequest): Promise<AdvanceResult> {
      const result = await batcher.run(request);
      if (typeof result === "object") throw result.error;
      return result;
    },
    idle: batcher.idle,
  };
}

/** Whether an event is the outcome of an attempt that has one already, perhaps since an earlier request of the same batch. */
function isLate(state: RunState, event: RunEvent): boolean {
  return "attempt" in event && !isAttemptOpen(state, event.key, event.attempt);
}

/** Starts an advance of a stored run. */
function createAdvance(run: LiveRun, plan: Plan, nowMs: number): Advance {
  const state = JSON.parse(run.stateJson) as RunState;
  return new Advance(plan, state, {
    nowMs,
    stateBytes: Buffer.byteLength(run.stateJson),
    mail: run.mail,
    run: runVariable(run, plan, state.startedAtMs || nowMs),
    newId: () => ulid(nowMs),
  });
}

/** A run as it is after an advance. */
export function toRun(run: LiveRun, { state, ended }: Advance, stateJson: string, nowMs: number): Run {
  const { stateJson: _, shard, mail, ...common } = run;
  const wakeMs = ended === undefined ? wakeTime(state, nowMs) : undefined;
  return {
    ...common,
    status: ended?.status ?? statusOf(state),
    stateJson,
    output: ended?.output ?? null,
    error: ended?.error ?? null,
    revision: run.revision + 1,
    endedAt: ended === undefined ? null : new Date(nowMs),
    wakeAt: wakeMs === undefined ? null : new Date(wakeMs),
  };
}

/** The variable `run` of expressions. */
export function runVariable(
  run: Pick<LiveRun, "id" | "runKey" | "version" | "origin">,
  plan: Pick<Plan, "key">,
  startedAtMs: number,
): Readonly<Record<string, unknown>> {
  return {
    id: run.id,
    key: run.runKey,
    definition: plan.key,
    version: run.version,
    environment: run.origin.environment,
    started_at: new Date(startedAtMs),
  };
}

/** Whether a run that goes on holds more than it may. */
export function isTooLarge({ end, stateJson }: Pick<RunWrite, "end" | "stateJson">): boolean {
  return end === undefined && Buffer.byteLength(stateJson) > stateBytesMax;
}

/** Tells the waiting polls of this node whether the tasks that were reserved for them are stored. */
export function settleReservations(
  dispatch: TaskDispatch,
  { tenantId, id, environmentId }: Pick<LiveRun, "tenantId" | "id" | "environmentId">,
  { newTasks }: Pick<RunWrite, "newTasks">,
  committed: boolean | undefined,
): void {
  for (const { lease, held, inputJson, id: taskId, attemptMs: _, ...task } of newTasks) {
    if (lease === undefined) {
      if (committed !== false && !held) dispatch.wake(tenantId, environmentId, task.queue);
      continue;
    }
    const { token, leaseUntilMs, attemptUntilMs } = lease;
    const leased = {
      ...{ ...task, tenantId, environmentId, runId: id, id: taskId, token, attempt: 1, details: null },
      ...{ input: JSON.parse(inputJson), leaseUntil: new Date(leaseUntilMs), attemptUntil: new Date(attemptUntilMs) },
    };
    dispatch.settle([{ token, committed, task: leased }]);
  }
}
