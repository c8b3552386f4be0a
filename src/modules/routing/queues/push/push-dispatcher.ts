import type { TenantId } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import { webhookHeaders } from "../../../../platform/crypto/index.ts";
import type { Database, Signals, Sql } from "../../../../platform/db/index.ts";
import { type Egress, EgressError } from "../../../../platform/egress/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { createTenantQueue } from "../../../../platform/scheduling/index.ts";
import { toLeaseLimits } from "../../admission/index.ts";
import type { PoolReader, PoolSnapshot, Recipient } from "../../pools/index.ts";
import type { Finishing } from "../completion/completion-service.ts";
import { type PushAnswer, pushVerdict } from "../domain/push-response.ts";
import { getsWork, type Leasing, queueTopicPrefix } from "../leasing/lease-service.ts";
import type { LeasedRow } from "../leasing/lease-store.ts";
import { PushBackoff } from "./push-backoff.ts";
import { type PushTarget, pushTargets, type TenantTargets } from "./push-store.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signals: Signals;
  readonly pools: Pick<PoolReader, "snapshot">;
  readonly leasing: Leasing;
  readonly finishing: Finishing;
  readonly egress: Egress;
  /** The value of a tenant's secret; undefined when there is none of that name. */
  readonly secret: (sql: Sql, tenantId: TenantId, name: string) => Promise<string | undefined>;
}

/** Sends items to recipients that do not fetch them. */
export interface Pushing {
  start(): void;
  /** Takes no more items and waits for those under way. */
  stop(): Promise<void>;
}

/** What wakes whoever sends. */
export const pushTopic = "queue.push";

const inFlightMax = 64;
const perRecipientMax = 16;
const tenantsAtOnce = 50;
const targetsPerTenant = 200;
/** For how many tenants it is remembered where the next look begins. */
const beginsMax = 1000;
/** Tenants that are served at once. */
const lanes = 8;
/** How long to wait before the next look when nobody wakes, and how long a target backs off at most. */
const idleMs = 1000;
const timeoutMs = 15_000;
/** Longer than an exchange can last, so that nobody else sends the same item meanwhile. */
const leaseS = 60;

/**
 * Makes this node's sending.
 *
 * A look finds some targets of each tenant. Tenants are served beside each other, and the targets of one tenant one after the
 * other. A target that had nothing to take backs off, so that it costs no lease.
 */
