import type { TenantId } from "../../../../platform/access/index.ts";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { webhookHeaders } from "../../../../platform/crypto/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Egress, EgressError } from "../../../../platform/egress/index.ts";
import { createTenantQueue } from "../../../../platform/event-loop/index.ts";
import { createRepeatedTask, InFlightWork } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { toLeaseLimits } from "../../admission/index.ts";
import { type PoolReader, type PoolSnapshot, priorityWorthS, type Recipient } from "../../pools/index.ts";
import type { CompletionService } from "../completion/completion-service.ts";
import { toPushFailure } from "../domain/push-response.ts";
import { canReceiveWork, type LeaseService, queueTopicPrefix } from "../leasing/lease-service.ts";
import type { LeasedRow } from "../leasing/lease-store.ts";
import type { PushAction } from "./action-push.ts";
import { PushBackoff } from "./push-backoff.ts";
import { findPushTargets, nextToPush, type PushTarget, type TenantTargets } from "./push-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "signals"> {
  readonly pools: Pick<PoolReader, "snapshot">;
  readonly leaseService: LeaseService;
  readonly completion: CompletionService;
  readonly egress: Egress;
  /** Reads the value of a tenant's secret; undefined when there is no secret with that name. */
  readonly secret: (sql: Sql, tenantId: TenantId, name: string) => Promise<string | undefined>;
  /** Delivers items with connector actions. */
  readonly pushAction: PushAction;
  /** A monotonic clock. */
  readonly monotonicMs?: () => number;
}

/** Sends items to recipients with push delivery. */
export type PushDispatcher = ReturnType<typeof createPushDispatcher>;

/** Signal topic for push dispatchers. */
export const pushTopic = "queue.push";

const inFlightMax = 64;
const perRecipientMax = 16;
const tenantsPerScan = 50;
const targetsPerTenant = 200;
/** The most tenants whose scan position is remembered. The others restart from their first target. */
const positionsMax = 1000;
/** The number of tenants served concurrently. */
const lanes = 8;
/** The interval of scans while items wait to be pushed, and the longest back-off of a target. */
const idleMs = 1000;
const timeoutMs = 15_000;
/** Longer than the request timeout, so that no other node sends the same item concurrently. */
const leaseS = 60;

/**
 * Creates this node's push dispatcher.
 *
 * A scan finds some targets of each tenant. Tenants are served concurrently, and the targets of one tenant one at a time.
 * A target without items to lease backs off, so that it costs no lease statement.
 */
