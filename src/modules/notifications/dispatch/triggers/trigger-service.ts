import { randomUUID } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../../chain/call.ts";
import { withinField } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { inProgressFailure, type KeyedCall } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { Preferences } from "../../preferences/index.ts";
import type { Subscribers, SubscriberUpsert } from "../../subscribers/index.ts";
import { deliveryStore } from "../delivery/delivery-store.ts";
import { createInitialDeliveries, type InitialDelivery, type TriggerContext } from "../delivery/initial-delivery.ts";
import type { MessageSender } from "../delivery/send-attempt.ts";
import type { DeliveryResultWriter, DeliverySettlement } from "../delivery/settlement.ts";
import type { Delivery } from "../domain/delivery.ts";
import { overriddenContents } from "../domain/plan.ts";
import { type SerializedPayload, serializePayload, type Trigger } from "../domain/trigger.ts";
import type { WakeInbox } from "../inbox/inbox-feed.ts";
import { type MessagePreparer, noRoute } from "../message/message-preparation.ts";
import { createRecipientReader, type Recipient, type RecipientParts, readRecipient } from "../message/recipients.ts";
import { newRun, requireQueue } from "../runs/new-run.ts";
import { deliveryBatchOf } from "./delivery-batch.ts";
import { type TriggerWriter, triggerQuota } from "./trigger-writer.ts";

/** The outcome of one message of a trigger. */
export interface Outcome extends InitialDelivery {
  /** The settlement of its attempt; undefined when no provider was called or has answered yet. */
  readonly settlement: DeliverySettlement | undefined;
}

/** The result of a trigger for one recipient. */
export interface TriggerResult {
  readonly transactionId: string;
  readonly outcomes: readonly Outcome[];
  /** The current deliveries, when another node has settled some of them. */
  readonly current?: ReadonlyMap<string, Delivery>;
  /** The run, if the workflow has steps; there are no outcomes then. */
  readonly runId?: string;
}

/** A trigger for one recipient, and how its response is built. */
export interface SingleTrigger<Response> {
  readonly trigger: Trigger;
  /** The profile to store before the recipient is notified. */
  readonly profile: SubscriberUpsert | undefined;
  readonly keyed: KeyedCall | undefined;
  toResponse(result: TriggerResult): Response;
}

interface Dependencies extends RecipientParts {
  readonly db: Database;
  readonly subscribers: Pick<Subscribers, "findMany" | "endpointsOf" | "idsByExternalId" | "upsert" | "previewUpsert">;
  readonly preferences: Pick<Preferences, "findWorkflow" | "readLayers" | "resolve" | "checkContents">;
  readonly prepare: MessagePreparer;
  readonly send: MessageSender;
  readonly resultWriter: DeliveryResultWriter;
  readonly writer: TriggerWriter;
  readonly verifiedOnly: boolean;
  /** How long a trigger's payload is stored. */
  readonly payloadRetentionMs: number;
  /** Whether messages can wait in a queue, which steps and held messages need. */
  readonly holds: boolean;
  readonly wakeInbox: WakeInbox;
  readonly wakeRuns: () => void;
}

export type TriggerService = ReturnType<typeof createTriggerService>;

