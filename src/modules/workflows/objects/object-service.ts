import type { Context } from "../../../chain/call.ts";
import { type Failure, fail } from "../../../errors/index.ts";
import { notFound, requireFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import {
  ObjectMismatch,
  type ObjectReader,
  type ObjectStore,
  ObjectStoreError,
  verifyBody,
} from "../../../platform/objects/index.ts";
import type { PlatformServices } from "../../area.ts";
import { contentClassOf, mayLog, type StreamDefinition, type Streams } from "../streams/index.ts";
import { type RequestedRange, resolveRange } from "./domain/byte-range.ts";
import { endedFailure, expiryMs, nextStatus, type ObjectIntent, objectKeyOf, quietAt } from "./domain/intent.ts";
import { intentStore } from "./intent-store.ts";
import type { ObjectMetrics } from "./object-metrics.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly streams: Pick<Streams, "lookup" | "requireAppendable" | "appendInTransaction">;
  readonly store: ObjectStore;
  readonly metrics: ObjectMetrics;
  /** The region of this node and of its object store. */
  readonly region: string;
}

/** A caller's announcement of an object. */
export type AnnouncedObject = Pick<
  ObjectIntent,
  "sha256" | "sizeBytes" | "contentType" | "contentClass" | "schemaRef" | "direction"
>;

/** An intent whose stream was found and checked before the transaction. */
export interface CheckedIntent {
  readonly stream: StreamDefinition;
  readonly intent: ObjectIntent;
}

/** An open download. */
export interface Download {
  readonly intent: ObjectIntent;
  readonly range: RequestedRange;
  readonly bytes: ObjectReader;
}

/** The most deliveries to a stream that can be in progress. */
const openIntentsMax = 1000;

/** The use cases of large objects. */
export type ObjectService = ReturnType<typeof createObjectService>;

