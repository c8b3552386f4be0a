import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { post, type RunningNode } from "../chaos/supervised-node.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import type { TestSql } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

/** A receiver that can be stopped and restarted. It keeps its port, which another program might take. */
class RestartableReceiver {
  /** How often each message arrived, by its webhook-id. */
  readonly arrivals = new Map<string, number>();
  /** Event ids by message id. */
  readonly events = new Map<string, string>();
  /** Handles a request whose body has arrived. */
  onMessage: (response: ServerResponse) => void = (response) => response.end();
  #isDead = false;
  readonly #server = createServer(async (request, response) => {
    const body = await request.toArray().catch(() => undefined);
    if (body === undefined) return;
    const id = String(request.headers["webhook-id"]);
    this.arrivals.set(id, (this.arrivals.get(id) ?? 0) + 1);
    this.events.set(id, JSON.parse(Buffer.concat(body).toString()).id);
    this.onMessage(response);
  }).on("connection", (socket) => {
    if (this.#isDead) socket.resetAndDestroy();
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  kill(): void {
    this.#isDead = true;
    this.#server.closeAllConnections();
  }

  restart(): void {
    this.#isDead = false;
  }

  close(): void {
    this.#server.close();
    this.kill();
  }
}

async function startFixture(t: TestContext) {
  const database = await freshDatabase();
  const receiver = new RestartableReceiver();
  await receiver.listen();
  const settings = {
    "database.url": database.url,
    "auth.bootstrap_api_key": "sk_test_webhooks_0123456789abcdef",
    "connector.encryption_key": createHash("sha256").update("only for tests").digest("base64"),
    "egress.mode": "enforce",
    "egress.allowed_ip_nets": "127.0.0.0/8",
  };
  const stops: (() => Promise<void>)[] = [];
  t.after(async () => {
    await Promise.all(stops.map((stop) => stop()));
    receiver.close();
    await database.drop();
  });
  return {
    sql: database.sql,
    receiver,
    async startDoomed() {
      const node = await startNodeProcess(settings);
      stops.push(node.kill);
      return node;
    },
    async start() {
      const node = await startService(settings, database.url);
      stops.push(node.stop);
      return node;
    },
  };
}

/** Publishes until the node is down or enough is acknowledged; returns the acknowledged ids. */
async function publish(
  node: Pick<RunningNode, "baseUrl" | "adminKey">,
  count: number,
  onAcknowledged: (total: number) => void,
): Promise<string[]> {
  const acknowledged: string[] = [];
  const writer = async () => {
    while (acknowledged.length < count) {
      const answer = await post(node, "/api/events", { type: "order.paid" }).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status !== 200) continue;
      acknowledged.push(answer.body.data.id);
      onAcknowledged(acknowledged.length);
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
  return acknowledged;
}

/** Whether every event is delivered. The delivery of an event is created some time after the event. */
async function isAllDelivered(sql: TestSql): Promise<boolean> {
  const [row] = await sql`
    select count(*) = (select count(*) from events where type = 'order.paid') and bool_and(status = 'succeeded') as done
    from webhook_deliveries`;
  return row!.done;
}

test("after kill -9 of the service during deliveries, every acknowledged event arrives with one message id", async (t) => {
  const { sql, receiver, startDoomed, start } = await startFixture(t);
  const node = await startDoomed();
  const created = await post(node, "/api/v2/webhooks/endpoints", { url: receiver.url, event_types: ["order.*"] });
  assert.equal(created.status, 200);
  // Some responses are delayed, so that deliveries are in flight when the node dies.
  const held: ServerResponse[] = [];
  let received = 0;
  receiver.onMessage = (response) => {
    if (++received % 5 === 0) held.push(response);
    else response.end();
  };
  const acknowledged = await publish(node, 5000, (total) => {
    if (total >= 300 && held.length > 0) node.process.kill("SIGKILL");
  });
  await node.exited;
  assert.ok(acknowledged.length >= 300);
  receiver.onMessage = (response) => response.end();
  await until(async () => {
    const [left] = await sql`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and application_name = 'switchyard'`;
    return left!.n === 0;
  });
  // The dead node's leases expire after a minute, which is too long for the test.
  const { count } = await sql`update webhook_deliveries set next_attempt_at = now() where lease_token is not null`;
  assert.ok(count > 0, "some deliveries were in flight");

  await start();
  await until(() => isAllDelivered(sql), Boolean, 120_000);
  const arrived = new Set(receiver.events.values());
  assert.ok(acknowledged.every((id) => arrived.has(id)));
  const endpointId = created.body.data.id;
  for (const [messageId, eventId] of receiver.events) assert.equal(messageId, `${eventId}_${endpointId}`);
  const [row] = await sql`select count(*)::int as n from webhook_deliveries`;
  assert.equal(row!.n, receiver.events.size, "one delivery per event");
});

test("a receiver that dies during deliveries and restarts loses nothing", async (t) => {
  const { sql, receiver, start } = await startFixture(t);
  const node = await start();
  await post(node, "/api/v2/webhooks/endpoints", { url: receiver.url, event_types: ["order.*"] });
  let received = 0;
  let isDead = false;
  receiver.onMessage = (response) => {
    // Requests that it holds when it dies were received but got no response.
    if (++received <= 20) response.end();
    else if (!isDead) {
      isDead = true;
      receiver.kill();
    }
  };
  const acknowledged = await publish(node, 60, () => {});
  await until(() => isDead);
  await until(async () => {
    const [row] = await sql`
      select count(*)::int as n from webhook_deliveries where status = 'pending' and attempt_count > 0`;
    return row!.n > 0;
  });
  receiver.onMessage = (response) => response.end();
  receiver.restart();
  await until(async () => {
    // Second attempts would start about five seconds after the first.
    await sql`update webhook_deliveries set next_attempt_at = now() where lease_token is null and next_attempt_at > now()`;
    return isAllDelivered(sql);
  });
  assert.deepEqual(new Set(receiver.events.values()), new Set(acknowledged));
  const [first] = await sql`select attempt_log from webhook_deliveries where attempt_count > 1 limit 1`;
  assert.ok(["connection_lost", "connect"].includes(first!.attempt_log[0].failure));
});
