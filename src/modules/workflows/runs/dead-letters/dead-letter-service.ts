import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../../chain/call.ts";
import { Failure, fail, invalid } from "../../../../errors/index.ts";
import { requireEnvironmentAccess, requireEnvironmentId } from "../../../../platform/access/index.ts";
import { type Database, requireFound } from "../../../../platform/db/index.ts";
import {
  type IdempotencyRecord,
  type KeyedCall,
  recordResponse,
  unlessRepeated,
} from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { Page, PageRows } from "../../../../platform/paging/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { Definitions } from "../../definitions/index.ts";
import type { Run } from "../domain/run.ts";
import { type PlannedReplay, type ReplayInput, type ReplayService, runKeyTaken } from "../replay/replay-service.ts";
import { runStore } from "../storage/run-store.ts";
import type { RunEventWrite } from "../storage/run-write.ts";
import { type DeadLetter, type DeadLetterChange, transitions } from "./dead-letter.ts";
import type { DeadLetterMetrics } from "./dead-letter-metrics.ts";
import { type DeadLetterCounts, type DeadLetterFilter, deadLetterStore } from "./dead-letter-store.ts";

/** The filter of a list, without what the caller may see. */
export type LetterFilter = Omit<DeadLetterFilter, "mode">;

/** A request to replay many dead letters. */
export interface ReplayAllInput extends Pick<LetterFilter, "definitionId" | "environmentId" | "errorCode"> {
  readonly version: number;
  readonly from: "failed_step" | "start";
  readonly maxItems: number;
  /** Only letters after this one. */
  readonly after: string;
  readonly reason: string;
}

/** A dead letter that was not replayed. */
export interface SkippedLetter {
  readonly runId: string;
  readonly reason: "changed" | "run_key_taken" | "quota_exceeded" | "history_expired" | "refused";
  readonly message: string;
}

/** The result of replaying many dead letters. */
export interface ReplayAllResult {
  readonly replayed: number;
  readonly skipped: readonly SkippedLetter[];
  /** The letter to continue after; empty if there are no more. */
  readonly next: string;
}

/** A replay of a dead letter that was stored. */
export interface LetterReplay {
  readonly run: Run;
  readonly planned: PlannedReplay;
  readonly letter: DeadLetter;
}

interface Dependencies {
  readonly db: Database;
  readonly events: Pick<EventRecorder, "wake">;
  readonly definitions: Pick<Definitions, "idOf" | "requireId">;
  readonly replays: ReplayService;
  readonly metrics: DeadLetterMetrics;
}

const itemsDefault = 100;
/** How many replays of one call are in progress at a time. */
const concurrency = 4;

const doneOf = { quarantine: "quarantined", release: "released", discard: "discarded" } as const;

export type DeadLetterService = ReturnType<typeof createDeadLetterService>;

