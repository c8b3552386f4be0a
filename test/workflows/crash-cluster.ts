import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { type SupervisedNode, supervise } from "../chaos/supervised-node.ts";
import type { NodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { until } from "../harness/until.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
export type Json = any;

/** The response to a call. */
export interface Received {
  readonly status: number;
  readonly body: Json;
}

/** Where calls go: a node that runs now. */
export type PickNode = () => Promise<Pick<NodeProcess, "baseUrl" | "adminKey">>;

/** Nodes on a PostgreSQL of their own, which tests may kill. */
export interface CrashCluster {
  readonly nodes: readonly SupervisedNode[];
  readonly sql: TestSql;
  /** Kills a process of PostgreSQL: it closes all connections and recovers. */
  killDatabase(): Promise<void>;
  stop(): Promise<void>;
}

const adminKey = "sk_test_workflows_0123456789abcdef";

/** Starts nodes on a PostgreSQL of their own, given how often each of them crashes or restarts at most. */
export async function startCluster(ends: readonly number[]): Promise<CrashCluster> {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-workflows-"));
  // A killed process loses nothing that it has written, synchronized or not.
  const server = await startEmbedded({ dataDir, settings: { fsync: "off" } });
  const sql = connect(server.url, 4);
  const settings = settingsOf(server.url);
  // The first node creates the tables.
  const [first, ...others] = ends;
  const nodes = [await supervise(settings, first)];
  nodes.push(...(await Promise.all(others.map((endsMax) => supervise(settings, endsMax)))));
  return {
    nodes,
    sql,
    async killDatabase() {
      const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
      process.kill(backend!.pid, "SIGKILL");
    },
    async stop() {
      await sql.end();
      await Promise.all(nodes.map((node) => node.stop()));
      await server.stop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** Starts nodes on the PostgreSQL of all tests, given how often each of them crashes or restarts at most. */
export async function startSharedCluster(ends: readonly number[]): Promise<Omit<CrashCluster, "killDatabase">> {
  const database = await freshDatabase();
  const settings = settingsOf(database.url);
  const nodes = await Promise.all(ends.map((endsMax) => supervise(settings, endsMax)));
  return {
    nodes,
    sql: database.sql,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      await database.drop();
    },
  };
}

function settingsOf(url: string): Readonly<Record<string, string>> {
  return { "database.url": url, "auth.bootstrap_api_key": adminKey, "ratelimit.tenant_rps": "0" };
}

/** Calls once; rejects when the connection breaks before the response is complete. */
export async function request(
  node: { readonly baseUrl: string; readonly adminKey: string },
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
  key = node.adminKey,
): Promise<Received> {
  const response = await fetch(node.baseUrl + path, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** Calls a node; returns the data of a successful response and fails otherwise. */
export async function call(
  node: { readonly baseUrl: string; readonly adminKey: string },
  method: string,
  path: string,
  body?: object,
): Promise<Json> {
  const { status, body: received } = await request(node, method, path, body);
  assert.equal(status, 200, `${method} ${path}: ${JSON.stringify(received)}`);
  return received.data;
}

/** Calls one node after another, with an idempotency key, until a response is final. */
export async function callUntilAnswered(
  pick: PickNode,
  method: string,
  path: string,
  body?: object,
  key?: string,
): Promise<Received> {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  const received = await until(
    async () => request(await pick(), method, path, body, headers).catch(() => undefined),
    (last) => last !== undefined && last.status < 500 && last.body.retryable !== true,
    300_000,
  );
  return received!;
}

/** Creates and publishes a definition, or publishes the next version of it. */
export async function publish(
  node: { readonly baseUrl: string; readonly adminKey: string },
  document: Readonly<Record<string, unknown>> & { readonly key: string },
): Promise<Json> {
  const { status, body } = await request(node, "GET", `/api/workflow-definitions/${document.key}`);
  if (status === 404) await call(node, "POST", "/api/workflow-definitions", { document });
  else {
    const { id, record_version } = body.data;
    await call(node, "PATCH", `/api/workflow-definitions/${id}/draft`, { document, record_version });
  }
  return call(node, "POST", `/api/workflow-definitions/${document.key}/publish`, {});
}

const ended = new Set(["succeeded", "failed", "cancelled", "timed_out"]);

/** Whether a run has ended. */
export const hasEnded = (run: Json): boolean => ended.has(run.status);

/** Waits until a run has ended, on any node. A run that does not end is explained. */
export async function untilEnded(pick: PickNode, runId: string, withinMs = 300_000): Promise<Json> {
  for (const untilMs = performance.now() + withinMs; ; ) {
    const path = `/api/workflow-runs/${runId}`;
    const { body } = await callUntilAnswered(pick, "GET", `${path}?wait_s=5`);
    assert.ok(body.data !== undefined, JSON.stringify(body));
    if (hasEnded(body.data)) return body.data;
    if (performance.now() > untilMs) {
      const explained = await callUntilAnswered(pick, "GET", `${path}/explain`);
      assert.fail(`still ${JSON.stringify(explained.body.data)}: ${JSON.stringify(body.data)}`);
    }
  }
}

/** One step of a run's history, by what happened to it. */
export interface HistoryRow {
  readonly runId: string;
  readonly revision: number;
  readonly kind: string;
  readonly step: string;
  readonly output: Json;
  readonly status: string;
}

/** The history of all runs, in order. */
export async function readHistory(sql: TestSql): Promise<readonly HistoryRow[]> {
  return sql<HistoryRow[]>`
    select run_id as "runId", revision, e ->> 'kind' as kind, coalesce(e ->> 'step', '') as step, e -> 'output' as output,
      coalesce(e ->> 'status', '') as status
    from workflow_history, json_array_elements(entries) with ordinality as e(e, nth) order by run_id, revision, nth`;
}

/** Asserts that no task, event, approval or shard is left behind when all runs have ended. */
export async function assertNothingLeft({ sql, nodes }: Pick<CrashCluster, "sql" | "nodes">): Promise<void> {
  const [left] = await sql<Json[]>`
    select (select count(*)::int from workflow_runs) as runs, (select count(*)::int from workflow_tasks) as tasks,
      (select count(*)::int from workflow_mailbox) as mail,
      (select count(*)::int from workflow_approvals) as approvals`;
  assert.deepEqual({ ...left }, { runs: 0, tasks: 0, mail: 0, approvals: 0 });
  // Every shard has one of the running nodes as its owner, once the leases of killed nodes have expired.
  await until(
    () => sql<{ owned: number; owners: number; total: number }[]>`
      select count(n.node_id)::int as owned, count(distinct n.node_id)::int as owners, count(*)::int as total
      from shards s left join shard_nodes n on n.kind = s.kind and n.node_id = s.node_id and n.expires_at > now()
      where s.kind = 'workflow.runs'`,
    ([shards]) => shards!.owned === shards!.total && shards!.owners === nodes.length,
  );
}
