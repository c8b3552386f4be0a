import { hash, randomUUID } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Context, KeyedCall } from "../../../../chain/call.ts";
import { Failure, invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { completeRecord, inProgressFailure } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { Preferences } from "../../preferences/index.ts";
import type { NamedProfile, Subscribers } from "../../subscribers/index.ts";
import { deliveryStore, type Parcel } from "../delivery/delivery-store.ts";
import { type Begun, begin, type Occasion } from "../delivery/initial-delivery.ts";
import type { Send } from "../delivery/send-attempt.ts";
import type { Settled, Settling } from "../delivery/settlement.ts";
import type { Delivery } from "../domain/delivery.ts";
import { overriddenContents } from "../domain/plan.ts";
import { bodyOf, type Carried, type Trigger } from "../domain/trigger.ts";
import type { WakeInbox } from "../inbox/inbox-feed.ts";
import { noWay, type Prepare } from "../message/message-preparation.ts";
import { createRecipientReading, type Recipient, type RecipientParts, readRecipientOf } from "../message/recipients.ts";
import { type TriggerWriter, triggerQuota } from "./trigger-writer.ts";

/** What became of one message of a trigger. */
export interface Outcome extends Begun {
  /** What its provider made of it; undefined when none was asked, or has not answered yet. */
  readonly settled: Settled | undefined;
}

/** What a trigger for one recipient came to. */
export interface Triggered {
  readonly transactionId: string;
  readonly outcomes: readonly Outcome[];
  /** The deliveries as they are now, where another node has ended some of them. */
  readonly current?: ReadonlyMap<string, Delivery>;
}

/** A trigger for one recipient, and how its answer is made. */
export interface SingleTrigger<Answer> {
  readonly trigger: Trigger;
  /** What is to be known of the recipient before it is notified. */
  readonly profile: NamedProfile | undefined;
  readonly keyed: KeyedCall | undefined;
  answer(triggered: Triggered): Answer;
}

interface Parts extends RecipientParts {
  readonly db: Database;
  readonly subscribers: Pick<Subscribers, "findMany" | "endpointsOf" | "idsByExternalId" | "upsert" | "previewUpsert">;
  readonly preferences: Pick<Preferences, "layersOf" | "workflow" | "resolve" | "checkContents">;
  readonly prepare: Prepare;
  readonly send: Send;
  readonly settling: Settling;
  readonly writer: TriggerWriter;
  readonly verifiedOnly: boolean;
  /** How long what a trigger carries is kept. */
  readonly payloadKeptMs: number;
  /** Tells those who follow an inbox; after the commit. */
  readonly wakeInbox: WakeInbox;
}

/** Notifies one recipient at a time. */
export type TriggerService = ReturnType<typeof createTriggerService>;

/** Makes the use case of single sends. */
export function createTriggerService(parts: Parts) {
  const { db, subscribers, preferences, send, settling, writer, payloadKeptMs, wakeInbox } = parts;
  const reading = createRecipientReading(parts);
  const flights = new Set<Promise<unknown>>();

  /** Sends what a provider is to get, and writes down what came of it. */
  async function sendAll(begun: readonly Begun[], leaseToken: string): Promise<Map<string, Settled>> {
    const settled = await Promise.all(
      begun.map(async ({ work, prepared }) => {
        const delivery = {
          ...work.delivery,
          ...noWay,
          subscriberId: work.subscriber.id,
          endpointId: work.target.endpointId,
          leaseToken,
          executionAttempt: 1,
          reconciliationRequired: false,
          deadLetterId: "",
        };
        const attempted = await send(work, prepared!, {
          // A message that is on its way is not called back, even when whoever had it sent leaves.
          signal: neverAborted,
          handedOverTo: prepared?.kind === "outgoing" ? prepared.way.integrationId : "",
          handOver: (way) => settling.handOver(delivery, way),
        });
        return settling.settlementOf(delivery, attempted);
      }),
    );
    return new Map(settled.map((each) => [each.delivery.id, each]));
  }

  /** What a trigger comes to before anything leaves, and how it is written down. */
  async function draft<Answer extends Message>(
    occasion: Occasion,
    recipient: Recipient,
    { body, text }: Carried,
    answer: SingleTrigger<Answer>["answer"],
  ) {
    const { tenantId, transactionId, workflowKey, userId, nowMs } = occasion;
    const begun = await begin(parts, occasion, recipient, []);
    const outcomes = begun.map((each): Outcome => ({ ...each, settled: undefined }));
    const isOpen = begun.some(
      ({ row }) => row.status === "running" || row.status === "queued" || row.dead_letter_id !== undefined,
    );
    const parcel: Omit<Parcel, "record"> = {
      tenantId,
      transactionId,
      broadcastId: "",
      workflowKey,
      topicKey: "",
      userId,
      lane: "single",
      at: new Date(nowMs),
      payload: isOpen
        ? { body, digest: hash("sha256", text, "hex"), expiresAt: new Date(nowMs + payloadKeptMs) }
        : undefined,
      rows: begun.map(({ row }) => row),
    };
    return { begun, outcomes, first: answer({ transactionId, outcomes }), parcel, recipient };
  }
  type Draft<Answer extends Message> = Awaited<ReturnType<typeof draft<Answer>>>;

  /** Sends what is written down, and answers with what came of it. */
  async function deliver<Answer extends Message>(
    { tenantId, transactionId, leaseToken }: Occasion,
    { begun, outcomes, first, recipient }: Draft<Answer>,
    { keyed, answer }: SingleTrigger<Answer>,
  ): Promise<Answer> {
    if (begun.some(({ row }) => row.kept_in === "inbox")) wakeInbox(tenantId, [recipient.subscriber.id]);
    const outgoing = begun.filter(({ row }) => row.status === "running");
    if (outgoing.length === 0) return first;
    const ends = await sendAll(outgoing, leaseToken!);
    const ended = outcomes.map((each) => ({ ...each, settled: ends.get(each.row.id) }));
    const last = answer({ transactionId, outcomes: ended });
    if (await settling.settle([...ends.values()], keyed?.record(last))) return last;
    // The leases ended before the messages did: what another node has made of the deliveries counts.
    return answer({ transactionId, outcomes, current: await deliveriesOf(tenantId, [...ends.keys()]) });
  }

  /**
   * Drafts a trigger for the recipient as its profile will be, then stores the profile and the trigger in one transaction:
   * both happen, once for each key, or neither does. Rendering takes turns on the event loop, so it comes before the
   * transaction: a call that waits for its turn must not hold a connection.
   */
  async function draftWithProfile<Answer extends Message>(
    context: Context,
    occasion: Occasion,
    carried: Carried,
    profile: NamedProfile,
    single: SingleTrigger<Answer>,
  ): Promise<Draft<Answer> | "duplicate"> {
    const { keyed, answer } = single;
    const { tenantId, nowMs, afterCommit } = context;
    const preview = await subscribers.previewUpsert({ tenantId, nowMs, sql: db.sql }, profile).catch((error) => {
      throw within("subscriber", error);
    });
    const recipient = await readRecipientOf(parts, db.sql, occasion, preview);
    const drafted = await draft(occasion, recipient, carried, answer);
    const stored = await db
      .transaction(async (tx) => {
        if ((await writer.admitIn(tx, tenantId, context.quotaOf(triggerQuota), keyed)) === "duplicate") {
          return "duplicate";
        }
        const subscriber = await subscribers.upsert({ tenantId, nowMs, afterCommit, sql: tx }, profile, preview.id);
        if (subscriber.id !== preview.id) throw new OtherSubscriber();
        const committed = await writer.keepUncountedIn(tx, { ...drafted.parcel, record: undefined });
        if (keyed !== undefined) await completeRecord(tx, keyed.record(drafted.first));
        return committed;
      })
      .catch((error: unknown) => {
        if (error instanceof OtherSubscriber) return "other_subscriber" as const;
        throw error;
      });
    if (stored === "duplicate") return "duplicate";
    // Subscribers are never removed, so the second draft finds the one that another call created.
    if (stored === "other_subscriber") return draftWithProfile(context, occasion, carried, profile, single);
    stored();
    return drafted;
  }

  async function deliveriesOf(tenantId: TenantId, ids: readonly string[]): Promise<Map<string, Delivery>> {
    const found = await deliveryStore(db.sql).findMany(tenantId, ids);
    return new Map(found.map((delivery) => [delivery.id, delivery]));
  }

  async function run<Answer extends Message>(
    context: Context,
    single: SingleTrigger<Answer>,
  ): Promise<Answer | "duplicate"> {
    const { tenantId, nowMs } = context;
    const { trigger, profile, keyed } = single;
    const carried = bodyOf(trigger);
    const quota = context.quotaOf(triggerQuota);
    if ((await writer.check(tenantId, quota, keyed)) === "duplicate") return "duplicate";
    const workflow = await preferences.workflow(tenantId, trigger.workflowKey);
    preferences.checkContents("overrides", overriddenContents(workflow, trigger.overrides));
    const occasion: Occasion = {
      ...trigger,
      tenantId,
      transactionId: ulid(nowMs),
      topicKey: "",
      workflow,
      nowMs,
      leaseToken: randomUUID(),
    };
    if (profile !== undefined) {
      const drafted = await draftWithProfile(context, occasion, carried, profile, single);
      return drafted === "duplicate" ? drafted : deliver(occasion, drafted, single);
    }
    const drafted = await draft(occasion, await reading.recipient(tenantId, trigger), carried, single.answer);
    const parcel = { ...drafted.parcel, record: keyed?.record(drafted.first) };
    if ((await writer.keep({ parcel, quota }, keyed)) === "duplicate") return "duplicate";
    return deliver(occasion, drafted, single);
  }

  return {
    /** Notifies one recipient. */
    trigger<Answer extends Message>(context: Context, single: SingleTrigger<Answer>): Promise<Answer | "duplicate"> {
      const flight = run(context, single);
      flights.add(flight);
      return flight.finally(() => flights.delete(flight));
    },

    /**
     * The deliveries of a trigger whose answer was recorded while they were on their way; throws
     * IDEMPOTENCY_IN_PROGRESS while some of them still are.
     */
    async ended(tenantId: TenantId, deliveryIds: readonly string[]): Promise<ReadonlyMap<string, Delivery>> {
      const deliveries = await deliveriesOf(tenantId, deliveryIds);
      if ([...deliveries.values()].some(({ status }) => status === "running")) throw inProgressFailure();
      return deliveries;
    },

    /** Resolves when nothing is on its way any more. */
    async idle(): Promise<void> {
      await Promise.allSettled(flights);
    },
  };
}

/** Rolls back a draft for a new subscriber that another call has created meanwhile. */
class OtherSubscriber extends Error {}

/** Names the fields of a refusal as they stand in the request. */
function within(path: string, error: unknown): unknown {
  const [violation] = error instanceof Failure ? error.violations : [];
  return violation === undefined ? error : invalid(`${path}.${violation.field}`, violation.rule, violation.message);
}

const neverAborted = new AbortController().signal;
