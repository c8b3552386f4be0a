import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Context, KeyedCall } from "../../../../chain/call.ts";
import { type Database, notFound } from "../../../../platform/db/index.ts";
import { completeRecord } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { longestRunMs, type Preferences } from "../../preferences/index.ts";
import type { Topics } from "../../topics/index.ts";
import type { Broadcast } from "../domain/broadcast.ts";
import { overriddenContents } from "../domain/plan.ts";
import { serializePayload, type Trigger } from "../domain/trigger.ts";
import { queueUnavailable } from "../runs/new-run.ts";
import { type TriggerWriter, triggerQuota } from "../triggers/trigger-writer.ts";
import { broadcastStore } from "./broadcast-store.ts";

interface Parts {
  readonly db: Database;
  readonly topics: Pick<Topics, "find" | "cutoff">;
  readonly preferences: Pick<Preferences, "workflow" | "checkContents">;
  readonly events: Pick<EventRecorder, "record">;
  readonly writer: Pick<TriggerWriter, "admitIn">;
  /** Whether a queue is configured. Broadcasts need one. */
  readonly hasQueue: boolean;
  readonly payloadRetentionMs: number;
  readonly wakeExpander: () => void;
}

/** The use cases of broadcasts. */
export type BroadcastService = ReturnType<typeof createBroadcastService>;

/** Creates the broadcast service. */
export function createBroadcastService({
  db,
  topics,
  preferences,
  events,
  writer,
  hasQueue,
  payloadRetentionMs,
  wakeExpander,
}: Parts) {
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
      const workflow = await preferences.workflow(tenantId, trigger.workflowKey);
      preferences.checkContents("overrides", overriddenContents(workflow, trigger.overrides));
      const now = new Date(nowMs);
      const transactionId = ulid(nowMs);
      const accepted = await db.transaction(async (tx) => {
        if ((await writer.admitIn(tx, tenantId, context.quotaOf(triggerQuota), keyed)) === "duplicate") {
          return "duplicate";
        }
        const topic = await topics.find(tx, tenantId, trigger.audience.name);
        if (topic === undefined) throw notFound("topic");
        const broadcast: Broadcast = {
          tenantId,
          transactionId,
          workflowKey: trigger.workflowKey,
          topicKey: topic.key,
          cutoff: await topics.cutoff(tx),
          manifest: {
            channels: trigger.channels ?? null,
            userId: trigger.userId,
            payloadDigest: hash("sha256", text, "hex"),
          },
          status: "accepted",
          position: "",
          expanded: 0,
          total: 0,
          failureCode: "",
          createdAt: now,
          updatedAt: now,
        };
        const longestMs = longestRunMs(workflow?.steps ?? []);
        await broadcastStore(tx).insert(broadcast, body, new Date(nowMs + longestMs + payloadRetentionMs));
        const { workflowKey, topicKey } = broadcast;
        const data = { workflow_key: workflowKey, topic_key: topicKey };
        const within = { tenantId, nowMs, afterCommit, sql: tx };
        await events.record(within, "notification.broadcast.accepted", transactionId, data);
        const response = toResponse(broadcast);
        if (keyed !== undefined) await completeRecord(tx, keyed.record(response));
        return response;
      });
      if (accepted !== "duplicate") wakeExpander();
      return accepted;
    },

    async getBroadcast({ sql, tenantId }: Context, transactionId: string): Promise<Broadcast> {
      const broadcast = await broadcastStore(sql).find(tenantId, transactionId);
      if (broadcast === undefined) throw notFound("broadcast");
      return broadcast;
    },
  };
}
