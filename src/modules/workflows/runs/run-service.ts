import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { type Failure, fail, invalid, unreachable } from "../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { nextWake, requireFound } from "../../../platform/db/index.ts";
import { isRecorded, type KeyedCall } from "../../../platform/idempotency/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Json } from "../definitions/index.ts";
import type { Environments } from "../environments/index.ts";
import type { HistoryEntry } from "./domain/engine/history-entry.ts";
import { inputLengthMax } from "./domain/engine/size-limits.ts";
import { type Decision, decisionsOf, type Mail, type RunEvent, type RunState } from "./domain/engine/state.ts";
import type { Run, RunOrigin } from "./domain/run.ts";
import { type AdvancedRun, type RunEngine, toRun } from "./run-engine.ts";
import type { StartOutcome, StartRun } from "./start/run-start.ts";
import type { PreparedRun } from "./start/run-starter.ts";
import { runStore } from "./storage/run-store.ts";

export interface StartInput {
  /** The key or the id of the definition. */
  readonly definition: string;
  readonly version: number | undefined;
  readonly environmentId: string;
  readonly input: Json;
  readonly runKey: string;
  readonly startAtMs: number | undefined;
  /** Facts about its origin besides the caller. */
  readonly origin?: Pick<RunOrigin, "trigger" | "attributes">;
  /** An event that the run starts with. */
  readonly mail?: Mail;
}

interface Dependencies extends Pick<PlatformServices, "db" | "signals"> {
  readonly environments: Environments;
  readonly start: StartRun;
  readonly engine: RunEngine;
}

const aheadMsMax = 366 * 86_400_000;

/** The signal that a run has ended. */
export const endTopic = (tenantId: string, runId: string): string => `workflow.run.ended:${tenantId}:${runId}`;

/** The signal that a run that takes updates has advanced. */
export const advanceTopic = (tenantId: string, runId: string): string => `workflow.run.advanced:${tenantId}:${runId}`;

export type RunService = ReturnType<typeof createRunService>;

export function createRunService({ db, signals, environments, start, engine }: Dependencies) {
  async function getRun(context: Context, id: string): Promise<Run> {
    const run = requireFound(await runStore(db.sql).find(context.tenantId, id), "workflow run");
    requireEnvironmentAccess(context, run.origin.environment);
    return run;
  }

  /** Changes a run, unless it has ended. Returns "duplicate" for a repeated call. */
  async function changeUnlessEnded<T extends Message>(
    context: Context,
    runId: string,
    keyed: KeyedCall | undefined,
    toEvent: CallerEvent,
    toResponse: (readRun: () => Run, history: readonly HistoryEntry[]) => T,
    eventId?: string,
  ): Promise<T | "duplicate" | "ended"> {
    const { tenantId } = context;
    let response: T | undefined;
    const result = await engine.advance({
      ...{ tenantId, runId, claim: keyed?.claim },
      ...(eventId !== undefined && { eventId }),
      toEvent(advanced) {
        requireEnvironmentAccess(context, advanced.run.origin.environment);
        return toEvent(advanced);
      },
      respond(readRun, history) {
        response = toResponse(readRun, history);
        return keyed?.record(response);
      },
    });
    if (result === "duplicate") return "duplicate";
    return result === "not_found" ? "ended" : response!;
  }

  /** Throws if a run has ended. */
  async function unlessEnded<T>(context: Context, runId: string, result: T | "ended"): Promise<T> {
    if (result !== "ended") return result;
    const run = await getRun(context, runId);
    const { nextRunId } = JSON.parse(run.stateJson) as RunState;
    const next = nextRunId === undefined ? "" : ` The run ${nextRunId} continues it.`;
    throw fail("FAILED_PRECONDITION", { public: `The run has ended: it is ${run.status}.${next}` });
  }

  /** Changes a run in progress. Returns "duplicate" for a repeated call. */
  async function change<T extends Message>(
    context: Context,
    runId: string,
    keyed: KeyedCall | undefined,
    toEvent: CallerEvent,
    toResponse: (run: Run) => T,
  ): Promise<T | "duplicate"> {
    const respond = (readRun: () => Run) => toResponse(readRun());
    return unlessEnded(context, runId, await changeUnlessEnded(context, runId, keyed, toEvent, respond));
  }

  const stopping = new AbortController();

  /** Waits until a check finds something, at most this long. It is repeated at each signal of a topic and every second. */
  async function waitFor<T>(
    context: Context,
    topic: string,
    untilMs: number,
    check: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const signal = AbortSignal.any([context.signal, stopping.signal]);
    for (;;) {
      const startedMs = performance.now();
      const restMs = untilMs - startedMs;
      if (restMs <= 0 || signal.aborted) return check();
      const woken = nextWake(signals, topic, signal, Math.min(restMs, pollMs));
      try {
        // It may have happened before anybody listened.
        const found = await check();
        if (found !== undefined) return found;
        await woken.reason;
      } finally {
        woken.cancel();
      }
      context.waited(performance.now() - startedMs);
      await context.recheckAccess();
    }
  }

  /** Waits until a run has ended, at most this long. */
  async function waitForEnd(context: Context, run: Run, waitMs: number): Promise<Run> {
    let current = run;
    if (run.endedAt !== null || waitMs <= 0) return run;
    await waitFor(context, endTopic(context.tenantId, run.id), performance.now() + waitMs, async () => {
      current = await getRun(context, run.id);
      return current.endedAt ?? undefined;
    });
    return current;
  }

  return {
    getRun,
    waitForEnd,
    waitFor,
    /** Ends the calls that wait for the end of a run, when the node stops. */
    endWaits: () => stopping.abort(),
    change,
    changeUnlessEnded,
    unlessEnded,

    /** Starts a run. With the key of a run in progress, that run is returned. */
    async startRun<T extends Message>(
      context: Context,
      input: StartInput,
      keyed: KeyedCall | undefined,
      toResponse: (run: Run, started: boolean) => T,
    ): Promise<T | "duplicate"> {
      const { tenantId, nowMs, principal } = context;
      if (JSON.stringify(input.input).length > inputLengthMax) {
        throw invalid("input", "max_bytes", "must be at most 128 KiB as JSON");
      }
      if (input.startAtMs !== undefined && input.startAtMs > nowMs + aheadMsMax) {
        throw invalid("start_at", "max", "must be at most a year ahead");
      }
      const environment = await environments.require(context, input.environmentId);
      let response: T | undefined;
      const respond = ({ run, advance, write }: PreparedRun): T => {
        response = toResponse(toRun(run, advance, write.stateJson, nowMs), true);
        return response;
      };
      const outcome = await start({
        ...{ tenantId, environment, definition: input.definition, version: input.version },
        ...{ input: input.input, runKey: input.runKey, startAtMs: input.startAtMs, mail: input.mail },
        origin: { by: principal.subject, via: "api", ...input.origin },
        takeQuota: () => context.takeQuota("workflow.run", 1),
        record: keyed && ((prepared) => keyed.record(respond(prepared))),
      });
      switch (outcome.kind) {
        case "started":
          return response ?? respond(outcome.prepared);
        case "in_progress":
          // A repeated call gets its first response, though the run that it started is in progress.
          if (await isRecorded(db.sql, keyed)) return "duplicate";
          return toResponse(outcome.run, false);
        case "duplicate":
          return "duplicate";
        case "refused":
          throw refusalFailure(outcome);
        default:
          return unreachable(outcome);
      }
    },
  };
}

