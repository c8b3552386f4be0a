import type { TenantId } from "../../platform/access/index.ts";
import type { Clock } from "../../platform/clock/clock.ts";
import { webhookHeaders } from "../../platform/crypto/index.ts";
import type { Database, Signals, Sql } from "../../platform/db/index.ts";
import { type Egress, EgressError } from "../../platform/egress/index.ts";
import type { Log } from "../../platform/log/log.ts";
import type { PoolDoor, PoolSnapshot, Recipient } from "../pools/index.ts";
import { handOutLimits } from "./domain/constraint-moment.ts";
import { type PushAnswer, pushVerdict } from "./domain/push-answer.ts";
import type { Finishing } from "./finishing.ts";
import type { LeasedRow } from "./lease-store.ts";
import { getsWork, type Leasing } from "./leasing.ts";
import { type PushTarget, pushTargets } from "./push-store.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signals: Signals;
  readonly pools: Pick<PoolDoor, "snapshot">;
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
const targetsAtOnce = 500;
const idleMs = 1000;
const timeoutMs = 15_000;
/** Longer than an exchange can last, so that nobody else sends the same item meanwhile. */
const leaseS = 60;

/** Makes this node's sending. */
export function createPushing(parts: Parts): Pushing {
  const { db, clock, log, signals, pools, leasing, finishing, egress, secret } = parts;
  const underWay = new Map<string, number>();
  const sending = new Set<Promise<void>>();
  const stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  let woken = Promise.withResolvers<void>();
  let stopWaking: (() => void) | undefined;
  // How long to wait before the next look when nobody wakes: until a throttle has its next token.
  let againMs = idleMs;
  // Where the next look begins, so that everyone has a turn.
  let lookedAt: PushTarget | undefined;

  /** Takes items for one recipient and sends them; answers how many. */
  async function serve({ tenantId, poolId, recipientId }: PushTarget): Promise<number> {
    const snapshot = await pools.snapshot(tenantId, poolId);
    const recipient = snapshot?.recipients.find(({ id }) => id === recipientId);
    if (snapshot === undefined || recipient === undefined || !getsWork(recipient)) return 0;
    const { capacity } = recipient;
    const most = capacity === 0 ? perRecipientMax : Math.min(perRecipientMax, capacity);
    const max = Math.min(most - (underWay.get(recipientId) ?? 0), inFlightMax - sending.size);
    if (max <= 0) return 0;
    const { rows, againInMs } = await leasing.lease({
      tenantId,
      poolId,
      recipientId,
      limits: handOutLimits(snapshot.pool.config.admission),
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
    });
    againMs = Math.min(againMs, againInMs ?? idleMs);
    for (const row of rows) track(recipientId, send(row, snapshot, recipient));
    return rows.length;
  }

  function track(recipientId: string, sent: Promise<void>): void {
    underWay.set(recipientId, (underWay.get(recipientId) ?? 0) + 1);
    const done = sent
      .catch((error) => log.warn({ err: error }, "an item could not be sent"))
      .finally(() => {
        sending.delete(done);
        const left = underWay.get(recipientId)! - 1;
        if (left === 0) underWay.delete(recipientId);
        else underWay.set(recipientId, left);
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

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let served = 0;
      againMs = idleMs;
      try {
        if (sending.size < inFlightMax) {
          const { targets, last } = await pushTargets(db.sql, lookedAt, targetsAtOnce);
          lookedAt = last;
          for (const target of targets) served += await serve(target);
        }
      } catch (error) {
        log.warn({ err: error }, "items to be sent could not be looked for");
      }
      if ((served > 0 || lookedAt !== undefined) && sending.size < inFlightMax) continue;
      const idle = setTimeout(woken.resolve, againMs);
      await woken.promise;
      clearTimeout(idle);
      woken = Promise.withResolvers();
    }
  }

  return {
    start() {
      stopWaking = signals.onWake(pushTopic, () => woken.resolve());
      loop = run();
    },
    async stop() {
      stopping.abort();
      woken.resolve();
      stopWaking?.();
      await loop;
      await Promise.all(sending);
    },
  };
}
