import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../../chain/call.ts";
import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { KeyedCall } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { longestRunMs, type NotificationWorkflow, type Preferences } from "../../preferences/index.ts";
import type { Subscribers } from "../../subscribers/index.ts";
import type { Topics } from "../../topics/index.ts";
import { broadcastStore } from "../broadcasts/broadcast-store.ts";
import { createInitialDeliveries, type InitialDelivery } from "../delivery/initial-delivery.ts";
import { type Broadcast, newBroadcast } from "../domain/broadcast.ts";
import { overriddenContents } from "../domain/plan.ts";
import { type SerializedPayload, serializePayload } from "../domain/trigger.ts";
import type { WakeInbox } from "../inbox/inbox-feed.ts";
import type { MessagePreparer } from "../message/message-preparation.ts";
import type { Recipient, RecipientParts } from "../message/recipients.ts";
import { newRun } from "../runs/new-run.ts";
import type { RunRow } from "../runs/run-store.ts";
import { type BatchedTrigger, type BatchRecipients, readBatchRecipients } from "./batch-recipients.ts";
import { deliveryBatchOf } from "./delivery-batch.ts";
import { type TriggerWriter, triggerQuota } from "./trigger-writer.ts";

/** The outcome of one trigger of a batch. */
export type TriggerResult =
  | {
      readonly kind: "accepted";
      readonly transactionId: string;
      readonly initial: readonly InitialDelivery[];
      /** The run, if the workflow has steps; there are no deliveries then. */
      readonly run: RunRow | undefined;
    }
  | { readonly kind: "broadcast"; readonly broadcast: Broadcast }
  | { readonly kind: "refused"; readonly failure: Failure };

interface Dependencies extends RecipientParts {
  readonly db: Database;
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly subscribers: Pick<
    Subscribers,
    "findMany" | "endpointsOf" | "idsByExternalId" | "previewMany" | "upsertMany"
  >;
  readonly topics: Pick<Topics, "findMany" | "cutoff">;
  readonly preferences: Pick<Preferences, "findWorkflow" | "readLayers" | "resolve" | "checkContents">;
  readonly prepare: MessagePreparer;
  readonly writer: Pick<TriggerWriter, "check" | "admitIn" | "writeUncountedIn">;
  readonly verifiedOnly: boolean;
  readonly payloadRetentionMs: number;
  readonly wakeInbox: WakeInbox;
  readonly wakeDispatch: () => void;
  readonly wakeExpander: () => void;
  readonly wakeRuns: () => void;
  /** Whether messages can be held until quiet hours end. */
  readonly holds: boolean;
}

/** A trigger that passed its checks. */
interface CheckedTrigger extends BatchedTrigger {
  readonly serialized: SerializedPayload;
  readonly workflow: NotificationWorkflow | undefined;
}

/** A trigger that is ready to be stored. */
type Draft = Extract<TriggerResult, { kind: "accepted" | "refused" }> | { readonly kind: "topic" };

/** Attempts to store a batch whose new subscribers other calls keep creating. */
const attemptsMax = 5;

export type TriggerBatchService = ReturnType<typeof createTriggerBatchService>;

