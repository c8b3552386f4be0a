import { freshTenant, recordedEvents } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { PoolReader } from "../../pools/index.ts";
import { createDeadLetters, type NewDeadLetter } from "../index.ts";

/** A queue item to create; the defaults describe an item that has just failed permanently. */
interface ItemChoice {
  readonly state?: string;
  readonly priority?: number;
  readonly concurrencyGroup?: string;
  readonly payload?: object;
  readonly letter?: Partial<NewDeadLetter>;
}

/** The module on a real database, with a clock that the test sets and recorded wake-ups. */
export function createDeadLetterFixture(
  db: Database,
  pools: Pick<PoolReader, "requireKnownPool" | "requireRetryPool">,
) {
  const events = recordedEvents();
  const woken: string[] = [];
  const clock = { at: Date.UTC(2030, 0, 15), now: () => clock.at };
  const module = createDeadLetters({
    sql: db.sql,
    events,
    clock,
    platformTenantId: freshTenant,
    wake: (tenantId, poolId) => woken.push(tenantId + poolId),
    // The pools here have no constraints.
    readmission: () => ({ appliesTo: () => false, prepare: () => Promise.reject(new Error("not used")) }),
    pools,
  });

  /** Creates a pool with this config in its own environment. */
  async function newPool(tenantId: TenantId, config: object = {}, environmentKey?: string): Promise<string> {
    const [poolId, environmentId] = [ulid(Date.now()), ulid(Date.now())];
    await db.sql`
      insert into environments (tenant_id, id, key, name, mode, status, created_at, updated_at)
      values (${tenantId}, ${environmentId}, ${environmentKey ?? environmentId}, 'e', 'sandbox', 'active', now(), now())`;
    await db.sql`
      insert into pools (tenant_id, id, environment_id, name, strategy, status, config, created_at, updated_at)
      values (${tenantId}, ${poolId}, ${environmentId}, ${poolId}, 'round_robin', 'active',
        ${db.sql.json(config as never)}, now(), now())`;
    return poolId;
  }

  /** Creates permanently failed items with their decisions and letters; returns their ids in order. */
  async function newLetters(tenantId: TenantId, poolId: string, choices: readonly ItemChoice[]): Promise<string[]> {
    const items = choices.map((choice) => ({ id: ulid(Date.now()), ...choice }));
    const rows = items.map(({ id, state, priority, concurrencyGroup, payload }) => ({
      id,
      state: state ?? "dead_lettered",
      priority: priority ?? 0,
      concurrency_group: concurrencyGroup ?? "",
      payload: payload ?? { of: id },
    }));
    await db.sql`
      with input as (
        select * from jsonb_to_recordset(${db.sql.json(rows as never)})
          as input(id text, state text, priority int, concurrency_group text, payload jsonb)
      )
      insert into queue_items (tenant_id, id, pool_id, recipient_id, delivery, state, priority, rank, expires_at, attempt, failures,
        concurrency_group, lease_token, leased_at, ended_at, type, key, attributes, requirements, payload,
        decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
      select ${tenantId}, id, ${poolId}, 'somebody', 'push', state, priority, 0, now(), 5, '[{"attempt": 5}]', concurrency_group, 'old',
        now(), now(), 'lead', 'key-' || id, '{}', '{}', payload, priority, 'queued', '', '', 0, '{}'
      from input`;
    const letters = items.map(({ id, letter }) => newLetter(poolId, id, letter));
    await db.transaction((tx) => module.record(tx, tenantId, letters));
    return items.map(({ id }) => id);
  }

  /** A letter as the queue passes it to the module. */
  function newLetter(poolId: string, queueItemId: string, choice: Partial<NewDeadLetter> = {}): NewDeadLetter {
    return {
      poolId,
      queueItemId,
      reasonCode: "worker_failed",
      phase: "work",
      attempts: [{ attempt: 5, failedAtMs: clock.at, reasonCode: "worker_failed", reason: "no", recipientId: "" }],
      maxRetries: 3,
      failedAt: new Date(clock.at),
      ...choice,
    };
  }

  /** The rows of an item, its letter and its decision. */
  async function rowsOf(tenantId: TenantId, queueItemId: string) {
    const [item] = await db.sql`select * from queue_items where tenant_id = ${tenantId} and id = ${queueItemId}`;
    const [letter] = await db.sql`
      select * from dead_letters where tenant_id = ${tenantId} and queue_item_id = ${queueItemId}`;
    const [decision] = await db.sql`select * from decisions where tenant_id = ${tenantId} and id = ${queueItemId}`;
    return { item, letter, decision };
  }

  async function depthOf(tenantId: TenantId, poolId: string): Promise<number> {
    const [row] = await db.sql<{ depth: number }[]>`
      select coalesce(sum(depth), 0)::int as depth from queue_depths where tenant_id = ${tenantId} and pool_id = ${poolId}`;
    return row!.depth;
  }

  return { ...module, events, woken, clock, newPool, newLetters, newLetter, rowsOf, depthOf };
}