export function createObjectService({ db, clock, log, streams, store, metrics, region }: Dependencies) {
  const { lookup } = streams;

  async function requireIntent(
    sql: Context["sql"],
    { tenantId, runId, streamId }: StreamDefinition,
    id: string,
    lock?: "lock",
  ): Promise<ObjectIntent> {
    return requireFound(await intentStore(sql).find({ tenantId, runId, streamId, id }, lock), "object");
  }

  /** Receives bytes with one of the functions of the store. */
  async function receive(
    context: Context,
    intent: ObjectIntent,
    take: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const leftMs = intent.expiresAt.getTime() - context.nowMs;
    const expired = AbortSignal.timeout(Math.max(0, leftMs));
    const signal = AbortSignal.any([context.signal, expired]);
    const startedMs = performance.now();
    try {
      await take(signal);
    } catch (error) {
      if (error instanceof ObjectMismatch) {
        metrics.uploaded(error.reason, 0);
        throw mismatch(error, intent);
      }
      if (expired.aborted) throw endedFailure("expired");
      throw asUnavailable(error);
    } finally {
      // The caller decides how long its body takes.
      context.waited(performance.now() - startedMs);
    }
  }

  return {
    async prepareObject(
      context: Context,
      runId: string,
      streamId: string,
      announced: AnnouncedObject,
    ): Promise<ObjectIntent> {
      const { sql, tenantId, nowMs } = context;
      const stream = await lookup.require(context, runId, streamId, "write");
      if (stream.pins.redaction.length > 0) {
        throw fail("FAILED_PRECONDITION", {
          public:
            "The pins of the stream redact payloads, and the bytes of objects cannot be redacted. Use a stream without redaction.",
        });
      }
      const contentClass = contentClassOf(stream.pins, announced.contentClass);
      await streams.requireAppendable(sql, stream, announced.direction, announced.sizeBytes);
      const intents = intentStore(sql);
      if ((await intents.countOpen(tenantId, stream.streamId)) >= openIntentsMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `${openIntentsMax} objects of the stream are prepared already. Commit or abort some of them first.`,
        });
      }
      const id = ulid(nowMs);
      const expiresAt = new Date(nowMs + expiryMs);
      const intent: ObjectIntent = {
        ...announced,
        ...{ tenantId, id, runId, streamId: stream.streamId, status: "prepared", contentClass },
        idempotencyKey: context.idempotencyKey ?? "",
        authorizationReceiptId: context.requestId,
        objectKey: objectKeyOf(tenantId, id),
        ...{ regions: [], sequence: null, createdBy: context.principal.subject, createdAt: new Date(nowMs), expiresAt },
        ...{ uploadedAt: null, endedAt: null, removeAfter: expiresAt, removedAt: null },
      };
      return intents.insert(intent);
    },

    async getIntent(context: Context, runId: string, streamId: string, id: string): Promise<ObjectIntent> {
      const stream = await lookup.require(context, runId, streamId, "define");
      return requireIntent(context.sql, stream, id);
    },

    /** Stores the bytes of an object, before the transaction that makes it uploaded. */
    async storeBytes(
      context: Context,
      runId: string,
      streamId: string,
      id: string,
      body: AsyncIterable<Uint8Array>,
    ): Promise<CheckedIntent> {
      const stream = await lookup.require(context, runId, streamId, "upload");
      const intent = await requireIntent(context.sql, stream, id);
      const next = nextStatus(intent, "upload", context.nowMs);
      // From now on the removal of the intent includes the bytes in this region.
      if (next === "repeat" || !(await intentStore(context.sql).noteUpload(intent, region))) {
        // Nothing is stored again, but other bytes are refused as they are the first time.
        await receive(context, intent, () => verifyBody(body, intent));
        return { stream, intent };
      }
      await receive(context, intent, (signal) => store.put(intent.objectKey, body, intent, signal));
      metrics.uploaded("stored", intent.sizeBytes);
      // A long upload can outlast the access of its caller.
      await context.recheckAccess();
      return { stream, intent };
    },

    /** Makes an object uploaded, in the transaction of the call. */
    async completeUpload(context: Context, { stream, intent: { id } }: CheckedIntent): Promise<ObjectIntent> {
      const nowMs = clock.now();
      const intent = await requireIntent(context.sql, stream, id, "lock");
      const next = nextStatus(intent, "upload", nowMs);
      return next === "repeat" ? intent : intentStore(context.sql).setUploaded(intent, new Date(nowMs));
    },

    /** Asks the store whether an uploaded object is there, before the transaction that commits it. */
    async checkEvidence(context: Context, runId: string, streamId: string, id: string): Promise<CheckedIntent> {
      const stream = await lookup.require(context, runId, streamId, "write");
      const intent = await requireIntent(context.sql, stream, id);
      const next = nextStatus(intent, "commit", context.nowMs);
      // Only the nodes of a region can ask its store. The status is the evidence of the others.
      if (next !== "repeat" && intent.regions.includes(region)) {
        const stored = await store.stat(intent.objectKey).catch((error: unknown) => {
          throw asUnavailable(error);
        });
        if (stored?.sizeBytes !== intent.sizeBytes) {
          if (mayLog(stream.pins, region)) {
            log.error({ object_key: intent.objectKey }, "the object store has lost an uploaded object");
          }
          throw fail("OBJECT_NOT_UPLOADED", {
            public: "The bytes of the object are not stored any more. Prepare a new object.",
          });
        }
      }
      return { stream, intent };
    },

    /** Appends the record of an object, in the transaction of the call. A repeated call returns the first sequence. */
    async commitObject(context: Context, { stream, intent: { id } }: CheckedIntent): Promise<ObjectIntent> {
      const { sql, nowMs } = context;
      const intent = await requireIntent(sql, stream, id, "lock");
      const next = nextStatus(intent, "commit", nowMs);
      if (next === "repeat") return intent;
      const { objectKey, sha256, sizeBytes, contentType, contentClass, schemaRef, direction } = intent;
      const object = { object_id: id, object_key: objectKey, sha256, size_bytes: sizeBytes, content_type: contentType };
      const record = { object, contentClass, schemaRef, direction, bytes: sizeBytes };
      const { sequence, announce } = await streams.appendInTransaction(sql, stream, record, nowMs);
      const committed = await intentStore(sql).setCommitted(intent, sequence, new Date(nowMs));
      context.afterCommit(() => {
        metrics.ended("committed");
        announce();
      });
      return committed;
    },

    async abortObject(context: Context, runId: string, streamId: string, id: string): Promise<ObjectIntent> {
      const { sql, nowMs } = context;
      const stream = await lookup.require(context, runId, streamId, "write");
      const intent = await requireIntent(sql, stream, id, "lock");
      const next = nextStatus(intent, "abort", nowMs);
      if (next === "repeat") return intent;
      const aborted = await intentStore(sql).setAborted(intent, new Date(nowMs), quietAt(intent, nowMs));
      context.afterCommit(() => metrics.ended("aborted"));
      return aborted;
    },

    /** Opens the bytes of a committed object whose record is kept. */
    async openDownload(
      context: Context,
      runId: string,
      streamId: string,
      id: string,
      { range: requested, ifRange }: { readonly range: string; readonly ifRange: string },
    ): Promise<Download> {
      const stream = await lookup.require(context, runId, streamId, "download");
      const intent = await requireIntent(db.sql, stream, id);
      if (intent.status !== "committed" || intent.removeAfter !== null || intent.removedAt !== null) {
        throw notFound("object");
      }
      if (!intent.regions.includes(region)) throw elsewhere(intent, region);
      const isCurrent = ifRange === "" || ifRange === `"${intent.sha256}"`;
      const range = resolveRange(isCurrent ? requested : "", intent.sizeBytes);
      if (range === undefined) throw unsatisfiable(intent.sizeBytes);
      const bytes = await store.read(intent.objectKey, range, context.signal).catch((error: unknown) => {
        throw asUnavailable(error);
      });
      if (bytes === undefined) {
        throw fail("INTERNAL", { cause: new Error(`The object store has lost the object ${intent.objectKey}.`) });
      }
      return { intent, range, bytes };
    },
  };
}

function mismatch({ reason }: ObjectMismatch, { sizeBytes, sha256 }: ObjectIntent): Failure {
  if (reason === "digest") {
    return fail("OBJECT_MISMATCH", {
      public: `The bytes do not have the announced SHA-256 ${sha256}. Nothing was stored.`,
      extra: { reason },
    });
  }
  return fail("OBJECT_MISMATCH", {
    public: `The body has ${reason === "too_long" ? "more" : "fewer"} than the announced ${sizeBytes} bytes. Nothing was stored.`,
    extra: { reason },
  });
}

function unsatisfiable(sizeBytes: number): Failure {
  return fail("RANGE_NOT_SATISFIABLE", {
    public: `The object has ${sizeBytes} bytes. The range is outside of it.`,
    headers: { "content-range": `bytes */${sizeBytes}` },
  });
}

function elsewhere({ regions }: ObjectIntent, region: string): Failure {
  return fail("REGION_NOT_ALLOWED", {
    public: `The object is stored in other regions than ${region}, the region of this node: ${regions.join(", ")}.`,
    extra: { region, allowed_regions: regions },
  });
}

/** Errors of the store are temporary for callers. Their cause is logged. */
function asUnavailable(error: unknown): unknown {
  if (!(error instanceof ObjectStoreError)) return error;
  return fail("UNAVAILABLE", { public: "The object store is not available. Try again later.", cause: error });
}
