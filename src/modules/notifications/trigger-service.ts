import { hash, randomUUID } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Context, KeyedCall } from "../../chain/call.ts";
import { Failure, invalid } from "../../errors/index.ts";
import type { TenantId } from "../../platform/access/index.ts";
import { createBatcher, type Database } from "../../platform/db/index.ts";
import { inProgress, keyName, usedKeys } from "../../platform/idempotency/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import type { Preferences } from "../preferences/index.ts";
import type { NamedProfile, Subscribers } from "../subscribers/index.ts";
import type { Send } from "./attempt.ts";
import { type Begun, begin, type Occasion } from "./beginning.ts";
import { deliveryStore, keepParcels, type Parcel } from "./delivery-store.ts";
import type { Delivery } from "./domain/delivery.ts";
import { overriddenContents } from "./domain/plan.ts";
import { bodyOf, type Carried, type Trigger } from "./domain/trigger.ts";
import type { WakeInbox } from "./inbox-feed.ts";
import { noWay, type Prepare } from "./preparing.ts";
import { createRecipientReading, type Recipient, type RecipientParts } from "./recipients.ts";
import { type Reporting, reportsOf } from "./reporting.ts";
import type { Settled, Settling } from "./settling.ts";

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
  readonly subscribers: Pick<Subscribers, "findMany" | "endpointsOf" | "idsByExternalId" | "upsert">;
  readonly preferences: Pick<Preferences, "layersOf" | "workflow" | "resolve" | "checkContents">;
  readonly prepare: Prepare;
  readonly send: Send;
  readonly settling: Settling;
  readonly reporting: Reporting;
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
  const { db, subscribers, preferences, send, settling, reporting, payloadKeptMs, wakeInbox } = parts;
  const reading = createRecipientReading(parts);
  const flights = new Set<Promise<unknown>>();

  const writer = createBatcher<Parcel, "kept" | "duplicate">({
    lanes: 2,
    async flush(parcels) {
      const refused = parcels.some(hasFailed) ? await keepAndTell(parcels) : await keepParcels(db.sql, parcels);
      for (const [at, { tenantId, rows }] of parcels.entries()) {
        if (!refused.has(at)) reporting.count(reportsOf(tenantId, rows));
      }
      return parcels.map((_, at) => (refused.has(at) ? "duplicate" : "kept"));
    },
  });

  /** Keeps triggers of which something failed at once, together with the events that tell of it. */
  async function keepAndTell(parcels: readonly Parcel[]): Promise<ReadonlySet<number>> {
    const { refused, told } = await db.transaction(async (tx) => {
      const refused = await keepParcels(tx, parcels);
      const kept = parcels.filter((_, at) => !refused.has(at));
      const reports = kept.flatMap(({ tenantId, rows }) => reportsOf(tenantId, rows));
      return { refused, told: await reporting.record(tx, reports) };
    });
    told.wake();
    return refused;
  }

  /** Creates or changes the recipient as the trigger says; once, however often the trigger is sent under one key. */
  async function upsertInline(context: Context, profile: NamedProfile, keyed: KeyedCall | undefined) {
    const { tenantId, nowMs, afterCommit } = context;
    return db.transaction(async (tx) => {
      if (keyed !== undefined && (await usedKeys(tx, [keyed.claim])).has(keyName(keyed.claim))) return "duplicate";
      return subscribers.upsert({ tenantId, nowMs, afterCommit, sql: tx }, profile).catch((error) => {
        throw within("subscriber", error);
      });
    });
  }

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

  /** Everything is written down before anything leaves, and the answer says what came of it. */
  async function notify<Answer extends Message>(
    occasion: Occasion,
    recipient: Recipient,
    { body, text }: Carried,
    { keyed, answer }: SingleTrigger<Answer>,
  ): Promise<Answer | "duplicate"> {
    const { tenantId, transactionId, workflowKey, userId, nowMs } = occasion;
    const begun = await begin(parts, occasion, recipient, []);
    const outcomes = begun.map((each): Outcome => ({ ...each, settled: undefined }));
    const first = answer({ transactionId, outcomes });
    const isOpen = begun.some(
      ({ row }) => row.status === "running" || row.status === "queued" || row.dead_letter_id !== undefined,
    );
    const kept = await writer.run({
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
      record: keyed?.record(first),
    });
    if (kept === "duplicate") return "duplicate";
    if (begun.some(({ row }) => row.kept_in === "inbox")) wakeInbox(tenantId, [recipient.subscriber.id]);

    const outgoing = begun.filter(({ row }) => row.status === "running");
    if (outgoing.length === 0) return first;
    const ends = await sendAll(outgoing, occasion.leaseToken!);
    const ended = outcomes.map((each) => ({ ...each, settled: ends.get(each.row.id) }));
    const last = answer({ transactionId, outcomes: ended });
    if (await settling.settle([...ends.values()], keyed?.record(last))) return last;
    // The leases ended before the messages did: what another node has made of the deliveries counts.
    return answer({ transactionId, outcomes, current: await deliveriesOf(tenantId, [...ends.keys()]) });
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
    if (profile !== undefined && (await upsertInline(context, profile, keyed)) === "duplicate") return "duplicate";
    const [recipient, workflow] = await Promise.all([
      reading.recipient(tenantId, trigger),
      preferences.workflow(tenantId, trigger.workflowKey),
    ]);
    preferences.checkContents("overrides", overriddenContents(workflow, trigger.overrides));
    const occasion = {
      ...trigger,
      tenantId,
      transactionId: ulid(nowMs),
      topicKey: "",
      workflow,
      nowMs,
      leaseToken: randomUUID(),
    };
    return notify(occasion, recipient, carried, single);
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
      if ([...deliveries.values()].some(({ status }) => status === "running")) throw inProgress();
      return deliveries;
    },

    /** Resolves when nothing is on its way any more. */
    async idle(): Promise<void> {
      await Promise.allSettled(flights);
    },
  };
}

/** Names the fields of a refusal as they stand in the request. */
function within(path: string, error: unknown): unknown {
  const [violation] = error instanceof Failure ? error.violations : [];
  return violation === undefined ? error : invalid(`${path}.${violation.field}`, violation.rule, violation.message);
}

function hasFailed({ rows }: Parcel): boolean {
  return rows.some(({ status }) => status === "failed");
}

const neverAborted = new AbortController().signal;