export function createPushDispatcher(dependencies: Dependencies) {
  const { db, clock, log, signals, pools, leaseService, completion, egress, secret, pushAction } = dependencies;
  const { monotonicMs = () => performance.now() } = dependencies;
  /** The sends, by recipient. */
  const inFlight = new InFlightWork();
  const stopping = new AbortController();
  const backoff = new PushBackoff();
  /** Pools with a lease request in progress, and whether they have changed since it began. */
  const leasingPools = new Map<string, { hasChanged: boolean }>();
  // Start of the next scan: the tenant, and the target within tenants that have too many targets for one scan.
  let afterTenantId = "";
  const afterTargets = new BoundedCache<TenantId, PushTarget>(positionsMax);
  /** Tenants whose targets were not all tried because too many items were in flight. */
  const cutShort = new Set<TenantId>();
  /** The tenant served last. After a tenant was cut short, the next scan starts after it. */
  let lastServedId = "";
  let wasCutShort = false;
  /** Items requested from the lease service but not returned yet. */
  let requested = 0;

  const queue = createTenantQueue<TenantTargets>({
    concurrency: lanes,
    merge: (_earlier, later) => later,
    work: (_tenantId, _name, found) => serveTenant(found),
    onError: (error) => log.warn({ err: error }, "leasing items for push failed"),
  });

  const scans = createRepeatedTask({
    async work() {
      if (capacityLeft() > 0 && (await scan())) scans.run();
    },
    onError: (error) => log.warn({ err: error }, "scanning for push targets failed"),
    subscribe: ({ run, runEvery }) => [
      signals.onWake(pushTopic, run),
      signals.onDue(nextToPush, () => runEvery(idleMs)),
      signals.onWakeUnder(
        queueTopicPrefix,
        (name) => poolChanged(...(name.split(":") as [string, string])),
        anyPoolChanged,
      ),
    ],
  });

  async function serveTenant({ tenantId, targets, last }: TenantTargets): Promise<void> {
    let count = 0;
    for (const target of targets) {
      // The next scan resumes here. A delivery that ends frees capacity and starts one.
      if (stopping.signal.aborted || capacityLeft() <= 0) {
        cutShort.add(tenantId);
        wasCutShort = true;
        return;
      }
      const served = await serve(target);
      if (served > 0) lastServedId = tenantId;
      count += served;
      afterTargets.set(tenantId, target);
    }
    if (last === undefined) afterTargets.delete(tenantId);
    else afterTargets.set(tenantId, last);
    // A scan that resumed in the middle has not tried the targets before its start.
    const beganLate = last === undefined && cutShort.delete(tenantId);
    if (count > 0 || last !== undefined || beganLate) scans.run();
  }

  /** Leases items for one recipient and sends them; returns their number. */
  async function serve(target: PushTarget): Promise<number> {
    const { tenantId, poolId, recipientId } = target;
    const nowMs = monotonicMs();
    const untilMs = backoff.untilMs(target, nowMs);
    if (untilMs !== undefined) {
      scans.runWithin(untilMs - nowMs);
      return 0;
    }
    const snapshot = await pools.snapshot(tenantId, poolId);
    const recipient = snapshot?.recipients.find(({ id }) => id === recipientId);
    if (snapshot === undefined || recipient === undefined || !canReceiveWork(recipient)) return 0;
    const { capacity } = recipient;
    const most = capacity === 0 ? perRecipientMax : Math.min(perRecipientMax, capacity);
    const max = Math.min(most - inFlight.countOf(recipientId), capacityLeft());
    if (max <= 0) return 0;
    requested += max;
    const pool = { hasChanged: false };
    leasingPools.set(`${tenantId}:${poolId}`, pool);
    const { rows, retryInMs } = await leaseService
      .lease({
        tenantId,
        poolId,
        recipientId,
        limits: toLeaseLimits(snapshot.pool.config.admission),
        environmentId: snapshot.pool.environmentId,
        recipientIds: [recipientId],
        unassigned: false,
        delivery: "push",
        capacity,
        leaseS,
        ageingMs: priorityWorthS(snapshot.pool.config.queue) * 1000,
        max,
        waitMs: 0,
        signal: stopping.signal,
      })
      .finally(() => {
        leasingPools.delete(`${tenantId}:${poolId}`);
        requested -= max;
        // Tenants that were cut short because of this request may continue now.
        if (wasCutShort) scans.run();
      });
    for (const row of rows) {
      const sent = () =>
        send(row, snapshot, recipient).catch((error) => log.warn({ err: error }, "pushing an item failed"));
      inFlight.start(recipientId, sent, () => {
        poolChanged(tenantId, poolId);
        scans.run();
      });
    }
    // Bounded by idleMs: another item of the target may have a token sooner, and limits may change.
    const retryMs = Math.min(retryInMs ?? idleMs, idleMs);
    if (rows.length === 0 && !pool.hasChanged) backoff.add(target, monotonicMs() + retryMs);
    if (retryInMs !== undefined && rows.length < max) scans.runWithin(retryMs);
    return rows.length;
  }

  /** The number of items that may still be put in flight. */
  function capacityLeft(): number {
    return inFlightMax - inFlight.size - requested;
  }

  function poolChanged(tenantId: string, poolId: string): void {
    const leasing = leasingPools.get(`${tenantId}:${poolId}`);
    if (leasing !== undefined) leasing.hasChanged = true;
    backoff.clearPool(tenantId, poolId);
  }

  /** Handles lost signals: any pool may have changed. */
  function anyPoolChanged(): void {
    for (const leasing of leasingPools.values()) leasing.hasChanged = true;
    backoff.clear();
    scans.run();
  }

  async function send(row: LeasedRow, { pool, environmentKey }: PoolSnapshot, recipient: Recipient): Promise<void> {
    const { tenantId, config } = pool;
    const failure = await deliver({ tenantId, environmentKey }, row, recipient);
    await completion.finishItems([
      {
        tenantId,
        poolId: pool.id,
        id: row.id,
        token: row.leaseToken,
        failure,
        phase: "delivery",
        retry: config.retry,
        maxRetries: config.dlq.maxRetries,
        itemEvents: config.itemEvents,
      },
    ]);
  }

  async function deliver(place: Parameters<PushAction>[0], row: LeasedRow, recipient: Recipient) {
    const { action } = recipient.delivery;
    const item = pushedItem(row, recipient);
    if (action !== undefined) return pushAction(place, action, item);
    return toPushFailure(await post(place.tenantId, row, item, recipient), clock.now());
  }

  async function post(tenantId: TenantId, row: LeasedRow, item: PushedItem, { delivery }: Recipient) {
    const body = JSON.stringify(item);
    try {
      const value = delivery.secretRef === "" ? "" : await secret(db.sql, tenantId, delivery.secretRef);
      if (value === undefined) return { fault: "secret_missing" };
      const message = { id: row.id, timestampS: Math.floor(clock.now() / 1000), body };
      const { status, headers } = await egress.request({
        method: "POST",
        url: delivery.url,
        headers: { "content-type": "application/json", ...webhookHeaders(message, value === "" ? [] : [value]) },
        body,
        timeoutMs,
        ignoreBody: true,
      });
      return { status, retryAfter: headers["retry-after"] };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return { fault: error.reason };
    }
  }

  /** Scans for targets; returns whether there may be more tenants. */
  async function scan(): Promise<boolean> {
    if (wasCutShort) afterTenantId = lastServedId;
    wasCutShort = false;
    const hasSkipped = afterTenantId !== "";
    const { tenants, lastTenantId } = await findPushTargets(db.sql, {
      afterTenantId,
      afterTargets: [...afterTargets].map(([, target]) => target),
      tenantsMax: tenantsPerScan,
      targetsPerTenantMax: targetsPerTenant,
    });
    afterTenantId = lastTenantId ?? "";
    for (const found of tenants) queue.add(found.tenantId, "targets", found);
    return lastTenantId !== undefined || hasSkipped;
  }

  return {
    start: scans.start,
    /** Stops leasing items and waits for those in flight. */
    async stop() {
      stopping.abort();
      await scans.stop();
      await queue.stop();
      await inFlight.drain(0);
    },
  };
}

/** An item as recipients get it. */
type PushedItem = ReturnType<typeof pushedItem>;

function pushedItem(row: LeasedRow, { id }: Recipient) {
  return {
    queue_item_id: row.id,
    pool_id: row.poolId,
    recipient_id: id,
    type: row.type,
    key: row.key,
    attributes: row.attributes,
    payload: row.payload,
    priority: row.priority,
    attempt: row.attempt,
    ...(row.after !== undefined && {
      after: row.after.map(({ id, omitted, ...each }) => ({ queue_item_id: id, ...each, result_omitted: omitted })),
    }),
  };
}
