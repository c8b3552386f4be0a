import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { afterFile } from "../harness/after-file.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { type RestClient, type RestResponse, restClient } from "../harness/rest.ts";
import { startService, type TestService, type TestSettings } from "../harness/service.ts";

/** Nodes that share a database. */
export interface ReplayFixture {
  readonly sql: TestSql;
  readonly metricsUrl: string;
  /** Creates a tenant with a client per node. */
  newTenant(settings?: object): Promise<ReplayTenant>;
}

/** What workers do with a task: return an output or fail with a code. */
export type Decide = (step: string, input: unknown) => { readonly output: unknown } | { readonly code: string };

/** A tenant whose workflows are replayed. */
export interface ReplayTenant {
  readonly id: string;
  /** An admin's client for each node. */
  readonly nodes: readonly RestClient[];
  /** A client with other credentials on the first node. */
  clientWith(key: object): Promise<RestClient>;
  /** Calls the first node, requires success, and returns the data of the response. */
  must(method: string, path: string, body?: unknown): Promise<RestResponse["body"]>;
  /** Publishes the next version of a definition and returns its id. */
  publish(key: string, document: object): Promise<string>;
  start(key: string, input?: unknown, more?: object): Promise<string>;
  /** Works on tasks until the given runs have ended. Returns the steps that were executed, as `run id:step`. */
  work(runIds: readonly string[], decide?: Decide): Promise<string[]>;
  run(runId: string): Promise<RestResponse["body"]>;
}

/** Starts nodes on one database. */
export async function createReplayFixture(count = 1, settings: TestSettings = {}): Promise<ReplayFixture> {
  const { url, drop } = await freshDatabase();
  const adminKey = `sk_test_admin_${randomBytes(16).toString("hex")}`;
  const nodes: TestService[] = [];
  for (let nth = 0; nth < count; nth++) {
    nodes.push(await startService({ ...settings, "auth.bootstrap_api_key": adminKey }, url));
  }
  const sql = connect(url, 2);
  afterFile(async () => {
    await sql.end({ timeout: 1 });
    await Promise.all(nodes.map((node) => node.stop()));
    await drop();
  });
  const platform = restClient(nodes[0]!.baseUrl, adminKey);
  return {
    sql,
    metricsUrl: nodes[0]!.metricsUrl,
    async newTenant(settings = {}) {
      const { body } = await platform.call("POST", "/api/tenants", {
        name: "replays",
        issue_admin_key: true,
        ...settings,
      });
      const clientOf = (key: string, nth = 0) => restClient(nodes[nth]!.baseUrl, key);
      return tenantOf(
        body.data.id,
        nodes.map((_, nth) => clientOf(body.data.admin_key, nth)),
        clientOf,
      );
    },
  };
}

function tenantOf(id: string, nodes: readonly RestClient[], clientOf: (key: string) => RestClient): ReplayTenant {
  const rest = nodes[0]!;
  const known = new Set<string>();

  async function must(method: string, path: string, body?: unknown): Promise<RestResponse["body"]> {
    const response = await rest.call(method, path, body);
    assert.ok(response.status < 300, `${method} ${path}: ${response.text}`);
    return response.body.data;
  }

  const run = (runId: string) => must("GET", `/api/workflow-runs/${runId}`);
  const isEnded = async (runId: string) =>
    ["succeeded", "failed", "cancelled", "timed_out"].includes((await run(runId)).status);

  return {
    id,
    nodes,
    must,
    run,

    async clientWith(key) {
      const created = await must("POST", "/api/v2/api-keys", { name: "other", ...key });
      return clientOf(created.secret);
    },

    async publish(key, document) {
      const full = { dsl: "1", key, timeout: "1h", ...document };
      if (known.has(key)) await must("PATCH", `/api/workflow-definitions/${key}/draft`, { document: full });
      else await must("POST", "/api/workflow-definitions", { document: full });
      known.add(key);
      await must("POST", `/api/workflow-definitions/${key}/publish`, {});
      return (await must("GET", `/api/workflow-definitions/${key}`)).id;
    },

    async start(definition, input = null, more = {}) {
      return (await must("POST", "/api/workflow-runs", { definition, input, ...more })).run.id;
    },

    async work(runIds, decide = (step) => ({ output: step })) {
      const executed: string[] = [];
      const open = new Set(runIds);
      const poll = {
        ...{ queue: "work", worker_id: "w", slots: 50, wait_s: 1 },
        capabilities: [{ type: "do" }],
      };
      while (open.size > 0) {
        for (const runId of [...open]) if (await isEnded(runId)) open.delete(runId);
        if (open.size === 0) break;
        const { tasks } = await must("POST", "/api/workflow-tasks:poll", poll);
        for (const task of tasks ?? []) {
          executed.push(`${task.run_id}:${task.step}`);
          const result = decide(task.step, task.input);
          const { task_id, token } = task;
          if ("output" in result) {
            await must("POST", "/api/workflow-tasks:complete", {
              completions: [{ task_id, token, output: result.output }],
            });
          } else {
            const failure = { task_id, token, code: result.code, message: "no", retryable: false };
            await must("POST", "/api/workflow-tasks:fail", { failures: [failure] });
          }
        }
      }
      return executed;
    },
  };
}

/** A task step. */
export function task(id: string, input: unknown = null, more: object = {}): object {
  return { id, task: { queue: "work", type: "do", errors: ["broken"] }, with: input, ...more };
}
