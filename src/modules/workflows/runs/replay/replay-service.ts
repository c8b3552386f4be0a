import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type IdempotencyRecord, type KeyedCall, unlessRepeated } from "../../../../platform/idempotency/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Definitions, Json, PublishedVersion } from "../../definitions/index.ts";
import type { Environments } from "../../environments/index.ts";
import { deadLetterStore } from "../dead-letters/dead-letter-store.ts";
import { bytesOf, stateBytesMax, stateTooLargeMessage } from "../domain/engine/size-limits.ts";
import type { RunState } from "../domain/engine/state.ts";
import { planReplay, type ReplayPlan } from "../domain/replay/replay-plan.ts";
import type { Run } from "../domain/run.ts";
import type { PlanCache } from "../plan-cache.ts";
import { toRun } from "../run-engine.ts";
import type { RunService } from "../run-service.ts";
import { letterOf } from "../run-write-builder.ts";
import { checkRunInput } from "../start/run-input.ts";
import type { PreparedRun, RunStarter } from "../start/run-starter.ts";
import { runStore } from "../storage/run-store.ts";
import type { RunEventWrite } from "../storage/run-write.ts";
import type { StartRefusal } from "../storage/run-writer.ts";

/** A request to replay a run. */
export interface ReplayInput {
  /** Undefined: the step that failed. Empty: the beginning. */
  readonly fromStep: string | undefined;
  /** 0: the version of the run. -1: the active version. */
  readonly version: number;
  /** Undefined: the input of the run. */
  readonly input: Json | undefined;
  readonly values: Readonly<Record<string, Json>>;
  readonly reason: string;
}

/** A replay that is possible. */
export interface PlannedReplay {
  readonly source: Run;
  readonly published: PublishedVersion;
  readonly replay: ReplayPlan;
}

/** A planned replay, and what is stored with its run. */
export interface StoredReplay<T> {
  readonly planned: PlannedReplay;
  readonly toResponse: (run: Run) => T;
  /** The record of the response under the idempotency key of the call. */
  readonly record?: ((response: T) => IdempotencyRecord) | undefined;
  /** Changes the dead letter in the transaction that stores the run. Nothing is stored if it returns false. */
  readonly change: (tx: Sql, newRunId: string) => Promise<boolean>;
  /** Events that are stored with the run. */
  readonly events?: (newRunId: string) => readonly RunEventWrite[];
  readonly reason: string;
}

interface Dependencies extends Pick<PlatformServices, "db" | "shares"> {
  readonly definitions: Pick<Definitions, "resolve">;
  readonly environments: Environments;
  readonly plans: PlanCache;
  readonly starter: RunStarter;
  readonly getRun: RunService["getRun"];
}

const inputBytesMax = 128 * 1024;

/** Replays ended runs. */
export type ReplayService = ReturnType<typeof createReplayService>;

