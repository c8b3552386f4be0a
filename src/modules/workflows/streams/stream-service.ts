import { hash, randomBytes } from "node:crypto";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { canonicalJson } from "../../../platform/crypto/index.ts";
import { lockFor, notFound, requireFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { requireReadable } from "./domain/cursor.ts";
import { type Pins, toPins } from "./domain/pins.ts";
import { checkRedaction } from "./domain/redaction.ts";
import { requireRegion } from "./domain/region.ts";
import { ackTopic, recordTopic, type StreamDefinition, type StreamHead, type StreamRecord } from "./domain/stream.ts";
import type { StreamLookup } from "./stream-lookup.ts";
import { type ConsumerPosition, type StreamState, streamStore } from "./stream-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals"> {
  readonly events: EventRecorder;
  readonly lookup: StreamLookup;
  readonly region: string;
}

export interface FoundStream {
  readonly definition: StreamDefinition;
  readonly state: StreamState;
}

const streamsOfRunMax = 256;
const consumersMax = 256;
const readBytesMax = 1024 * 1024;

/** The use cases of streams, other than append and subscribe. */
export type StreamService = ReturnType<typeof createStreamService>;

export function createStreamService({ db, signals, events, lookup, region }: Dependencies) {
  async function stateOf(sql: Context["sql"], definition: StreamDefinition): Promise<FoundStream> {
    const state = requireFound(await streamStore(sql).readState(definition), "workflow stream");
    return { definition, state };
  }

  return {
    async createStream(context: Context, runId: string, name: string, wanted: Pins): Promise<FoundStream> {
      const { tenantId, sql, nowMs } = context;
      const store = streamStore(sql);
      const run = requireFound(await store.findRun(tenantId, runId), "workflow run");
      requireEnvironmentAccess(context, run.environmentKey);
      const pins = toPins(wanted, region);
      checkRedaction(pins.redaction);
      requireRegion("write", pins, region);
      if (run.ended)
        throw fail("FAILED_PRECONDITION", { public: "The run has ended. Only a run in progress gets streams." });
      if ((await store.countOfRun(tenantId, runId)) >= streamsOfRunMax) {
        throw fail("FAILED_PRECONDITION", { public: `The run has ${streamsOfRunMax} streams already.` });
      }
      const { environmentId, environmentKey } = run;
      const definition: StreamDefinition = {
        ...{ tenantId, runId, streamId: ulid(nowMs), name, environmentId, environmentKey, pins },
        digest: hash("sha256", canonicalJson(pins), "hex"),
        redactionKey: randomBytes(32),
        ...{ createdBy: context.principal.subject, createdAt: new Date(nowMs) },
      };
      if (!(await store.insert(definition))) {
        throw fail("ALREADY_EXISTS", { public: `The run has a stream with the name ${name} already.` });
      }
      await events.record(context, "workflow.stream.created", definition.streamId, {
        ...{ environment_id: environmentId, run_id: runId, name, digest: definition.digest },
      });
      return stateOf(sql, definition);
    },

    async getStream(context: Context, runId: string, streamId: string): Promise<FoundStream> {
      return stateOf(context.sql, await lookup.require(context, runId, streamId, "define"));
    },

    /** Reads records after a cursor. Fewer than the limit are returned if they are large. */
    async readRecords(
      context: Context,
      runId: string,
      streamId: string,
      cursor: number,
      limit: number,
    ): Promise<{ head: StreamHead; records: readonly StreamRecord[] }> {
      const definition = await lookup.require(context, runId, streamId, "read");
      const found = requireFound(
        await streamStore(db.sql).readAfter(definition, cursor, limit, readBytesMax),
        "workflow stream",
      );
      requireReadable(cursor, found.head);
      return found;
    },

    async acknowledge(
      context: Context,
      runId: string,
      streamId: string,
      consumerId: string,
      sequence: number,
    ): Promise<{ head: StreamHead; consumer: ConsumerPosition }> {
      const definition = await lookup.require(context, runId, streamId, "acknowledge");
      const store = streamStore(context.sql);
      const idleMaxS = definition.pins.consumer_idle_max_s;
      const checkAt = idleMaxS === undefined ? null : new Date(context.nowMs + idleMaxS * 1000);
      const acked = requireFound(
        await store.acknowledge(definition, consumerId, sequence, context.nowMs, checkAt),
        "workflow stream",
      );
      const { head, consumer, previous } = acked;
      if (consumer === null) {
        throw sequence > head.lastSequence
          ? invalid("sequence", "future", `must not be after the latest sequence, which is ${head.lastSequence}`)
          : invalid(
              "sequence",
              "regression",
              `must not be before ${previous ?? "the sequence that the consumer has acknowledged"}`,
            );
      }
      if (previous === null && (await store.countConsumers(definition, consumerId)) >= consumersMax) {
        throw fail("FAILED_PRECONDITION", { public: `The stream has ${consumersMax} consumers already.` });
      }
      context.afterCommit(() => signals.wake(ackTopic(definition)));
      return { head, consumer };
    },

    async removeConsumer(context: Context, runId: string, streamId: string, consumerId: string): Promise<FoundStream> {
      const definition = await lookup.require(context, runId, streamId, "remove_consumer");
      if (!(await streamStore(context.sql).removeConsumer(definition, consumerId))) throw notFound("consumer");
      await recordChange(context, "workflow.stream.consumer_removed", definition, {
        consumer_id: consumerId,
        reason: "removed",
      });
      // Records that only it had not acknowledged are not unread any more.
      context.afterCommit(() => signals.wake(ackTopic(definition)));
      return stateOf(context.sql, definition);
    },

    async closeStream(context: Context, runId: string, streamId: string): Promise<FoundStream> {
      const definition = await lookup.require(context, runId, streamId, "write");
      if (await streamStore(context.sql).close(definition, context.nowMs)) {
        await recordChange(context, "workflow.stream.closed", definition);
      }
      context.afterCommit(() => {
        signals.wake(recordTopic(definition));
        // Appends that wait for acknowledgements are rejected now.
        signals.wake(ackTopic(definition));
      });
      return stateOf(context.sql, definition);
    },

    async setLegalHold(
      context: Context,
      runId: string,
      streamId: string,
      held: boolean,
      reason: string,
    ): Promise<FoundStream> {
      const definition = await lookup.require(context, runId, streamId, "hold");
      if (held && reason.trim() === "") throw invalid("reason", "required", "is required to set a legal hold");
      const since = new Date(context.nowMs).toISOString();
      if (held) await lockFor(context.sql, "stream_removals", definition.streamId);
      await streamStore(context.sql).setHold(
        definition,
        held ? { by: context.principal.subject, reason, since } : null,
      );
      await recordChange(context, held ? "workflow.stream.held" : "workflow.stream.released", definition);
      return stateOf(context.sql, definition);
    },
  };

  function recordChange(
    context: Context,
    type: `workflow.stream.${"closed" | "consumer_removed" | "held" | "released"}`,
    { streamId, runId, name, environmentId }: StreamDefinition,
    further: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const data = { environment_id: environmentId, run_id: runId, name, by: context.principal.subject, ...further };
    return events.record(context, type, streamId, data);
  }
}
