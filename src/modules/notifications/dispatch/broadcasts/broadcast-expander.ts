import type { Sql } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { Preferences } from "../../preferences/index.ts";
import type { TopicMember, Topics } from "../../topics/index.ts";
import { deadLetterStore } from "../dead-letters/dead-letter-store.ts";
import { type DeliveryReporter, toReports } from "../delivery/delivery-report.ts";
import { type DeliveryRow, insertDeliveries } from "../delivery/delivery-store.ts";
import { dispatchStore, type StoredPayload } from "../delivery/dispatch-store.ts";
import { createInitialDeliveries, type TriggerContext } from "../delivery/initial-delivery.ts";
import type { Broadcast } from "../domain/broadcast.ts";
import type { Lane } from "../domain/delivery.ts";
import type { WakeInbox } from "../inbox/inbox-feed.ts";
import type { MessagePreparer } from "../message/message-preparation.ts";
import { type RecipientParts, readRecipients } from "../message/recipients.ts";
import { newRun } from "../runs/new-run.ts";
import type { RunRow } from "../runs/run-store.ts";
import { broadcastStore, nextPage } from "./broadcast-store.ts";
import { cancelPage } from "./cancellation-store.ts";

/** Signal topic for nodes that expand broadcasts. */
export const broadcastTopic = "notifications_broadcast";

const membersPerPage = 500;
/** A page ends early after this time, because readers that follow transaction order wait for its commit. */
const pageMsMax = 250;
/** A broadcast fails after this many failed attempts at one page. */
const failuresMax = 8;

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "shares">, RecipientParts {
  readonly events: EventRecorder;
  readonly topics: Pick<Topics, "membersAt" | "countAt">;
  readonly preferences: Pick<Preferences, "readLayers" | "workflow" | "resolve">;
  readonly prepare: MessagePreparer;
  readonly reporter: DeliveryReporter;
  readonly verifiedOnly: boolean;
  /** The queue in which deliveries wait. */
  readonly lane: Lane;
  readonly wakeInbox: WakeInbox;
  readonly wakeDispatch: () => void;
  readonly wakeRuns: () => void;
  /** Whether messages can be held until quiet hours end. */
  readonly holds: boolean;
  /** False when sending is switched off. */
  readonly enabled: boolean;
}

/** Background worker that creates the deliveries of broadcasts. */
export type BroadcastExpander = ReturnType<typeof createBroadcastExpander>;

/**
 * Creates this node's expander. Broadcasts are expanded round-robin, one page of members at a time. A page's deliveries
 * and the broadcast's position are committed in one transaction that locks the broadcast. After a crash, any node
 * continues with the first member that has no delivery.
 */
export function createBroadcastExpander(dependencies: Dependencies) {
  const { db, signals, clock, log, events } = dependencies;
  const stopping = new AbortController();

  const scan = createRepeatedTask({
    async work() {
      while (!stopping.signal.aborted && (await expandNext()));
    },
    onError: (error) => log.warn({ err: error }, "scanning for broadcasts failed"),
    subscribe: ({ run, runWithin }) => [signals.onWake(broadcastTopic, run), signals.onDue(nextPage, runWithin)],
  });

  /** Expands one page of the next broadcast; false when no broadcast has work. */
  async function expandNext(): Promise<boolean> {
    let broadcast: Broadcast | undefined;
    try {
      return await expandPage(dependencies, (locked) => {
        broadcast = locked;
      });
    } catch (error) {
      if (broadcast === undefined) throw error;
      log.error({ err: error, transaction_id: broadcast.transactionId }, "expanding a page of a broadcast failed");
      await postpone(broadcast);
      return true;
    }
  }

  /** Postpones a page that could not be expanded. After `failuresMax` failures the broadcast fails. */
  async function postpone(broadcast: Broadcast): Promise<void> {
    const nowMs = clock.now();
    const failure = { phase: "system", code: "internal", detail: "A page of members could not be expanded." } as const;
    await db.transaction(async (tx) => {
      const postponed = await broadcastStore(tx).postpone(broadcast, failuresMax, failure.code, new Date(nowMs));
      if (postponed?.status !== "failed") return;
      await deadLetterStore(tx).insertForPage(postponed, ulid(nowMs), failure, postponed.failures, new Date(nowMs));
      const { tenantId, transactionId, workflowKey, topicKey, expanded } = postponed;
      const data = { workflow_key: workflowKey, topic_key: topicKey, expanded, failure_code: failure.code };
      const entry = { tenantId, type: "notification.broadcast.failed" as const, subject: transactionId, data };
      await events.recordMany(tx, [entry], nowMs);
    });
  }

  return {
    start() {
      if (dependencies.enabled) void scan.start();
    },
    /** Starts no further page and waits for the current one. */
    async stop() {
      stopping.abort();
      await scan.stop();
    },
  };
}

