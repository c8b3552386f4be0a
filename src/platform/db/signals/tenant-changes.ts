import { createRepeatedTask } from "../../jobs/repeated-task.ts";
import type { Database, Sql } from "../database.ts";
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
  /** Calls the listener with each changed tenant. Returns the unsubscribe function. */
  onChange(listener: (tenantId: string) => void): () => void;
  /** Whether the changes of other nodes are known up to about one second ago. */
  fresh(): boolean;
  start(): Promise<void>;
  stop(): void;
}

const pollMs = 400;
const staleMs = 1000;
const topic = "tenant_changes";

/** Follows the table tenant_versions. Signals trigger a read; polling covers lost signals. */
export function createTenantChanges(db: Database, signals: Signals): TenantChanges {
  const listeners = new Set<(tenantId: string) => void>();
  let followedTo = "0";
  let followedAtMs = Number.NEGATIVE_INFINITY;

  async function follow(): Promise<void> {
    const startedAtMs = performance.now();
    const [row] = await db.sql<{ next: string; tenants: string[] | null }[]>`
      select
        pg_snapshot_xmin(pg_current_snapshot())::text as next,
        (select array_agg(tenant_id::text) from tenant_versions where changed_xid >= ${followedTo}::text::xid8) as tenants`;
    for (const tenantId of row!.tenants ?? []) for (const listener of listeners) listener(tenantId);
    followedTo = row!.next;
    followedAtMs = startedAtMs;
  }

  const task = createRepeatedTask({
    work: follow,
    maxWaitMs: pollMs,
    // Until the next poll succeeds, fresh() is false and snapshots are not trusted.
    onError: () => {},
    subscribe: ({ run }) => [signals.onWake(topic, run)],
  });

  async function record(sql: Sql, tenantId: string): Promise<void> {
    await sql`
      insert into tenant_versions (tenant_id) values (${tenantId})
      on conflict (tenant_id) do update
      set version = tenant_versions.version + 1, changed_xid = pg_current_xact_id()`;
  }

  function published(tenantId: string): void {
    for (const listener of listeners) listener(tenantId);
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