export function createDeadLetterService({ db, events, definitions, replays, metrics }: Dependencies) {
  async function getLetter(context: Context, runId: string, sql = context.sql): Promise<DeadLetter> {
    const letter = requireFound(await deadLetterStore(sql).find(context.tenantId, runId), "dead letter");
    requireEnvironmentAccess(context, letter.environmentKey);
    return letter;
  }

  /** The ids of the definition and the environment that a filter names; throws if one of them does not exist. */
  async function requireKnown(
    context: Context,
    { definitionId, environmentId }: Pick<LetterFilter, "definitionId" | "environmentId">,
  ): Promise<Pick<LetterFilter, "definitionId" | "environmentId">> {
    return {
      environmentId: await requireEnvironmentId(context, environmentId),
      definitionId: await definitions.requireId(context.tenantId, definitionId),
    };
  }

  /** Plans and starts a replay of a letter. The letter is counted and the run is stored in one transaction. */
  async function replay<T extends object>(
    context: Context,
    letter: DeadLetter,
    input: ReplayInput,
    toResponse: (replayed: LetterReplay) => T,
    record?: (response: T) => IdempotencyRecord,
  ): Promise<T | "duplicate" | "unchanged" | "run_key_taken"> {
    const by = context.principal.subject;
    // The latest replay has completed the most steps.
    const source = await runStore(db.sql).find(context.tenantId, letter.replayRunId || letter.runId);
    if (source === undefined) throw runExpired(letter);
    const planned = await replays.plan(context, source, input);
    const replayCount = letter.replayCount + 1;
    const result = await replays.start(context, {
      ...{ planned, record, reason: input.reason },
      toResponse(run: Run): T {
        const replayRunId = run.id;
        const changed: DeadLetter = { ...letter, state: "replayed", replayCount, replayRunId, changedBy: by };
        return toResponse({ run, planned, letter: changed });
      },
      change: (tx, newRunId) => deadLetterStore(tx).claimReplay(letter, newRunId, by),
      events: (newRunId) => [
        newEvent(context, letter, "replayed", {
          ...{ replay_run_id: newRunId, replay_count: replayCount, by },
        }),
      ],
    });
    if (typeof result === "object") metrics.changed("replayed");
    return result;
  }

  /** Replays a letter as it was read. Throws if another run has the run key; "unchanged" if the letter has changed. */
  async function replayUnlessTaken<T extends object>(
    context: Context,
    letter: DeadLetter,
    input: ReplayInput,
    toResponse: (replayed: LetterReplay) => T,
    record?: (response: T) => IdempotencyRecord,
  ): Promise<T | "duplicate" | "unchanged"> {
    const result = await replay(context, letter, input, toResponse, record);
    if (result !== "run_key_taken") return result;
    throw runKeyTaken((await runStore(db.sql).find(context.tenantId, letter.replayRunId || letter.runId))!);
  }

  /** Replays one of many letters. Returns why it was not replayed, or undefined. */
  async function replayOrSkip(
    context: Context,
    letter: DeadLetter,
    input: ReplayInput,
  ): Promise<SkippedLetter | undefined> {
    const { runId } = letter;
    try {
      const result = await replay(context, letter, input, ({ run }) => run);
      if (result === "run_key_taken") {
        return { runId, reason: result, message: "A run with its run key is in progress." };
      }
      if (typeof result === "string") {
        return { runId, reason: "changed", message: "Somebody else has changed it meanwhile." };
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof Failure) || error.entry.retryable) throw error;
      const isExpired = error.violations.some(({ rule }) => rule === "history_expired");
      const reason = error.code === "QUOTA_EXCEEDED" ? "quota_exceeded" : isExpired ? "history_expired" : "refused";
      return { runId, reason, message: error.message };
    }
  }

  return {
    getLetter: (context: Context, runId: string): Promise<DeadLetter> => getLetter(context, runId),

    /** The id of the definition that a filter names by its id or key. */
    definitionIdOf: ({ tenantId }: Context, idOrKey: string): Promise<string> => definitions.idOf(tenantId, idOrKey),

    listPage(context: Context, filter: LetterFilter, page: Page): Promise<PageRows<DeadLetter>> {
      const mode = context.principal.environmentMode;
      return deadLetterStore(context.sql).list(context.tenantId, { ...filter, mode }, page);
    },

    async getStats(
      context: Context,
      filter: Pick<LetterFilter, "definitionId" | "environmentId">,
    ): Promise<DeadLetterCounts> {
      const known = await requireKnown(context, filter);
      const mode = context.principal.environmentMode;
      return deadLetterStore(context.sql).count(context.tenantId, { ...known, errorCode: "", mode });
    },

    async replayLetter<T extends Message>(
      context: Context,
      runId: string,
      input: ReplayInput,
      keyed: KeyedCall | undefined,
      toResponse: (replayed: LetterReplay) => T,
    ): Promise<T | "duplicate"> {
      return unlessRepeated(db.sql, keyed, async () => {
        const letter = await getLetter(context, runId, db.sql);
        checkReplayable(letter);
        const result = await replayUnlessTaken(context, letter, input, toResponse, keyed?.record);
        if (result === "unchanged") {
          checkReplayable(await getLetter(context, runId, db.sql));
          throw fail("CONFLICT", { public: "The dead letter has changed meanwhile. Try again." });
        }
        return result;
      });
    },

    /** Replays a letter that was found open. False if somebody else has changed it meanwhile. */
    async replayOpen(context: Context, runId: string, input: ReplayInput): Promise<boolean> {
      const letter = await getLetter(context, runId, db.sql);
      return typeof (await replayUnlessTaken(context, letter, input, ({ run }) => run)) === "object";
    },

    /** Replays open letters that match, each in its own transaction. */
    async replayAll<T extends Message>(
      context: Context,
      input: ReplayAllInput,
      keyed: KeyedCall | undefined,
      toResponse: (result: ReplayAllResult) => T,
    ): Promise<T | "duplicate"> {
      const { tenantId, principal } = context;
      const { errorCode, version, from, after, reason } = input;
      if (version !== 0 && input.definitionId === "") {
        throw invalid("version", "needs_definition", "needs definition_id, because versions belong to a definition");
      }
      return unlessRepeated(db.sql, keyed, async () => {
        const known = await requireKnown(context, input);
        const limit = input.maxItems || itemsDefault;
        const filter = { ...known, errorCode, mode: principal.environmentMode };
        const found = await deadLetterStore(db.sql).findReplayable(tenantId, filter, after, limit + 1);
        const letters = found.slice(0, limit);
        const each: ReplayInput = {
          ...{ version, reason, input: undefined, values: {} },
          fromStep: from === "start" ? "" : undefined,
        };
        const skipped: SkippedLetter[] = [];
        let replayed = 0;
        let next = found.length > limit ? letters.at(-1)!.runId : "";
        for (let at = 0; at < letters.length; at += concurrency) {
          const group = letters.slice(at, at + concurrency);
          const isStopped = context.signal.aborted;
          const results = isStopped
            ? []
            : await Promise.all(group.map((letter) => replayOrSkip(context, letter, each)));
          skipped.push(...results.filter((result) => result !== undefined));
          replayed += results.filter((result) => result === undefined).length;
          const overQuota = results.findIndex((result) => result?.reason === "quota_exceeded");
          if (!isStopped && overQuota < 0) continue;
          if (overQuota >= 0 && replayed === 0) throw fail("QUOTA_EXCEEDED", { public: results[overQuota]!.message });
          // "0" sorts before every id.
          next = letters[at + Math.max(overQuota, 0) - 1]?.runId ?? (after || "0");
          break;
        }
        metrics.changed("skipped", skipped.length);
        const response = toResponse({ replayed, skipped, next });
        // A repeat before this record finds the letters replayed, so it replays none of them twice.
        await recordResponse(db.sql, keyed, response);
        return response;
      });
    },

    /** Quarantines, releases or discards a letter in the transaction of the call. */
    async changeLetter(context: Context, runId: string, change: DeadLetterChange, reason: string): Promise<DeadLetter> {
      const letter = await getLetter(context, runId);
      const transition = transitions[change];
      if (letter.state === transition.to) return letter;
      const by = context.principal.subject;
      const event = newEvent(context, letter, doneOf[change], { reason, by });
      const changed = await deadLetterStore(context.sql).change(letter, transition, { by, reason, event });
      if (changed === undefined) {
        const { state } = await getLetter(context, runId);
        throw fail("FAILED_PRECONDITION", {
          public: `The dead letter is ${state}: only letters that are ${transition.from.join(" or ")} can be changed so.`,
        });
      }
      context.afterCommit(() => {
        events.wake(context.tenantId);
        metrics.changed(doneOf[change]);
      });
      return changed;
    },
  };
}