/** Creates the batch service. Messages are queued: a batch never waits for a provider. */
export function createTriggerBatchService(dependencies: Dependencies) {
  const { db, events, subscribers, topics, preferences, writer, payloadRetentionMs } = dependencies;

  /** Checks a trigger; throws when it is refused. */
  async function check(context: Context, batched: BatchedTrigger): Promise<CheckedTrigger> {
    const { trigger } = batched;
    const serialized = serializePayload(trigger);
    const workflow = await preferences.findWorkflow(db.sql, context, trigger.workflowKey);
    preferences.checkContents("overrides", overriddenContents(workflow, trigger.overrides));
    return { ...batched, serialized, workflow };
  }

  async function draft(
    { tenantId, nowMs }: Context,
    { trigger, workflow }: CheckedTrigger,
    recipient: Recipient | Failure | undefined,
  ): Promise<Draft> {
    if (recipient === undefined) return { kind: "topic" };
    if (recipient instanceof Failure) return { kind: "refused", failure: recipient };
    const transactionId = ulid(nowMs);
    const about = { ...trigger, tenantId, transactionId, topicKey: "", workflow, nowMs, leaseToken: undefined };
    const run = newRun(about, recipient.subscriber.id, []);
    const initial = run === undefined ? await createInitialDeliveries(dependencies, about, recipient, []) : [];
    return { kind: "accepted", transactionId, initial, run };
  }

  /** Stores the profiles; throws when another call has created one of the new subscribers. */
  async function storeProfiles(context: Context, tx: Sql, profiles: BatchRecipients["profiles"]): Promise<void> {
    if (profiles.length === 0) return;
    const { tenantId, nowMs } = context;
    const newIds = new Map(profiles.map(({ item, preview }) => [item.externalId, preview.id]));
    const stored = await subscribers.upsertMany(
      { tenantId, nowMs, sql: tx },
      profiles.map(({ item }) => item),
      { newIds, keepDeleted: true },
    );
    if (stored.some(({ id }, at) => id !== profiles[at]!.preview.id)) throw new OtherSubscriber();
  }

  /** Refuses the triggers for topics that do not exist. */
  async function refuseUnknownTopics(
    tx: Sql,
    tenantId: TenantId,
    checked: readonly (CheckedTrigger | Failure)[],
    drafts: readonly Draft[],
  ): Promise<readonly Draft[]> {
    const topicOf = (at: number) => (checked[at] as CheckedTrigger).trigger.audience.name;
    const keys = drafts.flatMap(({ kind }, at) => (kind === "topic" ? [topicOf(at)] : []));
    if (keys.length === 0) return drafts;
    const known = await topics.findMany(tx, tenantId, keys);
    return drafts.map((each, at) =>
      each.kind === "topic" && !known.has(topicOf(at)) ? { kind: "refused", failure: notFound("topic") } : each,
    );
  }

  /** Stores the triggers for topics. */
  async function storeBroadcasts(
    { tenantId, nowMs, principal }: Context,
    tx: Sql,
    triggers: readonly (CheckedTrigger | undefined)[],
  ): Promise<(TriggerResult | undefined)[]> {
    if (triggers.every((each) => each === undefined)) return triggers.map(() => undefined);
    const cutoff = await topics.cutoff(tx);
    const results = triggers.map((each): TriggerResult | undefined => {
      if (each === undefined) return undefined;
      const { trigger, serialized } = each;
      const where = { tenantId, transactionId: ulid(nowMs), topicKey: trigger.audience.name, cutoff };
      return {
        kind: "broadcast",
        broadcast: newBroadcast(where, trigger, hash("sha256", serialized.text, "hex"), nowMs),
      };
    });
    const accepted = results.flatMap((result, at) =>
      result?.kind === "broadcast" ? [{ broadcast: result.broadcast, payload: triggers[at]!.serialized.body }] : [],
    );
    const longestMs = Math.max(...triggers.map((each) => longestRunMs(each?.workflow?.steps ?? [])));
    const expiresAt = new Date(nowMs + longestMs + payloadRetentionMs);
    if (accepted.length > 0) await broadcastStore(tx).insert(accepted, expiresAt);
    const entries = accepted.map(({ broadcast: { transactionId: subject, workflowKey, topicKey } }) => ({
      ...{ tenantId, type: "notification.broadcast.accepted" as const, subject },
      data: { workflow_key: workflowKey, topic_key: topicKey },
    }));
    await events.recordMany(tx, entries, nowMs, principal.subject);
    return results;
  }

  /** Stores a batch with its profiles and its idempotency key in one transaction. */
  async function store<Response extends Message>(
    context: Context,
    checked: readonly (CheckedTrigger | Failure)[],
    drafted: readonly Draft[],
    { profiles }: BatchRecipients,
    keyed: KeyedCall | undefined,
    toResponse: (results: readonly TriggerResult[]) => Response,
  ) {
    const { tenantId } = context;
    return db.transaction(async (tx) => {
      const drafts = await refuseUnknownTopics(tx, tenantId, checked, drafted);
      const count = drafts.filter(({ kind }) => kind !== "refused").length;
      const quota = context.quotaOf(triggerQuota);
      return writer.admitIn(tx, { tenantId, quota, count, keyed }, async () => {
        await storeProfiles(context, tx, profiles);
        const broadcasts = await storeBroadcasts(
          context,
          tx,
          drafts.map(({ kind }, at) => (kind === "topic" ? (checked[at] as CheckedTrigger) : undefined)),
        );
        const results = drafts.map((each, at) => (each.kind === "topic" ? broadcasts[at]! : each));
        const batches = results.flatMap((result, at) => {
          if (result.kind !== "accepted") return [];
          const { trigger, serialized, workflow } = checked[at] as CheckedTrigger;
          const { transactionId, initial, run } = result;
          const about = { ...trigger, tenantId, transactionId, topicKey: "", workflow, nowMs: context.nowMs };
          const batch = deliveryBatchOf(
            { ...about, leaseToken: undefined },
            initial,
            run,
            serialized,
            payloadRetentionMs,
          );
          return [{ ...batch, record: undefined }];
        });
        await writer.writeUncountedIn(tx, batches);
        return { response: toResponse(results), results };
      });
    });
  }

  /** Wakes those who wait for what a batch has stored. */
  function wake({ tenantId }: Context, results: readonly TriggerResult[]): void {
    const rows = results.flatMap((result) => (result.kind === "accepted" ? result.initial.map(({ row }) => row) : []));
    dependencies.wakeInbox(
      tenantId,
      rows.flatMap(({ stored_in, subscriber_id }) => (stored_in === "inbox" ? [subscriber_id] : [])),
    );
    if (rows.some(({ status }) => status === "queued")) dependencies.wakeDispatch();
    if (results.some((result) => result.kind === "accepted" && result.run !== undefined)) dependencies.wakeRuns();
    if (results.some(({ kind }) => kind === "broadcast")) dependencies.wakeExpander();
  }

  return {
    /** Accepts a batch. A trigger that is refused does not affect the others. */
    async accept<Response extends Message>(
      context: Context,
      batch: readonly (BatchedTrigger | Failure)[],
      keyed: KeyedCall | undefined,
      toResponse: (results: readonly TriggerResult[]) => Response,
    ): Promise<Response | "duplicate"> {
      const { tenantId, nowMs } = context;
      if ((await writer.check(tenantId, context.quotaOf(triggerQuota), keyed)) === "duplicate") return "duplicate";
      const checked = await Promise.all(
        batch.map((each) => (each instanceof Failure ? each : check(context, each).catch(keepFailure))),
      );
      const valid = checked.filter((each): each is CheckedTrigger => !(each instanceof Failure));
      for (let attempt = 1; ; attempt++) {
        const read = await readBatchRecipients(dependencies, tenantId, valid, nowMs);
        const drafts: Draft[] = [];
        for (const each of checked) {
          if (each instanceof Failure) drafts.push({ kind: "refused", failure: each });
          else drafts.push(await draft(context, each, read.recipients[valid.indexOf(each)]));
        }
        try {
          const stored = await store(context, checked, drafts, read, keyed, toResponse);
          if (stored === "duplicate") return "duplicate";
          wake(context, stored.results);
          return stored.response;
        } catch (error) {
          // Subscribers are never deleted, so the next draft finds the one that another call created.
          if (!(error instanceof OtherSubscriber) || attempt === attemptsMax) throw error;
        }
      }
    },
  };
}

/** Rolls back a batch for a new subscriber that another call has created in the meantime. */
class OtherSubscriber extends Error {}

function keepFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
