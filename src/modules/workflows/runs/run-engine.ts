import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createBatcher, isDataError, mayBeCommitted } from "../../../platform/db/index.ts";
import { type IdempotencyRecord, type KeyClaim, keyName, readUsedKeys } from "../../../platform/idempotency/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { Shards } from "../../../platform/shards/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { TaskDispatch } from "../tasks/index.ts";
import { Advance } from "./domain/engine/advance.ts";
import type { NextRun } from "./domain/engine/advance-result.ts";
import type { Execution } from "./domain/engine/execution.ts";
import type { HistoryEntry } from "./domain/engine/history-entry.ts";
import type { Plan } from "./domain/engine/plan.ts";
import { stateBytesMax, stateTooLarge } from "./domain/engine/size-limits.ts";
import { isAttemptOpen, type Mail, type RunEvent, type RunState, statusOf, wakeTime } from "./domain/engine/state.ts";
import type { Run } from "./domain/run.ts";
import type { PlanCache } from "./plan-cache.ts";
import { toMailWrite, toRunWrite } from "./run-write-builder.ts";
import { findKnownMail, type LeasedTask, type LiveRun, loadLeasedTasks, loadRuns } from "./storage/run-loader.ts";
import type { MailWrite, NewRunWrite, RunWrite } from "./storage/run-write.ts";
import { insertRuns, updateRuns } from "./storage/run-writer.ts";

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
  readonly claim?: KeyClaim | undefined;
  /**
   * Builds the response of the call from the run as this request has left it and from what happened because of it, and the
   * record to store if it was applied. Called before the commit.
   */
  respond?(readRun: () => Run, history: readonly HistoryEntry[]): IdempotencyRecord | undefined;
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
  readonly execution: Execution;
  /** The events that no step has consumed. */
  readonly mail: readonly Mail[];
  /** The task of the request, if it is leased. */
  readonly task: LeasedTask | undefined;
  /** Whether the event of the request was sent to the run before. */
  readonly isKnown: boolean;
}

/** The result of an advance: its run as committed. */
export type CommittedAdvance = Pick<RunAdvance, "run" | "plan" | "advance">;

/**
 * The result of a request. unchanged: there was nothing to apply. not_found: there is no such run, or it has ended.
 * duplicate: the idempotency key was used before.
 */
export type AdvanceResult = "applied" | "unchanged" | "not_found" | "duplicate";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "shares"> {
  readonly plans: PlanCache;
  readonly dispatch: TaskDispatch;
  readonly currentShards: Shards["currentSql"];
  /** Called after every commit, with the committed advances. */
  readonly onCommitted: (committed: readonly CommittedAdvance[]) => void;
  /** Prepares the run that continues another one. */
  readonly prepareNextRun: (run: LiveRun, next: NextRun, mail: readonly Mail[]) => Promise<PreparedNextRun>;
}

/** A run that continues another one, not stored yet. */
type PreparedNextRun = CommittedAdvance & { readonly write: NewRunWrite };

/** The requests for one run that have no result yet, in order of arrival. */
interface RunInbox {
  waiting: WaitingRequest[];
  /** Those that the current advance carries out. */
  taken: readonly WaitingRequest[];
  /** How many the next advance takes at most. */
  limit: number;
}

interface WaitingRequest {
  readonly request: AdvanceRequest;
  resolve(result: AdvanceResult): void;
  reject(error: unknown): void;
}

type RequestResult = AdvanceResult | { readonly error: unknown };

/** The results of requests. A request without one needs another advance. */
type Results = Map<AdvanceRequest, RequestResult>;

/** The advance of one run, not stored yet. */
interface RunAdvance {
  readonly run: LiveRun;
  readonly plan: Plan;
  readonly advance: Advance;
  readonly write: RunWrite;
  /** The results of its requests once it is stored. */
  readonly results: Results;
  /** The run that continues it. */
  readonly next?: PreparedNextRun | undefined;
}

