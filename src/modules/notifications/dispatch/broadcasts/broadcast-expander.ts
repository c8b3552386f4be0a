import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database, Signals, Sql } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createSerialTask } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { EventLoopShares } from "../../../../platform/scheduling/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { Preferences } from "../../preferences/index.ts";
import type { TopicMember, Topics } from "../../topics/index.ts";
import { deadLetterStore } from "../dead-letters/dead-letter-store.ts";
import { type Reporting, reportsOf } from "../delivery/delivery-report.ts";
import { type DeliveryRow, keepParcels } from "../delivery/delivery-store.ts";
import { dispatchStore, type KeptPayload } from "../delivery/dispatch-store.ts";
import { begin, type Occasion } from "../delivery/initial-delivery.ts";
import type { Broadcast } from "../domain/broadcast.ts";
import type { Lane } from "../domain/delivery.ts";
import type { WakeInbox } from "../inbox/inbox-feed.ts";
import type { Prepare } from "../message/message-preparation.ts";
import { type RecipientParts, readRecipients } from "../message/recipients.ts";
import { broadcastStore } from "./broadcast-store.ts";

/** The topic that tells nodes of broadcasts that have work. */
export const broadcastTopic = "notifications_broadcast";

const membersAtOnce = 500;
/** A page is cut short after so long: whoever reads in the order of transactions waits for its end. */
const pageMsMax = 250;
/** How often a page is tried before the broadcast has failed. */
const failuresMax = 8;

interface Parts extends RecipientParts {
  readonly db: Database;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  readonly shares: EventLoopShares;
  readonly events: EventRecorder;
  readonly topics: Pick<Topics, "membersAt" | "countAt">;
  readonly preferences: Pick<Preferences, "layersOf" | "workflow" | "resolve">;
  readonly prepare: Prepare;
  readonly reporting: Reporting;
  readonly verifiedOnly: boolean;
  /** In which queue deliveries wait. */
  readonly lane: Lane;
  readonly wakeInbox: WakeInbox;
  readonly wakeDispatch: () => void;
  /** Whether anything is sent. */
  readonly enabled: boolean;
  /** How often to look for what nobody told of. */
  readonly pollMs?: number;
}

/** Makes the deliveries of broadcasts. */
export interface Expanding {
  start(): void;
  /** Takes no more pages and waits for the one that is under way. */
  stop(): Promise<void>;
}

/**
 * Makes this node's expanding. Broadcasts take turns, a page of members each. The deliveries of a page and how far its
 * broadcast has come are committed together, by a node that holds the broadcast meanwhile: whoever goes on after a crash
 * begins with the first member that has none.
 */
export function createExpanding(parts: Parts): Expanding {
  const { db, signals, clock, log, events, pollMs = 1000 } = parts;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stopWaking: (() => void) | undefined;

  const look = createSerialTask(
    async () => {
      while (!stopping.signal.aborted && (await expandNext()));
    },
    (error) => log.warn({ err: error }, "broadcasts cannot be looked for"),
  );

  /** Expands a page of the broadcast whose turn it is; false when there is none. */
  async function expandNext(): Promise<boolean> {
    let broadcast: Broadcast | undefined;
    try {
      return await expandPage(parts, (held) => {
        broadcast = held;
      });
    } catch (error) {
      if (broadcast === undefined) throw error;
      log.error({ err: error, transaction_id: broadcast.transactionId }, "a page of a broadcast could not be expanded");
      await postpone(broadcast);
      return true;
    }
  }

  /** Has a page wait that could not be expanded; after too many times the broadcast has failed. */
  async function postpone(broadcast: Broadcast): Promise<void> {
    const nowMs = clock.now();
    const failure = { phase: "system", code: "internal", detail: "A page of members could not be expanded." } as const;
    const told = await db.transaction(async (tx) => {
      const postponed = await broadcastStore(tx).postpone(broadcast, failuresMax, failure.code, new Date(nowMs));
      if (postponed?.status !== "failed") return undefined;
      await deadLetterStore(tx).buryPage(postponed, ulid(nowMs), failure, postponed.failures, new Date(nowMs));
      const { tenantId, transactionId, workflowKey, topicKey, expanded } = postponed;
      const data = { workflow_key: workflowKey, topic_key: topicKey, expanded, failure_code: failure.code };
      const entry = { tenantId, type: "notification.broadcast.failed" as const, subject: transactionId, data };
      return events.recordMany(tx, [entry], nowMs);
    });
    told?.wake();
  }

  return {
    start() {
      if (!parts.enabled) return;
      stopWaking = signals.onWake(broadcastTopic, look.run);
      timer = setInterval(look.run, pollMs);
      look.start();
    },
    async stop() {
      stopping.abort();
      clearInterval(timer);
      stopWaking?.();
      await look.stop();
    },
  };
}

