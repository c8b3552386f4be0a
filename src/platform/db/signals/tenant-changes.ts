import { createRepeatedTask } from "../../jobs/repeated-task.ts";
import type { Database, Sql } from "../database.ts";
import { prepareStamps } from "../stamps.ts";
import type { Signals } from "./signals.ts";

/** The transaction that makes a change. */
interface ChangeContext {
  readonly sql: Sql;
  readonly tenantId: string;
  afterCommit(action: () => unknown): void;
}

/** Notifies every node of tenants whose configuration changed, so that snapshots are invalidated. */
export interface TenantChanges {
  /** Records a change in the transaction that makes it, and publishes it after the commit. */
  invalidate(context: ChangeContext, tenantId?: string): Promise<void>;
  /** Records a change in the transaction that makes it. Call `published` after the commit. */
  record(sql: Sql, tenantId: string): Promise<void>;
  /** Invalidates snapshots on this node immediately and wakes the other nodes. */
  published(tenantId: string): void;
  /**
   * Calls the listener with each changed tenant, and without one when any tenant may have changed back: a failover may have lost
   * its last changes. Returns the unsubscribe function.
   */
  onChange(listener: (tenantId: string | undefined) => void): () => void;
  /** Whether the changes of other nodes are known up to about one second ago. */
  fresh(): boolean;
  start(): Promise<void>;
  stop(): void;
}

const pollMs = 400;
const staleMs = 1000;
const topic = "tenant_changes";

/**
 * Follows the table tenant_versions. Signals trigger a read; polling covers lost signals. The reads also notice that the server was
 * started again, or is another one, and prepare its stamps.
 */
export function createTenantChanges(db: Database, signals: Signals): TenantChanges {
  const listeners = new Set<(tenantId: string | undefined) => void>();
  let followedTo = "0";
  let followedAtMs = Number.NEGATIVE_INFINITY;
  /** The start of the server whose stamps are prepared, as far as known. */
  let preparedStart: string | undefined;
  let followedEra: string | undefined;

  async function follow(): Promise<void> {
    const startedAtMs = performance.now();
    if (preparedStart === undefined) preparedStart = (await prepareStamps(db)).startedAt;
    // At most the newest change is followed, because PostgreSQL reuses later transaction ids when it crashes before their
    // transactions write anything.
    const [row] = await db.sql<{ startedAt: string; era: string; next: string; tenants: string[] | null }[]>`
      select pg_postmaster_start_time()::text as started_at, (horizon >> 44)::text as era,
        least(horizon - 1, newest)::text as next,
        (select array_agg(tenant_id::text) from tenant_versions where changed_stamp > ${followedTo}::text::bigint) as tenants
      from (select stamp_horizon() as horizon, (select max(changed_stamp) from tenant_versions) as newest) stamps`;
    const { startedAt, era, next, tenants } = row!;
    // Every era may lack the newest changes of the one before.
    if (followedEra !== undefined && era !== followedEra) notify(undefined);
    for (const tenantId of tenants ?? []) notify(tenantId);
    followedTo = next;
    followedEra = era;
    followedAtMs = startedAtMs;
    if (startedAt !== preparedStart) preparedStart = (await prepareStamps(db)).startedAt;
  }

  function notify(tenantId: string | undefined): void {
    for (const listener of listeners) listener(tenantId);
  }

  const task = createRepeatedTask({
    work: follow,
    maxWaitMs: pollMs,
    // Until the next poll succeeds, fresh() is false and snapshots are not trusted. It may reach another server.
    onError: () => {
      preparedStart = undefined;
    },
    subscribe: ({ run }) => [signals.onWake(topic, run)],
  });

  async function record(sql: Sql, tenantId: string): Promise<void> {
    await sql`
      insert into tenant_versions (tenant_id) values (${tenantId})
      on conflict (tenant_id) do update
      set version = tenant_versions.version + 1, changed_stamp = current_stamp()`;
  }

  function published(tenantId: string): void {
    notify(tenantId);
    signals.wake(topic);
  }

  return {
    async invalidate(context, tenantId = context.tenantId) {
      await record(context.sql, tenantId);
      context.afterCommit(() => published(tenantId));
    },
    record,
    published,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    fresh: () => performance.now() - followedAtMs < staleMs,
    start: task.start,
    // A poll in flight ends with the connections.
    stop: () => void task.stop(),
  };
}