/** How often in a row a run is read again because another node has changed it meanwhile. */
const conflictsMax = 50;
/** The maximum number of requests that one advance of a run carries out. */
const requestsMax = 1000;
/** How much state the responses of one advance show together. The rest waits for the next one, so that other calls get a turn. */
const shownCharsMax = 2_000_000;
/** How many steps of expressions the requests of one advance take together before the rest waits for the next one. */
const expressionStepsMax = 50_000;

/** Advances runs: reads them, applies events, and stores the results of many runs with one statement. */
export type RunEngine = ReturnType<typeof createRunEngine>;

/** Creates the engine of this node. */
export function createRunEngine(dependencies: Dependencies) {
  const { db, clock, shares, plans, dispatch, currentShards, onCommitted, prepareNextRun } = dependencies;
  const inboxes = new Map<string, RunInbox>();
  const batcher = createBatcher<RunInbox, Results>({
    lanes: 4,
    batchMax: 200,
    concurrentMin: 20,
    async flush(batch) {
      for (const inbox of batch) inbox.taken = inbox.waiting.slice(0, inbox.limit);
      const results = await advanceOnce(batch.flatMap(({ taken }) => taken.map(({ request }) => request)));
      return batch.map(() => results);
    },
  });

  /**
   * Advances a run until its inbox is empty. What arrives while an advance is in flight shares the next one, so a node never
   * competes with itself for a run. A run that needs another advance joins a later batch, so the rest of this one does not
   * wait for it.
   */
  async function emptyInbox(name: string, tenantId: TenantId, inbox: RunInbox): Promise<void> {
    let conflicts = 0;
    while (inbox.waiting.length > 0) {
      const slices = shares.forCall(tenantId);
      if (slices.isOver()) await slices.next();
      try {
        const results = await batcher.run(inbox);
        const open = inbox.waiting.filter((each) => !settleRequest(each, results.get(each.request)));
        conflicts = open.length === inbox.waiting.length ? conflicts + 1 : 0;
        inbox.waiting = open;
        inbox.limit = requestsMax;
        if (conflicts === conflictsMax) {
          rejectTaken(inbox, fail("UNAVAILABLE", { public: "The run changes too often at the moment. Try again." }));
        }
      } catch (error) {
        // Only the request that the database refuses fails: search for it in halves.
        if (isDataError(error) && inbox.taken.length > 1) inbox.limit = inbox.taken.length >> 1;
        else rejectTaken(inbox, error);
      }
    }
    inboxes.delete(name);
  }

  /** Reads, advances and writes the runs of requests. */
  async function advanceOnce(requests: readonly AdvanceRequest[]): Promise<Results> {
    const results: Results = new Map();
    const groups = Map.groupBy(requests, ({ tenantId, runId }) => `${tenantId}:${runId}`);
    const refs = [...groups.values()].map(([first]) => ({ tenantId: first!.tenantId, id: first!.runId }));
    const [runs, tasks] = await Promise.all([
      loadRuns(db.genericPlans.sql, refs),
      loadLeasedTasks(
        db.genericPlans.sql,
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
        const advanced = advanceRun(run, plan, group, { taskById, known, results });
        if (advanced !== undefined) advances.push(await withNextRun(advanced));
      } catch (error) {
        for (const request of group) if (!results.has(request)) results.set(request, { error });
      }
    }
    for (const request of [...groups.values()].flat()) if (!results.has(request)) results.set(request, "not_found");
    await commit(advances, results);
    return results;
  }

  /** Applies the requests for one run to it, in order; undefined if nothing changed. */
  function advanceRun(
    run: LiveRun,
    plan: Plan,
    requests: readonly AdvanceRequest[],
    facts: {
      readonly taskById: ReadonlyMap<string, LeasedTask>;
      readonly known: ReadonlySet<string>;
      readonly results: Results;
    },
  ): RunAdvance | undefined {
    const nowMs = clock.now();
    const begin = () => createAdvance(run, plan, nowMs);
    let advance = begin();
    const applied: AdvanceRequest[] = [];
    /** The events and the keys of the requests that were applied. */
    const [events, keys] = [new Set<string>(), new Set<string>()];
    const newMail: MailWrite[] = [];
    let records: (IdempotencyRecord | undefined)[] = [];
    let shownChars = 0;
    let shown = { appliedCount: 0, stateJson: run.stateJson };
    const showRun = () => {
      const appliedCount = applied.length;
      if (shown.appliedCount !== appliedCount) shown = { appliedCount, stateJson: JSON.stringify(advance.state) };
      shownChars += shown.stateJson.length;
      return toRun(run, advance, shown.stateJson, nowMs, appliedCount === 0 ? run.revision : run.revision + 1);
    };
    const applyRequest = (request: AdvanceRequest): AdvanceResult => {
      const { taskId, eventId, claim } = request;
      if (claim !== undefined && keys.has(keyName(claim))) return "duplicate";
      if (advance.ended !== undefined) return "not_found";
      const event = request.toEvent({
        ...{ run, plan, state: advance.state, execution: advance, mail: advance.mail },
        task: taskId === undefined ? undefined : facts.taskById.get(`${run.tenantId}:${taskId}`),
        isKnown: eventId !== undefined && (events.has(eventId) || facts.known.has(`${run.id}:${eventId}`)),
      });
      const isApplied = event !== undefined && !isLate(advance.state, event);
      const before = advance.history.length;
      if (isApplied) {
        if (event.kind === "mail") newMail.push(toMailWrite(event.mail));
        advance.apply(event);
        applied.push(request);
        if (eventId !== undefined) events.add(eventId);
        if (claim !== undefined) keys.add(keyName(claim));
      }
      const record = request.respond?.(showRun, advance.history.slice(before));
      if (isApplied) records.push(record);
      return isApplied ? "applied" : "unchanged";
    };
    // Results may depend on earlier requests of this advance, so they are valid once it is stored.
    const results: Results = new Map();
    for (const request of requests) {
      if (shownChars > shownCharsMax || advance.meter.steps > expressionStepsMax) break;
      try {
        results.set(request, applyRequest(request));
      } catch (error) {
        results.set(request, { error });
      }
    }
    if (applied.length === 0) {
      for (const [request, result] of results) facts.results.set(request, result);
      return undefined;
    }
    const build = () =>
      toRunWrite(run, advance, { nowMs, reserve: dispatch.reserve, newMail, unread: run.mail.length });
    let write = build();
    // The engine bounds what steps add. Results that a paused run keeps are not part of a step yet.
    if (isTooLarge(write)) {
      settle(run, write, false);
      advance = begin();
      advance.apply({ kind: "abort", error: stateTooLarge() });
      write = build();
      records = applied.map(({ respond }) => respond?.(() => toRun(run, advance, write.stateJson, nowMs), []));
      // The others have not seen the run as it is stored now.
      const stored = new Set(applied);
      for (const request of requests) if (!stored.has(request)) results.delete(request);
    }
    const epoch = applied.every(({ epoch }) => epoch !== undefined) ? applied[0]!.epoch : undefined;
    if (epoch !== undefined) write = { ...write, epoch: { shard: run.shard, epoch } };
    write = { ...write, records: records.filter((record) => record !== undefined) };
    return { run, plan, advance, write, results };
  }

  async function commit(advances: readonly RunAdvance[], results: Results): Promise<void> {
    if (advances.length === 0) return;
    const written = await store(advances).catch((error) => {
      for (const advance of advances) settleAll(advance, mayBeCommitted(error) ? undefined : false);
      throw error;
    });
    const committed: CommittedAdvance[] = [];
    for (const [nth, advanced] of advances.entries()) {
      settleAll(advanced, written.has(nth));
      for (const [request, result] of advanced.results) {
        if (written.has(nth)) results.set(request, result);
        // An owner that lost its shard must not try again.
        else if (request.epoch !== undefined) results.set(request, "unchanged");
      }
      if (!written.has(nth)) continue;
      committed.push(advanced);
      if (advanced.next !== undefined) committed.push(advanced.next);
    }
    if (committed.length > 0) onCommitted(committed);
  }

  /** Prepares the run that continues one, if there is one. */
  async function withNextRun(advanced: RunAdvance): Promise<RunAdvance> {
    const { run, advance } = advanced;
    const next = advance.ended?.next;
    if (next === undefined) return advanced;
    try {
      return { ...advanced, next: await prepareNextRun(run, next, advance.mail) };
    } catch (error) {
      settleAll(advanced, false);
      throw error;
    }
  }

  /** Stores advances, and runs that continue others in the same transaction. Returns the positions of what was stored. */
  async function store(advances: readonly RunAdvance[]): Promise<ReadonlySet<number>> {
    const writes = advances.map(({ write }) => write);
    if (advances.every(({ next }) => next === undefined)) {
      return updateRuns(db.genericPlans.sql, writes, currentShards);
    }
    return db.genericPlans.transaction(async (tx) => {
      const written = await updateRuns(tx, writes, currentShards);
      const started = advances.flatMap(({ next }, nth) => (next !== undefined && written.has(nth) ? [next.write] : []));
      if (started.length > 0 && (await insertRuns(tx, started)).size > 0) {
        throw fail("UNAVAILABLE", { public: "The run could not be continued. Try again." });
      }
      return written;
    });
  }

  function settleAll({ run, write, next }: RunAdvance, committed: boolean | undefined): void {
    settle(run, write, committed);
    if (next !== undefined) settle(next.run, next.write, committed);
  }

  const settle = (run: LiveRun, write: RunWrite, committed: boolean | undefined) =>
    settleReservations(dispatch, run, write, committed);

  return {
    /** Advances a run; resolves after the commit. */
    advance(request: AdvanceRequest): Promise<AdvanceResult> {
      const { tenantId, runId } = request;
      const name = `${tenantId}:${runId}`;
      return new Promise((resolve, reject) => {
        const waiting = { request, resolve, reject };
        const inbox = inboxes.get(name);
        if (inbox !== undefined) {
          inbox.waiting.push(waiting);
          return;
        }
        const created: RunInbox = { waiting: [waiting], taken: [], limit: requestsMax };
        inboxes.set(name, created);
        void emptyInbox(name, tenantId, created);
      });
    },
    idle: batcher.idle,
  };
}

/** Settles a request that has a result; returns false for one that has none. */
function settleRequest({ resolve, reject }: WaitingRequest, result: RequestResult | undefined): boolean {
  if (typeof result === "object") reject(result.error);
  else if (result !== undefined) resolve(result);
  return result !== undefined;
}

/** Rejects the requests of the current advance. */
function rejectTaken(inbox: RunInbox, error: unknown): void {
  for (const { reject } of inbox.taken) reject(error);
  inbox.waiting = inbox.waiting.slice(inbox.taken.length);
  inbox.limit = requestsMax;
}

/** Whether an event is the outcome of an attempt that has one already, perhaps since an earlier request of the same batch. */
function isLate(state: RunState, event: RunEvent): boolean {
  return "attempt" in event && !isAttemptOpen(state, event.key, event.attempt);
}

/** Starts an advance of a stored run. */
export function createAdvance(run: LiveRun, plan: Plan, nowMs: number): Advance {
  const state = JSON.parse(run.stateJson) as RunState;
  return new Advance(plan, state, {
    nowMs,
    isAwaited: run.parentRunId !== "",
    stateBytes: Buffer.byteLength(run.stateJson),
    mail: run.mail,
    run: runVariable(run, plan, state.startedAtMs || nowMs),
    newId: () => ulid(nowMs),
  });
}

/** A run as it is after an advance. */
export function toRun(
  run: LiveRun,
  { state, ended }: Advance,
  stateJson: string,
  nowMs: number,
  revision: number = run.revision + 1,
): Run {
  const { stateJson: _, shard, mail, ...common } = run;
  const wakeMs = ended === undefined ? wakeTime(state, nowMs) : undefined;
  return {
    ...common,
    status: ended?.status ?? statusOf(state),
    stateJson,
    output: ended?.output ?? null,
    error: ended?.error ?? null,
    revision,
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