export function createReplayService({ db, shares, definitions, environments, plans, starter, getRun }: Dependencies) {
  /** Plans a replay; throws if it is not possible. */
  async function plan(context: Context, source: Run, input: ReplayInput): Promise<PlannedReplay> {
    const { tenantId, nowMs } = context;
    if (source.endedAt === null) {
      throw fail("FAILED_PRECONDITION", {
        public: `Only runs that have ended can be replayed: the run is ${source.status}. Cancel it first.`,
      });
    }
    if (input.input !== undefined && Buffer.byteLength(JSON.stringify(input.input)) > inputBytesMax) {
      throw invalid("input", "max_bytes", "must be at most 128 KiB as JSON");
    }
    await environments.require(context, source.environmentId);
    const published = await resolveVersion(context, source, input.version);
    const { definitionId, version, definition } = published;
    const oldPlan = await plans.get(tenantId, definitionId, source.version);
    const newPlan = version === source.version ? oldPlan : await plans.get(tenantId, definitionId, version);
    // A replay from the beginning needs no history.
    const isFresh = input.fromStep === "" || (input.fromStep === "start" && !newPlan.steps.has("start"));
    const history = isFresh ? [] : await runStore(db.sql).allHistory(tenantId, source);
    if (history === undefined) throw historyExpired(source);
    const slices = shares.forCall(tenantId);
    if (slices.isOver()) await slices.next();
    const { id: runId, status, error, stateJson } = source;
    const { input: oldInput } = JSON.parse(stateJson) as RunState;
    const replay = planReplay(
      { runId, status, error, history, plan: oldPlan, input: oldInput },
      newPlan,
      { from: input.fromStep, input: input.input, values: input.values },
      nowMs,
    );
    if ("refusals" in replay) throw replayRefused(source, replay.refusals);
    const refusal = checkRunInput(definition, replay.state.input);
    if (refusal !== undefined) throw invalid("input", "schema", refusal);
    const { replay: _, ...held } = replay.state;
    if (bytesOf(held as unknown as Json) > stateBytesMax) throw invalid("values", "max_bytes", stateTooLargeMessage);
    return { source, published, replay };
  }

  async function resolveVersion({ tenantId }: Context, source: Run, wanted: number): Promise<PublishedVersion> {
    const version = wanted === 0 ? source.version : wanted < 0 ? undefined : wanted;
    const published = await definitions.resolve(tenantId, source.definitionId, version);
    if (published === undefined) {
      throw fail("NOT_FOUND", { public: `The definition ${source.origin.definition} has no version ${wanted}.` });
    }
    if (published.archived) {
      throw fail("FAILED_PRECONDITION", { public: `The workflow definition "${published.key}" is archived.` });
    }
    if (published.version < source.version) {
      throw invalid("version", "gte", `must not be older than the version of the run, which is ${source.version}`);
    }
    return published;
  }

  /** Starts a planned replay. Returns "unchanged" if the change was not made. */
  async function start<T extends object>(
    context: Context,
    { planned, toResponse, record, change, events, reason }: StoredReplay<T>,
  ): Promise<T | "unchanged" | StartRefusal> {
    const { tenantId, nowMs, principal } = context;
    const { source, published, replay } = planned;
    const newPlan = await plans.get(tenantId, published.definitionId, published.version);
    const quota = context.takeQuota("workflow.run", 1);
    const receipt = quota === undefined ? undefined : await quota;
    let response: T | undefined;
    const respond = ({ run, advance, write }: PreparedRun): T => {
      response = toResponse(toRun(run, advance, write.stateJson, nowMs));
      return response;
    };
    const prepared = await starter.prepare(
      newPlan,
      {
        ...{ tenantId, environmentId: source.environmentId, runKey: source.runKey, input: replay.state.input },
        ...{ parentRunId: "", state: replay.state },
        origin: {
          ...{
            environment: source.origin.environment,
            definition: published.key,
            by: principal.subject,
            via: "replay",
          },
          replayOf: { runId: source.id, from: replay.from, letter: letterOf(source), reason },
          ...(source.origin.attributes !== undefined && { attributes: source.origin.attributes }),
          ...(source.origin.trigger !== undefined && { trigger: source.origin.trigger }),
        },
      },
      record && ((run) => record(respond(run))),
    );
    response ??= respond(prepared);
    const added = events?.(prepared.run.id) ?? [];
    const write = { ...prepared.write, events: [...prepared.write.events, ...added] };
    const result = await starter
      .storeWith({ ...prepared, write }, async (tx) => {
        await takeOverCompensations(tx, tenantId, planned);
        return change(tx, prepared.run.id);
      })
      .catch(async (error) => {
        await receipt?.refund(1).catch(() => {});
        throw error;
      });
    if (result === "started") return response;
    await receipt?.refund(1).catch(() => {});
    return result;
  }

  return {
    plan,
    start,
    /** Replays a run, or only plans it. Its dead letter is replayed with it; this does not count towards the maximum. */
    replayRun<T extends Message>(
      context: Context,
      runId: string,
      input: ReplayInput,
      isDryRun: boolean,
      keyed: KeyedCall | undefined,
      toResponse: (planned: PlannedReplay, run: Run | undefined) => T,
    ): Promise<T | "duplicate"> {
      const { tenantId, principal } = context;
      return unlessRepeated(db.sql, keyed, async () => {
        const source = await getRun(context, runId);
        const planned = await plan(context, source, input);
        if (isDryRun) return toResponse(planned, undefined);
        const letter = letterOf(source);
        const result = await start(context, {
          ...{ planned, reason: input.reason, record: keyed?.record },
          toResponse: (run: Run) => toResponse(planned, run),
          change: (tx, newRunId) => deadLetterStore(tx).noteReplay(tenantId, letter, newRunId, principal.subject),
        });
        if (result === "run_key_taken") throw runKeyTaken(source);
        if (result === "unchanged") {
          throw fail("FAILED_PRECONDITION", {
            public: `The dead letter ${letter} of the run is quarantined. Release it first.`,
          });
        }
        return result;
      });
    },
  };
}

/**
 * Removes the failed compensations of steps that a replay keeps: from now on, they belong to the replay. Otherwise a retry could
 * undo what the replay relies on.
 */
async function takeOverCompensations(tx: Sql, tenantId: TenantId, { source, replay }: PlannedReplay): Promise<void> {
  const state = JSON.parse(source.stateJson) as RunState;
  const kept = new Set(replay.state.replay?.kept.undo.map(({ key }) => key));
  const { ending } = state;
  const left = ending?.failures.filter(({ undo }) => !kept.has(undo.key));
  if (ending === undefined || left!.length === ending.failures.length) return;
  ending.failures = left!;
  if (await runStore(tx).replaceEnded(tenantId, source, state)) return;
  throw fail("CONFLICT", {
    public: "The run has changed meanwhile: it was replayed, or its compensations were retried. Try again.",
  });
}

/** The error of a replay whose run key another run has. */
export function runKeyTaken({ runKey }: Pick<Run, "runKey">) {
  return fail("CONFLICT", {
    public: `A run with the run key "${runKey}" is in progress. Wait for its end, or cancel it.`,
  });
}

function historyExpired({ id }: Run) {
  const message = "A part of the history of the run has been deleted. Replay it from the beginning.";
  return fail("REPLAY_REFUSED", {
    public: message,
    violations: [{ field: "run_id", rule: "history_expired", message: `${id}: ${message}` }],
  });
}

function replayRefused(
  { id }: Run,
  refusals: readonly { readonly code: string; readonly step: string; readonly message: string }[],
) {
  const shown = refusals.slice(0, shownMax);
  const [first] = shown;
  const more = refusals.length > 1 ? ` (and ${refusals.length - 1} more)` : "";
  return fail("REPLAY_REFUSED", {
    public: `The run ${id} cannot be replayed: ${first!.step === "" ? "" : `${first!.step}: `}${first!.message}${more}`,
    violations: shown.map(({ code, step, message }) => ({ field: step, rule: code, message })),
  });
}

const shownMax = 100;