export function createTriggerService(dependencies: Dependencies) {
  const { db, subscribers, preferences, send, resultWriter, writer, payloadRetentionMs } = dependencies;
  const { wakeInbox, wakeRuns } = dependencies;
  const recipientReader = createRecipientReader(dependencies);
  const inFlight = new Set<Promise<unknown>>();

  /** Sends messages through their providers; returns the settlements by delivery id. */
  async function sendAll(
    initial: readonly InitialDelivery[],
    leaseToken: string,
  ): Promise<Map<string, DeliverySettlement>> {
    const sent = await Promise.all(
      initial.map(async ({ request, prepared }) => {
        const delivery = {
          ...request.delivery,
          ...noRoute,
          subscriberId: request.subscriber.id,
          endpointId: request.target.endpointId,
          leaseToken,
          executionAttempt: 1,
          reconciliationRequired: false,
          deadLetterId: "",
        };
        const result = await send(request, prepared!, {
          // A send in progress is not cancelled when its caller disconnects.
          signal: neverAborted,
          handedOverTo: prepared?.kind === "outgoing" ? prepared.route.integrationId : "",
          handOver: (route) => resultWriter.handOver(delivery, route),
        });
        return resultWriter.settlementOf(delivery, result);
      }),
    );
    return new Map(sent.map((each) => [each.delivery.id, each]));
  }

  /** Builds the deliveries of a trigger and the response before anything is sent. */
  async function draft<Response extends Message>(
    triggerContext: TriggerContext,
    recipient: Recipient,
    serialized: SerializedPayload,
    toResponse: SingleTrigger<Response>["toResponse"],
  ) {
    const { transactionId } = triggerContext;
    const run = newRun(triggerContext, recipient.subscriber.id, []);
    const initial = run === undefined ? await createInitialDeliveries(dependencies, triggerContext, recipient, []) : [];
    const outcomes = initial.map((each): Outcome => ({ ...each, settlement: undefined }));
    const batch = deliveryBatchOf(triggerContext, initial, run, serialized, payloadRetentionMs);
    const first = toResponse({ transactionId, outcomes, ...(run !== undefined && { runId: run.id }) });
    return { initial, outcomes, first, batch, recipient };
  }
  type Draft<Response extends Message> = Awaited<ReturnType<typeof draft<Response>>>;

  /** Sends the stored deliveries and returns the final response. */
  async function deliver<Response extends Message>(
    { tenantId, transactionId, leaseToken }: TriggerContext,
    { initial, outcomes, first, batch, recipient }: Draft<Response>,
    { keyed, toResponse }: SingleTrigger<Response>,
  ): Promise<Response> {
    if (batch.runs !== undefined) wakeRuns();
    if (initial.some(({ row }) => row.stored_in === "inbox")) wakeInbox(tenantId, [recipient.subscriber.id]);
    const outgoing = initial.filter(({ row }) => row.status === "running");
    if (outgoing.length === 0) return first;
    const settlements = await sendAll(outgoing, leaseToken!);
    const ended = outcomes.map((each) => ({ ...each, settlement: settlements.get(each.row.id) }));
    const last = toResponse({ transactionId, outcomes: ended });
    if (await resultWriter.settle([...settlements.values()], keyed?.record(last))) return last;
    // Some leases expired before the sends finished, so the outcomes of other nodes count.
    return toResponse({ transactionId, outcomes, current: await deliveriesOf(tenantId, [...settlements.keys()]) });
  }

  /**
   * Drafts a trigger for the recipient with its new profile, then stores the profile and the trigger in one transaction:
   * both are stored, once per idempotency key, or neither is. Rendering waits for turns on the event loop, so it happens
   * before the transaction: a waiting call must not hold a connection. A deleted recipient keeps its profile and gets
   * nothing: a trigger never makes it active again.
   */
  async function draftWithProfile<Response extends Message>(
    context: Context,
    triggerContext: TriggerContext,
    serialized: SerializedPayload,
    profile: SubscriberUpsert,
    single: SingleTrigger<Response>,
  ): Promise<Draft<Response> | "duplicate"> {
    const { keyed, toResponse } = single;
    const { tenantId, nowMs } = context;
    const preview = await subscribers.previewUpsert({ tenantId, nowMs, sql: db.sql }, profile).catch((error) => {
      throw withinField("subscriber", error);
    });
    const recipient = await readRecipient(dependencies, db.sql, triggerContext, preview);
    const drafted = await draft(triggerContext, recipient, serialized, toResponse);
    const admission = { tenantId, quota: context.quotaOf(triggerQuota), count: 1, keyed };
    const stored = await db
      .transaction((tx) =>
        writer.admitIn(tx, admission, async () => {
          const writing = { tenantId, nowMs, sql: tx };
          const options = { newId: preview.id, keepDeleted: true };
          const subscriber = preview.active ? await subscribers.upsert(writing, profile, options) : preview;
          if (subscriber.id !== preview.id) throw new OtherSubscriber();
          await writer.writeUncountedIn(tx, [{ ...drafted.batch, record: undefined }]);
          return { response: drafted.first };
        }),
      )
      .catch((error: unknown) => {
        if (error instanceof OtherSubscriber) return "other_subscriber" as const;
        throw error;
      });
    if (stored === "duplicate") return "duplicate";
    // Subscribers are never deleted, so the second draft finds the one that another call created.
    if (stored === "other_subscriber") return draftWithProfile(context, triggerContext, serialized, profile, single);
    return drafted;
  }

  async function deliveriesOf(tenantId: TenantId, ids: readonly string[]): Promise<Map<string, Delivery>> {
    const found = await deliveryStore(db.sql).findMany(tenantId, ids);
    return new Map(found.map((delivery) => [delivery.id, delivery]));
  }

  async function run<Response extends Message>(
    context: Context,
    single: SingleTrigger<Response>,
  ): Promise<Response | "duplicate"> {
    const { tenantId, nowMs } = context;
    const { trigger, profile, keyed } = single;
    const serialized = serializePayload(trigger);
    const quota = context.quotaOf(triggerQuota);
    if ((await writer.check(tenantId, quota, keyed)) === "duplicate") return "duplicate";
    const workflow = await preferences.findWorkflow(db.sql, context, trigger.workflowKey);
    preferences.checkContents("overrides", overriddenContents(workflow, trigger.overrides));
    requireQueue(workflow, dependencies.holds);
    const triggerContext: TriggerContext = {
      ...trigger,
      tenantId,
      transactionId: ulid(nowMs),
      topicKey: "",
      workflow,
      nowMs,
      leaseToken: randomUUID(),
    };
    if (profile !== undefined) {
      const drafted = await draftWithProfile(context, triggerContext, serialized, profile, single);
      return drafted === "duplicate" ? drafted : deliver(triggerContext, drafted, single);
    }
    const drafted = await draft(
      triggerContext,
      await recipientReader.read(tenantId, trigger),
      serialized,
      single.toResponse,
    );
    const batch = { ...drafted.batch, record: keyed?.record(drafted.first) };
    if ((await writer.write({ batch, quota }, keyed)) === "duplicate") return "duplicate";
    return deliver(triggerContext, drafted, single);
  }

  return {
    /** Notifies one recipient. */
    trigger<Response extends Message>(
      context: Context,
      single: SingleTrigger<Response>,
    ): Promise<Response | "duplicate"> {
      const call = run(context, single);
      inFlight.add(call);
      return call.finally(() => inFlight.delete(call));
    },

    /**
     * The deliveries of a trigger whose response was recorded while they were in progress; throws
     * IDEMPOTENCY_IN_PROGRESS while some of them still are.
     */
    async finishedDeliveries(
      tenantId: TenantId,
      deliveryIds: readonly string[],
    ): Promise<ReadonlyMap<string, Delivery>> {
      const deliveries = await deliveriesOf(tenantId, deliveryIds);
      if ([...deliveries.values()].some(({ status }) => status === "running")) throw inProgressFailure();
      return deliveries;
    },

    /** Resolves when no send is in progress. */
    async idle(): Promise<void> {
      await Promise.allSettled(inFlight);
    },
  };
}

/** Rolls back a draft for a new subscriber that another call has created in the meantime. */
class OtherSubscriber extends Error {}

const neverAborted = new AbortController().signal;