/** Expands one page; false when no broadcast has work. */
async function expandPage(parts: Parts, onHeld: (broadcast: Broadcast) => void): Promise<boolean> {
  const { db, clock, events, wakeInbox, wakeDispatch } = parts;
  const nowMs = clock.now();
  const done = await db.transaction(async (tx) => {
    const broadcast = await broadcastStore(tx).lockNext();
    if (broadcast === undefined) return undefined;
    onHeld(broadcast);
    const { tenantId, topicKey, cutoff, position, expanded } = broadcast;
    const [members, total, [carried]] = await Promise.all([
      parts.topics.membersAt(tx, tenantId, topicKey, cutoff, position, membersAtOnce),
      broadcast.status === "accepted" ? parts.topics.countAt(tx, tenantId, topicKey, cutoff) : broadcast.total,
      dispatchStore(tx).carriedBy([broadcast]),
    ]);
    if (carried === undefined) throw new Error("what the broadcast carries is gone");
    const { rows, done } = await rowsOf(parts, tx, broadcast, carried, members, nowMs);
    const isLast = members.length < membersAtOnce && done === members.length;
    const next: Broadcast = {
      ...broadcast,
      status: isLast ? "completed" : "expanding",
      position: members[done - 1]?.id ?? position,
      expanded: expanded + done,
      total,
      updatedAt: new Date(nowMs),
    };
    await Promise.all([keep(tx, broadcast, parts.lane, carried, rows, nowMs), broadcastStore(tx).advance(next)]);
    const told = [
      await parts.reporting.record(tx, reportsOf(tenantId, rows)),
      await events.recordMany(tx, isLast ? [completed(next)] : [], nowMs),
    ];
    return { tenantId, rows, told };
  });
  if (done === undefined) return false;
  const { tenantId, rows, told } = done;
  for (const { wake } of told) wake();
  parts.reporting.count(reportsOf(tenantId, rows));
  wakeInbox(
    tenantId,
    rows.flatMap(({ kept_in, subscriber_id }) => (kept_in === "inbox" ? subscriber_id : [])),
  );
  if (rows.some(({ status }) => status === "queued")) wakeDispatch();
  return true;
}

/** What members of a page get, and how many of them that are: as many as there is time for. */
async function rowsOf(
  parts: Parts,
  tx: Sql,
  broadcast: Broadcast,
  { body }: KeptPayload,
  members: readonly TopicMember[],
  nowMs: number,
): Promise<{ rows: DeliveryRow[]; done: number }> {
  if (members.length === 0) return { rows: [], done: 0 };
  const { tenantId, transactionId, workflowKey, topicKey, manifest } = broadcast;
  const { userId, channels } = manifest;
  const ids = members.map(({ subscriberId }) => subscriberId);
  const [recipients, workflow] = await Promise.all([
    readRecipients(parts, tx, tenantId, { workflowKey, userId, topicKey }, ids),
    parts.preferences.workflow(tenantId, workflowKey),
  ]);
  const occasion: Occasion = {
    tenantId,
    transactionId,
    workflowKey,
    topicKey,
    userId,
    channels: channels ?? undefined,
    ...body,
    workflow,
    nowMs,
    leaseToken: undefined,
  };
  const rows: DeliveryRow[] = [];
  const startedAtMs = performance.now();
  const turns = parts.shares.forBackground(tenantId);
  let done = 0;
  for (const { subscriberId, contextKeys } of members) {
    if (turns.isOver()) await turns.next();
    const recipient = recipients.get(subscriberId);
    const begun = recipient === undefined ? [] : await begin(parts, occasion, recipient, contextKeys);
    for (const { row } of begun) rows.push(row);
    done++;
    if (performance.now() - startedAtMs > pageMsMax) break;
  }
  return { rows, done };
}

async function keep(
  tx: Sql,
  broadcast: Broadcast,
  lane: Lane,
  { digest, expiresAt }: KeptPayload,
  rows: readonly DeliveryRow[],
  nowMs: number,
): Promise<void> {
  if (rows.length === 0) return;
  const { tenantId, transactionId, workflowKey, topicKey, manifest } = broadcast;
  await keepParcels(tx, [
    {
      tenantId,
      transactionId,
      broadcastId: transactionId,
      workflowKey,
      topicKey,
      userId: manifest.userId,
      lane,
      at: new Date(nowMs),
      payload: { body: undefined, digest, expiresAt },
      rows,
      record: undefined,
    },
  ]);
}

function completed({ tenantId, transactionId, workflowKey, topicKey, expanded }: Broadcast) {
  const data = { workflow_key: workflowKey, topic_key: topicKey, expanded };
  return { tenantId, type: "notification.broadcast.completed" as const, subject: transactionId, data };
}