/** Expands one page; false when no broadcast has work. */
async function expandPage(dependencies: Dependencies, onLocked: (broadcast: Broadcast) => void): Promise<boolean> {
  const { db, clock, events, wakeInbox, wakeDispatch } = dependencies;
  const nowMs = clock.now();
  const page = await db.transaction(async (tx) => {
    const broadcast = await broadcastStore(tx).lockNext();
    if (broadcast === undefined) return undefined;
    onLocked(broadcast);
    if (broadcast.status === "cancelling") {
      await cancelPage(tx, broadcast, new Date(nowMs));
      return "cancelled_page";
    }
    const { tenantId, topicKey, cutoff, position, expanded } = broadcast;
    const [members, total, [payload]] = await Promise.all([
      dependencies.topics.membersAt(tx, tenantId, topicKey, cutoff, position, membersPerPage),
      broadcast.status === "accepted" ? dependencies.topics.countAt(tx, tenantId, topicKey, cutoff) : broadcast.total,
      dispatchStore(tx).findPayloads([broadcast]),
    ]);
    if (payload === undefined) throw new Error("the payload of the broadcast has expired");
    const { rows, runs, processed } = await rowsOf(dependencies, tx, broadcast, payload, members, nowMs);
    const isLast = members.length < membersPerPage && processed === members.length;
    const next: Broadcast = {
      ...broadcast,
      status: isLast ? "completed" : "expanding",
      position: members[processed - 1]?.id ?? position,
      expanded: expanded + processed,
      total,
      updatedAt: new Date(nowMs),
    };
    await Promise.all([
      insertPage(tx, broadcast, dependencies.lane, payload, rows, runs, nowMs),
      broadcastStore(tx).advance(next),
    ]);
    await dependencies.reporter.record(tx, toReports(tenantId, rows));
    await events.recordMany(tx, isLast ? [completedEvent(next)] : [], nowMs);
    return { tenantId, rows, runs };
  });
  if (page === undefined) return false;
  if (page === "cancelled_page") return true;
  const { tenantId, rows, runs } = page;
  dependencies.reporter.count(toReports(tenantId, rows));
  wakeInbox(
    tenantId,
    rows.flatMap(({ stored_in, subscriber_id }) => (stored_in === "inbox" ? subscriber_id : [])),
  );
  if (rows.some(({ status }) => status === "queued")) wakeDispatch();
  if (runs.length > 0) dependencies.wakeRuns();
  return true;
}

/** Returns the delivery rows or runs of a page and the number of members processed within the time limit. */
async function rowsOf(
  dependencies: Dependencies,
  tx: Sql,
  broadcast: Broadcast,
  { body, cancelledAt }: StoredPayload,
  members: readonly TopicMember[],
  nowMs: number,
): Promise<{ rows: DeliveryRow[]; runs: RunRow[]; processed: number }> {
  if (members.length === 0 || cancelledAt !== null) return { rows: [], runs: [], processed: members.length };
  const { tenantId, transactionId, workflowKey, topicKey, manifest } = broadcast;
  const { userId, channels } = manifest;
  const ids = members.map(({ subscriberId }) => subscriberId);
  const [recipients, workflow] = await Promise.all([
    readRecipients(dependencies, tx, tenantId, { workflowKey, userId, topicKey }, ids),
    dependencies.preferences.workflow(tenantId, workflowKey),
  ]);
  const triggerContext: TriggerContext = {
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
  const runs: RunRow[] = [];
  const startedAtMs = performance.now();
  const turns = dependencies.shares.forBackground(tenantId);
  let processed = 0;
  for (const { subscriberId, contextKeys } of members) {
    if (turns.isOver()) await turns.next();
    const recipient = recipients.get(subscriberId);
    const run = recipient && newRun(triggerContext, subscriberId, contextKeys);
    if (run !== undefined) runs.push(run);
    else if (recipient !== undefined) {
      const initial = await createInitialDeliveries(dependencies, triggerContext, recipient, contextKeys);
      for (const { row } of initial) rows.push(row);
    }
    processed++;
    if (performance.now() - startedAtMs > pageMsMax) break;
  }
  return { rows, runs, processed };
}

async function insertPage(
  tx: Sql,
  broadcast: Broadcast,
  lane: Lane,
  { digest, expiresAt }: StoredPayload,
  rows: readonly DeliveryRow[],
  runs: readonly RunRow[],
  nowMs: number,
): Promise<void> {
  if (rows.length === 0 && runs.length === 0) return;
  const { tenantId, transactionId, workflowKey, topicKey, manifest } = broadcast;
  await insertDeliveries(tx, [
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
      runs,
      record: undefined,
    },
  ]);
}

function completedEvent({ tenantId, transactionId, workflowKey, topicKey, expanded }: Broadcast) {
  const data = { workflow_key: workflowKey, topic_key: topicKey, expanded };
  return { tenantId, type: "notification.broadcast.completed" as const, subject: transactionId, data };
}
