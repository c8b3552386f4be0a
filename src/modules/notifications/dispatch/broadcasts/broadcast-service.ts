import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { type Database, notFound, requireFound } from "../../../../platform/db/index.ts";
import type { KeyedCall } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { longestRunMs, type Preferences } from "../../preferences/index.ts";
import type { Topics } from "../../topics/index.ts";
import { type Broadcast, cancellationOf, newBroadcast } from "../domain/broadcast.ts";
import { overriddenContents } from "../domain/plan.ts";
import { serializePayload, type Trigger } from "../domain/trigger.ts";
import { cancelBroadcastRuns } from "../runs/cancellation.ts";
import { queueUnavailable } from "../runs/new-run.ts";
import { type TriggerWriter, triggerQuota } from "../triggers/trigger-writer.ts";
import { broadcastStore } from "./broadcast-store.ts";
import { cancellationStore } from "./cancellation-store.ts";

/** How many deliveries are counted by status. */
const countedMax = 100_000;

interface Dependencies {
  readonly db: Database;
  readonly topics: Pick<Topics, "find" | "cutoff">;
  readonly preferences: Pick<Preferences, "findWorkflow" | "checkContents">;
  readonly events: Pick<EventRecorder, "record">;
  readonly writer: Pick<TriggerWriter, "admitIn">;
  /** Whether a queue is configured. Broadcasts need one. */
  readonly hasQueue: boolean;
  readonly payloadRetentionMs: number;
  readonly wakeExpander: () => void;
}

export type BroadcastService = ReturnType<typeof createBroadcastService>;

export function createBroadcastService({
  db,
  topics,
  preferences,
  events,
  writer,
  hasQueue,
  payloadRetentionMs,
  wakeExpander,
}: Dependencies) {
  return {
    /**
     * Accepts a broadcast. Its payload, its manifest and its expansion work are committed in one transaction; on failure
     * nothing is stored and the call fails.
     */
    async accept<Response extends Message>(
      context: Context,
      trigger: Trigger,
      keyed: KeyedCall | undefined,
      toResponse: (broadcast: Broadcast) => Response,
    ): Promise<Response | "duplicate"> {
      if (!hasQueue) throw queueUnavailable("a topic can only be notified through");
      const { tenantId, nowMs, afterCommit } = context;
      const { body, text } = serializePayload(trigger);
      const workflow = await preferences.findWorkflow(db.sql, context, trigger.workflowKey);
      preferences.checkContents("overrides", overriddenContents(workflow, trigger.overrides));
      const transactionId = ulid(nowMs);
      const admission = { tenantId, quota: context.quotaOf(triggerQuota), count: 1, keyed };
      const accepted = await db.transaction((tx) =>
        writer.admitIn(tx, admission, async () => {
          const topic = requireFound(await topics.find(tx, tenantId, trigger.audience.name), "topic");
          const where = { tenantId, transactionId, topicKey: topic.key, cutoff: await topics.cutoff(tx) };
          const broadcast = newBroadcast(where, trigger, hash("sha256", text, "hex"), nowMs);
          const expiresAt = new Date(nowMs + longestRunMs(workflow?.steps ?? []) + payloadRetentionMs);
          await broadcastStore(tx).insert([{ broadcast, payload: body }], expiresAt);
          const { workflowKey, topicKey } = broadcast;
          const data = { workflow_key: workflowKey, topic_key: topicKey };
          const within = { tenantId, nowMs, afterCommit, sql: tx };
          await events.record(within, "notification.broadcast.accepted", transactionId, data);
          return { response: toResponse(broadcast) };
        }),
      );
      if (accepted === "duplicate") return accepted;
      wakeExpander();
      return accepted.response;
    },

    async getBroadcast({ sql, tenantId }: Context, transactionId: string) {
      const [broadcast, progress] = await Promise.all([
        broadcastStore(sql).find(tenantId, transactionId),
        cancellationStore(sql).progress(tenantId, transactionId, countedMax),
      ]);
      if (broadcast === undefined) throw notFound("broadcast");
      return { broadcast, progress };
    },

    /** Cancels a broadcast. The expander skips the messages that wait. */
    async cancelBroadcast(context: Context, transactionId: string): Promise<Broadcast> {
      const { sql, tenantId, principal, nowMs, afterCommit } = context;
      const store = cancellationStore(sql);
      const broadcast = requireFound(await store.lock(tenantId, transactionId), "broadcast");
      const { status, workflowKey, topicKey, expanded } = broadcast;
      const action = cancellationOf(status, await store.hasWaiting(tenantId, transactionId));
      if (action === "nothing") return broadcast;
      if (action === "refuse") {
        throw fail("FAILED_PRECONDITION", { public: "All messages of the broadcast have been sent or skipped." });
      }
      const cancelled = await store.begin(tenantId, transactionId, principal.subject, new Date(nowMs));
      await cancelBroadcastRuns(context, transactionId);
      const data = { workflow_key: workflowKey, topic_key: topicKey, expanded };
      await events.record(context, "notification.broadcast.cancelled", transactionId, data);
      afterCommit(wakeExpander);
      return cancelled;
    },
  };
}
