import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Connections, type Database, lockEachFor, type Sql } from "../../../../platform/db/index.ts";
import { createTenantConcurrencyLimiter } from "../../../../platform/event-loop/index.ts";
import type { LeaseLimits } from "../../admission/index.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import { type Capacities, isBounded, type LeaseRequest, needsManyScans, recipientsPerScan } from "./lease-request.ts";
import { hasReadyItem, type LeasedRow, type LeaseParams, leaseItems, lockItems } from "./lease-store.ts";
import { type BeforeCommit, type GroupCursor, type LeaseResult, leaseWithinLimits } from "./limited-lease.ts";
import type { QueueHead, Scan } from "./queue-head.ts";

/** Restricts a lease statement. */
type Selection = Pick<LeaseParams, "fromRank" | "ids" | "offerNumber" | "ahead" | "requests">;

/** How the requests of a statement use its items. */
export type SharedUse = Pick<LeaseParams, "ahead" | "requests">;

/** The most concurrent leases of limited pools per tenant and node. Each holds a connection while it waits for locks. */
const limitedScansMax = 2;

/** The waits for locks of background statements, which take some milliseconds. */
const lockRetryMs = [2, 10, 40, 100];

/** The lease statements of a node. */
export type ItemScans = ReturnType<typeof createItemScans>;

