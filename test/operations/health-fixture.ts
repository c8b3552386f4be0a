import { randomBytes } from "node:crypto";
import { ulidFrom } from "../../src/platform/ids/ulid.ts";
import { afterFile } from "../harness/after-file.ts";
import type { Json } from "../harness/operations.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import type { TestService } from "../harness/service.ts";

/** A tenant's environment whose state a test writes, without anything that changes it. */
export interface HealthFixture {
  readonly rest: RestClient;
  readonly sql: TestSql;
  readonly tenantId: string;
  readonly environmentId: string;
  /** The report, always computed anew. */
  report(): Promise<Json>;
  /** One signal of the report. */
  signal(name: string): Promise<Json>;
  /** Stores heartbeats of all sources and snapshots of all dependencies, as a living collector does. */
  beat(change?: {
    readonly name?: string;
    readonly ageS?: number;
    readonly skewS?: number;
    readonly state?: string;
  }): Promise<void>;
  endRuns(status: string, count: number, agoS?: number): Promise<void>;
  addRuns(status: string, count: number, overdueS: number): Promise<void>;
  addTasks(state: string, count: number, readyS?: number): Promise<void>;
  /** Items that were accepted some seconds ago, and that became ready later if `readyForS` is given. */
  addItems(count: number, ageS?: number, readyForS?: number): Promise<void>;
  addLetters(state: string, count: number): Promise<void>;
  /** Removes all that the fixture has added. */
  clear(): Promise<void>;
}

/** Another period for every report, so that none comes from the cache. */
let periodS = 3600;

/** Creates an environment of the admin's tenant. */
export async function createHealthFixture(
  { baseUrl, adminKey, databaseUrl }: TestService,
  key: string,
): Promise<HealthFixture> {
  const rest = restClient(baseUrl, adminKey);
  const sql = connect(databaseUrl, 1);
  afterFile(() => sql.end({ timeout: 1 }));
  const created = await rest.call("POST", "/api/v2/environments", { key });
  const { id: environmentId, tenant_id: tenantId } = created.body.data;
  const pool = await rest.call("POST", "/api/pools", {
    name: key,
    strategy: "round_robin",
    environment_id: environmentId,
  });
  const poolId: string = pool.body.data.id;
  const ids = (count: number, atMs = Date.now()) =>
    Array.from({ length: count }, () => ulidFrom(atMs, randomBytes(16)));

  async function report(): Promise<Json> {
    const path = `/api/operational-health/report?environment=${key}&period=${periodS++}s`;
    const { status, body, text } = await rest.call("GET", path);
    if (status !== 200) throw new Error(text);
    return body.data;
  }

  return {
    ...{ rest, sql, tenantId, environmentId, report },
    async signal(name) {
      const signals = (await report()).signals as Json[];
      return signals.find((each) => each.name === name)!;
    },
    async beat({ name = "", ageS = 0, skewS = 0, state } = {}) {
      await sql`
        insert into health_observations (kind, name, node_id, state, observed_at, node_clock)
        select kind, name, 'test', case when name = ${name} then coalesce(${state ?? null}, state) else state end,
          now() - make_interval(secs => case when name = ${name} then ${ageS}::float8 else 0 end),
          now() + make_interval(secs => case when name = ${name} then ${skewS - ageS}::float8 else 0 end)
        from (values ('source', 'workflow_runs', 'alive'), ('source', 'workflow_tasks', 'alive'),
          ('source', 'queue_items', 'alive'), ('dependency', 'database', 'available'),
          ('dependency', 'cache', 'not_configured'), ('dependency', 'queue', 'available')) as o(kind, name, state)
        on conflict (kind, name, node_id) do update
        set state = excluded.state, observed_at = excluded.observed_at, node_clock = excluded.node_clock`;
    },
    async endRuns(status, count, agoS = 60) {
      await sql`
        insert into workflow_run_archive (tenant_id, id, environment_id, definition_id, version, run_key, status, state,
          revision, origin, parent_run_id, created_at, ended_at)
        select ${tenantId}, id, ${environmentId}, ${poolId}, 1, '', ${status}, '{"secret":"hunter2"}', 1, '{}', '', now(),
          now() - make_interval(secs => ${agoS})
        from unnest(${ids(count)}::text[]) id`;
    },
    async addRuns(status, count, overdueS) {
      await sql`
        insert into workflow_runs (tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision,
          shard, wake_at, origin, parent_run_id, unread, created_at)
        select ${tenantId}, id, ${environmentId}, ${poolId}, 1, '', ${status}, '{"secret":"hunter2"}', 1, 0,
          now() - make_interval(secs => ${overdueS}), '{}', '', 0, now()
        from unnest(${ids(count)}::text[]) id`;
    },
    async addTasks(state, count, readyS = 1) {
      await sql`
        insert into workflow_tasks (tenant_id, id, environment_id, run_id, step_key, queue, type, version_range, state,
          attempt, input, ready_at, attempt_ms, heartbeat_ms, lease_token, worker_id, created_at)
        select ${tenantId}, id, ${environmentId}, id, 'a', 'default', 'work', '', ${state}, 1, '{"secret":"hunter2"}',
          now() - make_interval(secs => ${readyS}), 1000, 0, '', '', now()
        from unnest(${ids(count)}::text[]) id`;
    },
    async addItems(count, ageS = 1, readyForS) {
      await sql`
        insert into queue_items (tenant_id, id, pool_id, state, due_at, priority, rank, expires_at, type, key, attributes,
          requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
        select ${tenantId}, id, ${poolId}, 'ready', now() - make_interval(secs => ${readyForS ?? null}), 0, 0, now() + interval '1 day', 'work', '', '{}', '{}',
          '{"secret":"hunter2"}', 0, 'queued', '', '', 0, '{}'
        from unnest(${ids(count, Date.now() - ageS * 1000)}::text[]) id`;
    },
    async addLetters(state, count) {
      await sql`
        insert into workflow_dead_letters (tenant_id, run_id, environment_id, definition_id, error_code, step, failed_at,
          replay_count, max_replays, state, replay_run_id, environment_key, definition_key, version, error_message,
          first_failed_at)
        select ${tenantId}, id, ${environmentId}, ${poolId}, 'broken', 'a', now(), 0, 3, ${state}, '', '', '', 1,
          'password=hunter2', now()
        from unnest(${ids(count)}::text[]) id`;
    },
    async clear() {
      await sql`delete from workflow_run_archive where environment_id = ${environmentId}`;
      await sql`delete from workflow_runs where environment_id = ${environmentId}`;
      await sql`delete from workflow_tasks where environment_id = ${environmentId}`;
      await sql`delete from workflow_dead_letters where environment_id = ${environmentId}`;
      await sql`delete from queue_items where pool_id = ${poolId}`;
    },
  };
}