export function createPushing(parts: Parts): Pushing {
  const { db, clock, log, signals, pools, leasing, finishing, egress, secret } = parts;
  const underWay = new Map<string, number>();
  const sending = new Set<Promise<void>>();
  const stopping = new AbortController();
  const backoff = new PushBackoff();
  /** Pools that are asked for items now, and whether something happened in them since. */
  const asking = new Map<string, { hasChanged: boolean }>();
  // Where the next look begins, among tenants and within those that have too many targets for one look.
  let afterTenantId = "";
  const afterTargets = new Map<TenantId, PushTarget>();
  /** Tenants whose targets could not all be asked because too much was under way. */
  const cutShort = new Set<TenantId>();
  /** Who was served last: after a tenant was cut short, the next look begins behind it. */
  let lastServedId = "";
  let wasCutShort = false;
  /** Items that are asked for now. */
  let requested = 0;
  let loop: Promise<void> = Promise.resolve();
  let woken = Promise.withResolvers<void>();
  let lookTimer: NodeJS.Timeout | undefined;
  let lookAtMs = Number.POSITIVE_INFINITY;
  let stopWaking: (() => void)[] = [];

  const queue = createTenantQueue<TenantTargets>({
    concurrency: lanes,
    merge: (_earlier, later) => later,
    work: (_tenantId, _name, found) => serveTenant(found),
    onError: (error) => log.warn({ err: error }, "items to be sent could not be taken"),
  });

  /** Has the next look begin after so long at the latest. */
  function lookWithin(ms: number): void {
    const atMs = performance.now() + ms;
    if (atMs >= lookAtMs) return;
    clearTimeout(lookTimer);
    lookAtMs = atMs;
    lookTimer = setTimeout(() => {
      lookAtMs = Number.POSITIVE_INFINITY;
      woken.resolve();
    }, ms);
  }

  async function serveTenant({ tenantId, targets, last }: TenantTargets): Promise<void> {
    let count = 0;
    for (const target of targets) {
      // The next look begins here: whoever is done makes room, and wakes.
      if (stopping.signal.aborted || roomLeft() <= 0) {
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
    // A look that began behind the first target has not asked those before it.
    const beganLate = last === undefined && cutShort.delete(tenantId);
    if (count > 0 || last !== undefined || beganLate) woken.resolve();
  }

  /** Takes items for one recipient and sends them; answers how many. */
  async function serve(target: PushTarget): Promise<number> {
    const { tenantId, poolId, recipientId } = target;
    const nowMs = clock.now();
    const untilMs = backoff.untilMs(target, nowMs);
    if (untilMs !== undefined) {
      lookWithin(untilMs - nowMs);
      return 0;
    }
    const snapshot = await pools.snapshot(tenantId, poolId);
    const recipient = snapshot?.recipients.find(({ id }) => id === recipientId);
    if (snapshot === undefined || recipient === undefined || !getsWork(recipient)) return 0;
    const { capacity } = recipient;
    const most = capacity === 0 ? perRecipientMax : Math.min(perRecipientMax, capacity);
    const max = Math.min(most - (underWay.get(recipientId) ?? 0), roomLeft());
    if (max <= 0) return 0;
    requested += max;
    const pool = { hasChanged: false };
    asking.set(`${tenantId}:${poolId}`, pool);
    const { rows, againInMs } = await leasing
      .lease({
        tenantId,
        poolId,
        recipientId,
        limits: toLeaseLimits(snapshot.pool.config.admission),
        environmentId: snapshot.pool.environmentId,
        recipientIds: [recipientId],
        unchosen: false,
        delivery: "push",
        capacity,
        leaseS,
        ageingMs: snapshot.pool.config.queue.ageingS * 1000,
        max,
        waitMs: 0,
        signal: stopping.signal,
      })
      .finally(() => {
        asking.delete(`${tenantId}:${poolId}`);
        requested -= max;
        // Whoever was cut short because of this request may have room now.
        if (wasCutShort) woken.resolve();
      });
    for (const row of rows) track(target, send(row, snapshot, recipient));
    // Never for long: another item of the target may have a token now, and limits may be changed.
    const againMs = Math.min(againInMs ?? idleMs, idleMs);
    if (rows.length === 0 && !pool.hasChanged) backoff.add(target, clock.now() + againMs);
    if (againInMs !== undefined && rows.length < max) lookWithin(againMs);
    return rows.length;
  }

  /** How many more items may be sent at once. */
  function roomLeft(): number {
    return inFlightMax - sending.size - requested;
  }

  function poolChanged(tenantId: string, poolId: string): void {
    const asked = asking.get(`${tenantId}:${poolId}`);
    if (asked !== undefined) asked.hasChanged = true;
    backoff.clearPool(tenantId, poolId);
  }

  /** Something may have happened in any pool: signals were lost. */
  function anyPoolChanged(): void {
    for (const asked of asking.values()) asked.hasChanged = true;
    backoff.clear();
    woken.resolve();
  }

  function track({ tenantId, poolId, recipientId }: PushTarget, sent: Promise<void>): void {
    underWay.set(recipientId, (underWay.get(recipientId) ?? 0) + 1);
    const done = sent
      .catch((error) => log.warn({ err: error }, "an item could not be sent"))
      .finally(() => {
        sending.delete(done);
        const left = underWay.get(recipientId)! - 1;
        if (left === 0) underWay.delete(recipientId);
        else underWay.set(recipientId, left);
        poolChanged(tenantId, poolId);
        woken.resolve();
      });
    sending.add(done);
  }

  async function send(row: LeasedRow, { pool }: PoolSnapshot, recipient: Recipient): Promise<void> {
    const { tenantId, config } = pool;
    const answer = await exchange(tenantId, row, recipient);
    const failure = pushVerdict(answer, clock.now());
    await finishing.finish([
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

  async function exchange(tenantId: TenantId, row: LeasedRow, { id, delivery }: Recipient): Promise<PushAnswer> {
    const body = JSON.stringify({
      queue_item_id: row.id,
      pool_id: row.poolId,
      recipient_id: id,
      type: row.type,
      key: row.key,
      attributes: row.attributes,
      payload: row.payload,
      priority: row.priority,
      attempt: row.attempt,
    });
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

  /** Looks for targets; answers whether there may be more tenants. */
  async function look(): Promise<boolean> {
    if (wasCutShort) afterTenantId = lastServedId;
    wasCutShort = false;
    const hasSkipped = afterTenantId !== "";
    const { tenants, lastTenantId } = await pushTargets(db.sql, {
      afterTenantId,
      afterTargets: afterTargets.values(),
      tenantsMax: tenantsAtOnce,
      targetsPerTenantMax: targetsPerTenant,
    });
    afterTenantId = lastTenantId ?? "";
    // Some are of tenants that have nothing to be sent any more; the others begin anew.
    if (afterTargets.size > beginsMax) afterTargets.clear();
    for (const found of tenants) queue.add(found.tenantId, "targets", found);
    return lastTenantId !== undefined || hasSkipped;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let hasMore = false;
      try {
        if (roomLeft() > 0) hasMore = await look();
      } catch (error) {
        log.warn({ err: error }, "items to be sent could not be looked for");
      }
      if (hasMore) continue;
      lookWithin(idleMs);
      await woken.promise;
      woken = Promise.withResolvers();
    }
  }

  return {
    start() {
      stopWaking = [
        signals.onWake(pushTopic, () => woken.resolve()),
        signals.onWakeUnder(
          queueTopicPrefix,
          (name) => {
            const [tenantId, poolId] = name.split(":") as [string, string];
            poolChanged(tenantId, poolId);
          },
          anyPoolChanged,
        ),
      ];
      loop = run();
    },
    async stop() {
      stopping.abort();
      woken.resolve();
      for (const stop of stopWaking) stop();
      await loop;
      await queue.stop();
      clearTimeout(lookTimer);
      await Promise.all(sending);
    },
  };
}