/** Throws if a letter cannot be replayed. */
function checkReplayable({ state, replayCount, maxReplays, replayRunId }: DeadLetter): void {
  const reasons: Readonly<Record<DeadLetter["state"], string | undefined>> = {
    open:
      replayCount < maxReplays
        ? undefined
        : `It has been replayed ${replayCount} times, which is the maximum. Replay its run itself, or discard it.`,
    replayed: `It is replayed by the run ${replayRunId}.`,
    quarantined: "It is quarantined. Release it first.",
    discarded: "It is discarded. Replay its run itself.",
  };
  const reason = reasons[state];
  if (reason !== undefined)
    throw fail("FAILED_PRECONDITION", { public: `The dead letter cannot be replayed: ${reason}` });
}

function newEvent(
  { nowMs }: Context,
  { runId, definitionId, definitionKey }: DeadLetter,
  change: "replayed" | (typeof doneOf)[DeadLetterChange],
  data: Readonly<Record<string, unknown>>,
): RunEventWrite {
  const common = { definition_id: definitionId, definition_key: definitionKey };
  return { id: ulid(nowMs), type: `workflow.dead_letter.${change}`, subject: runId, data: { ...common, ...data } };
}

function runExpired({ runId }: DeadLetter) {
  const message = "The run of the dead letter has been deleted, because its retention has ended.";
  return fail("REPLAY_REFUSED", {
    public: message,
    violations: [{ field: "run_id", rule: "history_expired", message: `${runId}: ${message}` }],
  });
}
