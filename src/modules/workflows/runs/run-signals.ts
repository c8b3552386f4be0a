import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { type Database, requireFound } from "../../../platform/db/index.ts";
import { isRecorded, type KeyedCall } from "../../../platform/idempotency/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { Definitions, Json } from "../definitions/index.ts";
import type { Environments } from "../environments/index.ts";
import type { RunEvent } from "./domain/engine/state.ts";
import type { Run } from "./domain/run.ts";
import type { AdvancedRun } from "./run-engine.ts";
import { requireRoomForMail } from "./run-events.ts";
import type { RunService, StartInput } from "./run-service.ts";
import { runStore } from "./storage/run-store.ts";

/** An event for a run. */
export interface Signal {
  readonly event: string;
  readonly scope: string;
  readonly payload: Json;
  /** Empty for a new id. */
  readonly eventId: string;
}

/** Names the run in progress with a run key. */
export type RunKeyName = Pick<StartInput, "definition" | "environmentId" | "runKey">;

interface Dependencies {
  readonly db: Database;
  readonly definitions: Pick<Definitions, "identify">;
  readonly environments: Environments;
  readonly runs: Pick<RunService, "changeUnlessEnded" | "startRun" | "unlessEnded">;
}

const payloadBytesMax = 64 * 1024;
/** How often a run is looked up by its key because the one that was found has ended. */
const keyRoundsMax = 5;

/** The use cases of events for runs. */
export type RunSignals = ReturnType<typeof createRunSignals>;

/** Creates the functions that send events to runs. */
export function createRunSignals({ db, definitions, environments, runs }: Dependencies) {
  /** Sends an event to a run, unless it has ended. */
  async function signalUnlessEnded<T extends Message>(
    context: Context,
    runId: string,
    signal: Signal,
    keyed: KeyedCall | undefined,
    toResponse: (eventId: string, duplicate: boolean, readRun: () => Run) => T,
  ): Promise<T | "duplicate" | "ended"> {
    const { mail, payloadBytes } = toMail(context, signal);
    let isDuplicate = false;
    const toEvent = ({ mail: unread, isKnown }: AdvancedRun): RunEvent | undefined => {
      isDuplicate = isKnown;
      if (isKnown) return undefined;
      requireRoomForMail(unread, payloadBytes);
      return { kind: "mail", mail };
    };
    // A new id was never used before.
    const checkedId = signal.eventId === "" ? undefined : mail.eventId;
    const respond = (readRun: () => Run) => toResponse(mail.eventId, isDuplicate, readRun);
    return runs.changeUnlessEnded(context, runId, keyed, toEvent, respond, checkedId);
  }

  /** The id of the run in progress with a run key; undefined if there is none. */
  async function findInProgress(
    context: Context,
    { definition, environmentId, runKey }: RunKeyName,
  ): Promise<string | undefined> {
    const { tenantId } = context;
    const environment = await environments.require(context, environmentId);
    const found = requireFound(await definitions.identify(tenantId, definition), "workflow definition");
    return (await runStore(db.sql).findByKey(tenantId, environment.id, found.id, runKey))?.id;
  }

  return {
    /** Sends an event to a run. */
    async signalRun<T extends Message>(
      context: Context,
      runId: string,
      signal: Signal,
      keyed: KeyedCall | undefined,
      toResponse: (eventId: string, duplicate: boolean) => T,
    ): Promise<T | "duplicate"> {
      return runs.unlessEnded(context, runId, await signalUnlessEnded(context, runId, signal, keyed, toResponse));
    },

    /** Starts a run with an event. If a run with the same run key is in progress, that run gets the event. */
    async startWithSignal<T extends Message>(
      context: Context,
      input: StartInput,
      signal: Signal,
      keyed: KeyedCall | undefined,
      toResponse: (run: Run, started: boolean, eventId: string) => T,
    ): Promise<T | "duplicate"> {
      const { mail } = toMail(context, signal, "signal.payload");
      for (let round = 0; round < keyRoundsMax; round++) {
        let inProgress: Run | undefined;
        const started = await runs.startRun(context, { ...input, mail }, keyed, (run, isNew) => {
          if (!isNew) inProgress = run;
          return toResponse(run, isNew, mail.eventId);
        });
        if (inProgress === undefined) return started;
        const respond = (eventId: string, _: boolean, readRun: () => Run) => toResponse(readRun(), false, eventId);
        const result = await signalUnlessEnded(context, inProgress.id, signal, keyed, respond);
        // If it has ended since it was found, a new run can start.
        if (result !== "ended") return result;
      }
      throw fail("UNAVAILABLE", { public: `Runs with the run key "${input.runKey}" end too quickly. Try again.` });
    },

    /** Sends an event to the run in progress with a run key. */
    async signalRunByKey<T extends Message>(
      context: Context,
      name: RunKeyName,
      signal: Signal,
      keyed: KeyedCall | undefined,
      toResponse: (runId: string, eventId: string, duplicate: boolean) => T,
    ): Promise<T | "duplicate"> {
      try {
        for (let round = 0; round < keyRoundsMax; round++) {
          const runId = await findInProgress(context, name);
          if (runId === undefined) break;
          const respond = (eventId: string, duplicate: boolean) => toResponse(runId, eventId, duplicate);
          const result = await signalUnlessEnded(context, runId, signal, keyed, respond);
          // If it has ended since it was found, another run may have the key now.
          if (result !== "ended") return result;
        }
        throw fail("NOT_FOUND", { public: `No run with the run key "${name.runKey}" is in progress.` });
      } catch (error) {
        // A repeated call gets its response even if the run has ended meanwhile.
        if (await isRecorded(db.sql, keyed)) return "duplicate";
        throw error;
      }
    },
  };
}

/** Checks an event, and gives it an id if it has none. */
export function toMail({ nowMs }: Context, { event, scope, payload, eventId }: Signal, field = "payload") {
  const payloadBytes = Buffer.byteLength(JSON.stringify(payload));
  if (payloadBytes > payloadBytesMax) throw invalid(field, "max_bytes", "must be at most 64 KiB as JSON");
  return { mail: { eventId: eventId || ulid(nowMs), event, scope, payload }, payloadBytes };
}