export function createItemScans(db: Database) {
  // Leases of one limited pool wait for the same group rows, so they queue here before they take a connection.
  const limitedPools = createTenantConcurrencyLimiter(limitedScansMax);
  let turn = 0;

  function toParams(request: LeaseRequest, count: number, selection: Selection): LeaseParams {
    const { ids, fromRank, offerNumber, ahead, requests } = selection;
    const { tenantId, poolId, recipientId, delivery, leaseS, ageingMs, plainOnly } = request;
    const isUnassigned = ids !== undefined && offerNumber === undefined;
    const recipientIds = recipientId === "" ? servedRecipients(request) : [isUnassigned ? "" : recipientId];
    return {
      tenantId,
      poolId,
      delivery,
      count,
      ahead,
      requests,
      fromRank,
      leaseS,
      ageingMs,
      plainOnly,
      offerNumber,
      // Items leased by id have no recipient yet, unless they are offered.
      ...(ids && { ids, assignTo: recipientId }),
      recipientIds,
      bounds: boundsOf(request, recipientIds),
      tokenSecret: nextTokenSecret(),
      shard: turn++ % shardCount,
    };
  }

  /** The capacities of the recipients that a statement serves; undefined when none has one. */
  function boundsOf(request: LeaseRequest, recipientIds: readonly string[]): Capacities | undefined {
    const { recipientId, capacity, capacities } = request;
    if (!isBounded(request)) return undefined;
    if (recipientId !== "") return new Map([[recipientId, capacity]]);
    const bounds = recipientIds.flatMap((id) => (capacities!.has(id) ? [[id, capacities!.get(id)!] as const] : []));
    return bounds.length === 0 ? undefined : new Map(bounds);
  }

  function servedRecipients({ unassigned, recipientIds }: LeaseRequest): readonly string[] {
    return unassigned ? ["", ...rotate(recipientIds)] : rotate(recipientIds);
  }

  // In a pool with many recipients, each statement serves some of them in rotation.
  function rotate(ids: readonly string[]): readonly string[] {
    if (ids.length <= recipientsPerScan) return ids;
    const start = (turn * recipientsPerScan) % ids.length;
    return [...ids, ...ids.slice(0, recipientsPerScan)].slice(start, start + recipientsPerScan);
  }

  // The best plan for a lookup by ids depends on the ids, so it avoids the connections that force generic plans.
  function connectionsFor({ ids }: Selection): Connections {
    return ids === undefined ? db.genericPlans : db;
  }

  async function takeIn(sql: Sql, request: LeaseRequest, count: number, selection: Selection): Promise<LeasedRow[]> {
    const lease = toParams(request, count, selection);
    if (lease.bounds === undefined) return leaseItems(sql, lease);
    // Pipelined: sent together and executed in this order.
    const [, rows] = await Promise.all([
      lockEachFor(sql, "recipient_capacity", lease.bounds.keys()),
      leaseItems(sql, lease),
    ]);
    return rows;
  }

  async function take(request: LeaseRequest, count: number, selection: Selection = {}): Promise<LeasedRow[]> {
    const connections = connectionsFor(selection);
    // The items of recipients are counted and leased in one transaction.
    if (isBounded(request)) return connections.transaction((tx) => takeIn(tx, request, count, selection));
    return takeIn(connections.sql, request, count, selection);
  }

  /**
   * Leases items of a queue that seemed empty. A background statement may have locked all of them for a moment, for example
   * the search for recipients, and a worker that does not wait would get nothing.
   */
  async function takeUnlocked(request: LeaseRequest, count: number): Promise<LeasedRow[]> {
    // Items of a recipient at its capacity are ready, too. The dispatcher looks again by itself.
    if (isBounded(request) || request.delivery === "push") return [];
    for (const delayMs of lockRetryMs) {
      if (request.signal.aborted || !(await hasReadyItem(db.genericPlans.sql, toParams(request, 1, {})))) return [];
      await delay(delayMs);
      const rows = await take(request, count);
      if (rows.length > 0) return rows;
    }
    return [];
  }

  return {
    /** Leases the first items of a queue, or items with these ids. */
    take,

    /** Leases the first items of a queue from its remembered head on. */
    async takeFirst(head: QueueHead, request: LeaseRequest, count: number, use: SharedUse): Promise<LeasedRow[]> {
      // A scan of only some recipients does not know the head of the queue. Neither does one that skips full recipients.
      if (needsManyScans(request) || request.capacities !== undefined) return take(request, count, use);
      for (let scan: Scan | undefined = head.beginScan(); scan !== undefined; scan = head.beginWholeScan()) {
        const rows = await take(request, count, { ...use, fromRank: scan.fromRank });
        if (rows.length === count) head.advance(scan, rows.at(-1)!.rank);
        else head.exhaust(scan, rows.at(-1)?.rank);
        if (rows.length > 0) return rows;
        if (scan.fromRank === undefined) return takeUnlocked(request, count);
      }
      return [];
    },

    /** Leases items together with what the caller writes before the commit. */
    takeInTransaction(request: LeaseRequest, beforeCommit: BeforeCommit, selection: Selection): Promise<LeasedRow[]> {
      return connectionsFor(selection).transaction(async (tx) => {
        // A lease skips locked items, but an answer to an offer waits for the other answers to it.
        if (selection.offerNumber !== undefined) await lockItems(tx, request.tenantId, selection.ids!);
        const taken = await takeIn(tx, request, request.max, selection);
        if (taken.length > 0) await beforeCommit(tx, taken);
        return taken;
      });
    },

    /** Runs the leases of a limited pool one after the other. */
    inTurn: <T>({ tenantId, poolId }: LeaseRequest, work: () => Promise<T>): Promise<T> =>
      limitedPools.run(tenantId, poolId, work),

    /** Leases items of a pool with limits; the caller waits for its turn. */
    takeWithinLimits(
      request: LeaseRequest,
      limits: LeaseLimits,
      count: number,
      cursor: GroupCursor,
      selection: Selection = {},
      beforeCommit?: BeforeCommit,
    ): Promise<LeaseResult> {
      const { environmentId } = request;
      const params = { ...toParams(request, count, selection), limits, environmentId };
      return leaseWithinLimits(db, params, cursor, beforeCommit);
    },
  };
}

const tokenSecretBytes = 12;
let randomBuffer = Buffer.alloc(0);

/** The secret of the tokens of one statement. Random bytes are fetched in bulk, because small reads are slow. */
function nextTokenSecret(): string {
  if (randomBuffer.length === 0) randomBuffer = randomBytes(tokenSecretBytes * 256);
  const tokenSecret = randomBuffer.toString("base64url", 0, tokenSecretBytes);
  randomBuffer = randomBuffer.subarray(tokenSecretBytes);
  return tokenSecret;
}
