import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "../harness/postgres-server.ts";
import { type RestResponse, restClient } from "../harness/rest.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { type Receiver, startReceiver } from "../webhooks/receiver.ts";

/** The settings of nodes that send webhooks to a receiver of the test. */
export const workSettings = {
  "auth.bootstrap_api_key": "sk_test_database_0123456789abcdef",
  "connector.encryption_key": createHash("sha256").update("only for tests").digest("base64"),
  "egress.mode": "enforce",
  "egress.allowed_ip_nets": "127.0.0.0/8",
  "events.retention_days": "30",
};

const key = workSettings["auth.bootstrap_api_key"];
const writers = sized(4, 16);
/** How long the work of a test may take. */
export const workMsMax = sized(300_000, 3_600_000);

/** Work whose effects show whether every event arrived: webhooks in order, a run for each event, and items. */
export interface OrderWork {
  /** The ids of the acknowledged events, by their number. */
  readonly events: ReadonlyMap<number, string>;
  readonly items: ReadonlySet<string>;
  readonly receiver: Receiver;
  /** Publishes this many events and routes as many items; every call is repeated until it succeeds. */
  write(count: number): Promise<void>;
  /** Asserts that every event arrived in the order of the log, with its run, and completes every item. */
  assertWhole(databaseUrl: string): Promise<void>;
}

interface ItemRef {
  readonly queue_item_id: string;
  readonly lease_token: string;
}

/** Prepares the work on a node. The base URL may change while calls are repeated. */
export async function startOrderWork(baseUrl: () => string): Promise<OrderWork> {
  const receiver = await startReceiver();
  const events = new Map<number, string>();
  const items = new Set<string>();
  const completed = new Set<string>();
  let next = 0;

  async function call(method: string, path: string, body: object, idempotencyKey?: string): Promise<RestResponse> {
    for (;;) {
      const headers: Record<string, string> = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
      // A lost connection is retryable, too.
      const answer = await restClient(baseUrl(), key)
        .call(method, path, body, headers)
        .catch(() => undefined);
      if (answer?.status === 200) return answer;
      assert.ok(answer === undefined || answer.body.retryable === true, `${path}: ${answer?.text}`);
      await delay(20);
    }
  }

  await call("POST", "/api/v2/webhooks/endpoints", { url: receiver.url(), event_types: ["order.*"], ordered: true });
  const text = 'dsl: "1"\nkey: order\ntimeout: 1d\nsteps:\n  - id: done\n    transform: { value: 1 }\n';
  const imported = await call("POST", "/api/workflow-definitions:import", { text, format: "yaml" });
  await call("POST", `/api/workflow-definitions/${imported.body.data.workflow_definition.id}/publish`, { message: "" });
  await call("POST", "/api/workflow-triggers", {
    name: "order",
    definition: "order",
    event: { types: ["order.paid"] },
  });
  const pool = (await call("POST", "/api/pools", { name: "Orders" })).body.data.id;

  async function writeOne(n: number): Promise<void> {
    const published = await call("POST", "/api/events", { type: "order.paid", data: { n } }, `event-${n}`);
    events.set(n, published.body.data.id);
    const routed = await call("POST", "/api/route", { pool_id: pool, type: "order", attributes: { n } }, `item-${n}`);
    items.add(routed.body.data.queue_item_id);
  }

  async function completeAll(): Promise<void> {
    while (completed.size < items.size) {
      const leased = await call("POST", `/api/queues/${pool}/lease`, { max_items: 100, wait_s: 1 });
      const refs: ItemRef[] = leased.body.data.items.map(({ queue_item_id, lease_token }: ItemRef) => ({
        queue_item_id,
        lease_token,
      }));
      if (refs.length === 0) continue;
      const key = `complete-${refs[0]!.lease_token}`;
      const { body } = await call("POST", `/api/queues/${pool}/items:complete`, { items: refs }, key);
      for (const [at, { queue_item_id }] of refs.entries()) {
        assert.equal(body.data.results[at].error_code, "");
        completed.add(queue_item_id);
      }
    }
  }

  return {
    events,
    items,
    receiver,
    async write(count) {
      const end = next + count;
      const writer = async () => {
        while (next < end) await writeOne(next++);
      };
      await Promise.all(Array.from({ length: writers }, writer));
    },
    async assertWhole(databaseUrl) {
      const acknowledged = new Set(events.values());
      const arrived = () => [...new Set(receiver.received().map(({ body }) => JSON.parse(body).id as string))];
      await until(() => arrived().length >= acknowledged.size, Boolean, workMsMax);
      const sql = connect(databaseUrl, 1);
      try {
        const log = await sql<{ id: string }[]>`select id from events where type = 'order.paid' order by stamp, id`;
        const ids = log.map(({ id }) => id);
        assert.deepEqual(new Set(ids), acknowledged, "every acknowledged event is in the log once");
        assert.deepEqual(arrived(), ids, "webhooks arrive in the order of the log");
        const runs = async () => (await sql`select from all_workflow_runs where status = 'succeeded'`).count;
        await until(async () => (await runs()) >= ids.length, Boolean, workMsMax);
        assert.equal(await runs(), ids.length, "every event has one run");
      } finally {
        await sql.end();
      }
      await completeAll();
      assert.deepEqual(completed, items);
    },
  };
}
