import { createHash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { Failure, fail, invalid } from "../../../errors/index.ts";
import { productionOf } from "../../../platform/access/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import { type KeyedCall, keyName, recordResponse, unlessRepeated } from "../../../platform/idempotency/index.ts";
import type { DeadLetterService } from "./dead-letters/dead-letter-service.ts";
import { statusOf } from "./domain/engine/state.ts";
import type { RunStatus } from "./domain/run.ts";
import type { RunEngine } from "./run-engine.ts";
import type { RunEvents } from "./run-events.ts";
import { type CallerEvent, cancelBy, pauseBy, resumeBy } from "./run-service.ts";
import { type Signal, toMail } from "./run-signals.ts";
import { type ChangedFilter, runStore } from "./storage/run-store.ts";

/** What happens to the runs that match. */
export type RunChange =
  | { readonly kind: "cancel"; readonly reason: string; readonly compensate: boolean }
  | { readonly kind: "pause"; readonly reason: string }
  | { readonly kind: "resume" }
  | { readonly kind: "signal"; readonly signal: Signal }
  | {
      readonly kind: "replay";
      readonly version: number;
      readonly from: "failed_step" | "start";
      readonly reason: string;
    };

export interface ChangeInput extends Omit<ChangedFilter, "inProduction"> {
  readonly change: RunChange;
  /** 0 for the default. */
  readonly maxItems: number;
  readonly after: string;
}

export interface ChangeResult {
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: readonly { readonly runId: string; readonly errorCode: string; readonly errorMessage: string }[];
  readonly next: string;
}

interface Dependencies {
  readonly db: Database;
  readonly engine: Pick<RunEngine, "advance">;
  readonly sendMail: RunEvents["sendMail"];
  readonly replayOpen: DeadLetterService["replayOpen"];
}

const itemsDefault = 100;
/** How many runs of one call are changed at a time. A replay reads a whole history. */
const [concurrency, replayConcurrency] = [50, 4];
const failedStatuses: readonly string[] = ["failed", "timed_out"];

export type ChangeRuns = ReturnType<typeof createRunChanges>;

/** Creates the function that changes the runs that match, each in its own transaction. */
export function createRunChanges({ db, engine, sendMail, replayOpen }: Dependencies) {
  /** Creates the function that changes one run; it returns whether it had any effect. */
  function changeOf(context: Context, change: RunChange, status: RunStatus | ""): (runId: string) => Promise<boolean> {
    const { tenantId } = context;
    if (change.kind === "signal") {
      const { mail } = toMail(context, change.signal, "signal.payload");
      return async (runId) => (await sendMail(tenantId, runId, mail)) === "delivered";
    }
    if (change.kind === "replay") {
      const { version, from, reason } = change;
      const fromStep = from === "start" ? "" : undefined;
      return (runId) => replayOpen(context, runId, { version, reason, fromStep, input: undefined, values: {} });
    }
    const event = eventOf(context, change);
    // The status may have changed since the run was found.
    const toEvent: CallerEvent = (advanced) =>
      status === "" || status === statusOf(advanced.state) ? event(advanced) : undefined;
    return async (runId) => (await engine.advance({ tenantId, runId, toEvent })) === "applied";
  }

  return async <T extends Message>(
    context: Context,
    { change, maxItems, after, ...filter }: ChangeInput,
    keyed: KeyedCall | undefined,
    toResponse: (result: ChangeResult) => T,
  ): Promise<T | "duplicate"> => {
    if (filter.version !== 0 && filter.definitionId === "") {
      throw invalid("version", "needs_definition", "needs definition_id, because versions belong to a definition");
    }
    const { definitionId, environmentId, status, attributes, createdBefore } = filter;
    if ([definitionId, environmentId, status, attributes].every((each) => each === "") && createdBefore === undefined) {
      throw fail("INVALID_ARGUMENT", {
        public: "Say which runs: definition_id, environment_id, status, attributes or created_before.",
      });
    }
    const isReplay = change.kind === "replay";
    if (status !== "" && failedStatuses.includes(status) !== isReplay) {
      throw invalid("status", "in", "must be failed or timed_out for replay, and one of a run in progress otherwise");
    }
    return unlessRepeated(db.sql, keyed, async () => {
      const changeRun = changeOf(context, withEventId(change, keyed), status);
      const { tenantId, principal } = context;
      const matching = { ...filter, inProduction: productionOf(principal) };
      const found = await runStore(db.sql).findMatching(
        tenantId,
        matching,
        after,
        maxItems || itemsDefault,
        isReplay ? "replayable" : "in_progress",
      );
      const refused: { runId: string; errorCode: string; errorMessage: string }[] = [];
      let changed = 0;
      const groupSize = isReplay ? replayConcurrency : concurrency;
      let { ids, next } = found;
      for (let from = 0; from < ids.length; from += groupSize) {
        context.signal.throwIfAborted();
        const group = ids.slice(from, from + groupSize);
        const results = await Promise.allSettled(group.map(changeRun));
        for (const [nth, result] of results.entries()) {
          if (result.status === "fulfilled") changed += result.value ? 1 : 0;
          else if (!(result.reason instanceof Failure)) throw result.reason;
          else {
            const { code, message } = result.reason;
            refused.push({ runId: group[nth]!, errorCode: code, errorMessage: message });
          }
        }
        // The rest would be refused as well.
        const overQuota = refused.find(({ errorCode }) => errorCode === "QUOTA_EXCEEDED");
        if (overQuota === undefined) continue;
        if (changed === 0) throw fail("QUOTA_EXCEEDED", { public: overQuota.errorMessage });
        // "0" sorts before every id.
        next = ids[ids.indexOf(overQuota.runId) - 1] ?? (after || "0");
        ids = ids.slice(0, from + group.length);
      }
      const unchanged = ids.length - changed - refused.length;
      const response = toResponse({ changed, unchanged, refused, next });
      await recordResponse(db.sql, keyed, response);
      return response;
    });
  };
}

function eventOf(context: Context, change: Exclude<RunChange, { readonly kind: "signal" | "replay" }>): CallerEvent {
  switch (change.kind) {
    case "cancel":
      return cancelBy(context, change.reason, change.compensate);
    case "pause":
      return pauseBy(context, change.reason);
    case "resume":
      return resumeBy(context);
  }
}

/** A repeated call sends the same event, also if it was interrupted before its response was stored. */
function withEventId(change: RunChange, keyed: KeyedCall | undefined): RunChange {
  if (change.kind !== "signal" || change.signal.eventId !== "" || keyed === undefined) return change;
  const eventId = createHash("sha256").update(keyName(keyed.claim)).digest("hex").slice(0, 32);
  return { ...change, signal: { ...change.signal, eventId } };
}