/** The event by which a caller changes a run in progress; undefined if there is nothing to change. */
export type CallerEvent = (advanced: AdvancedRun) => RunEvent | undefined;

export function cancelBy({ principal: { subject: by } }: Context, reason: string, compensate: boolean): CallerEvent {
  return () => ({ kind: "cancel", by, reason, compensate });
}

export function pauseBy({ principal: { subject: by } }: Context, reason: string): CallerEvent {
  return ({ state }) => (state.paused ? undefined : { kind: "pause", by, reason });
}

export function resumeBy({ principal: { subject: by } }: Context): CallerEvent {
  return ({ state }) => (state.paused ? { kind: "resume", by } : undefined);
}

/** Approves or rejects an approval step. */
export function decideBy(
  context: Context,
  { step, approved, comment }: { readonly step: string; readonly approved: boolean; readonly comment: string },
): CallerEvent {
  return ({ plan, state }) => {
    const activity = Object.hasOwn(state.active, step) ? state.active[step] : undefined;
    const work = plan.steps.get(step.replace(/\[.*$/, ""))?.work;
    if (activity?.s !== "approval" || work?.kind !== "approval") {
      throw fail("FAILED_PRECONDITION", { public: `No approval is open at the step "${step}".` });
    }
    checkDecision(context, work, decisionsOf(state, step), comment);
    const at = new Date(context.nowMs).toISOString();
    return { kind: "decision", key: step, decision: { by: context.principal.subject, approved, comment, at } };
  };
}

const pollMs = 1000;

function refusalFailure({ reason, message }: StartOutcome & { readonly kind: "refused" }): Failure {
  if (reason === "input") return invalid("input", "schema", message);
  return fail(reason === "unpublished" ? "NOT_FOUND" : "FAILED_PRECONDITION", { public: message });
}

/** Throws if the caller may not decide. */
function checkDecision(
  { principal }: Context,
  work: { readonly by: readonly string[]; readonly commentRequired: boolean },
  earlier: readonly Decision[],
  comment: string,
): void {
  const { subject, roles } = principal;
  const isAllowed = work.by.some((who) => who === `user:${subject}` || roles.some((role) => who === `role:${role}`));
  if (!isAllowed) {
    throw fail("PERMISSION_DENIED", { public: `This approval is for ${work.by.join(", ")}.` });
  }
  if (earlier.some(({ by }) => by === subject)) {
    throw fail("FAILED_PRECONDITION", { public: "You have already decided." });
  }
  if (work.commentRequired && comment.trim() === "") {
    throw invalid("comment", "required", "is required by this approval");
  }
}
