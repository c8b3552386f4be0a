import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { supervise } from "../../chaos/supervised-node.ts";
import { freshDatabase } from "../../harness/postgres.ts";
import { fc } from "../../harness/random.ts";
import { restClient } from "../../harness/rest.ts";
import { sized } from "../../harness/run-size.ts";
import { until } from "../../harness/until.ts";
import { itemChanged, type ListedItem, startListProvider } from "./list-provider.ts";

const settings = {
  "auth.bootstrap_api_key": "sk_test_pollcrash_0123456789abcdef",
  "connector.encryption_key": Buffer.from("0123456789abcdefghijklmnopqrstuv").toString("base64"),
  "egress.mode": "enforce",
  "egress.allowed_ip_nets": "127.0.0.0/8",
};

const count = sized(2000, 10_000);
const scans = sized(5, 12);
const pageSize = count / 10;
/** Less than the look-back time of the trigger, because the test itself takes time. */
const lateMsMax = 400_000;

/** When an item becomes visible, and how much earlier it changed. */
interface Plan {
  readonly scan: number;
  readonly lateMs: number;
  /** Shown a second time in the same list. */
  readonly repeated: boolean;
}

/** A database with one node after another, and a subscription that polls a list. */
async function startCluster(t: TestContext, kills: number) {
  const database = await freshDatabase();
  const provider = await startListProvider(pageSize);
  const node = await supervise({ ...settings, "database.url": database.url }, kills);
  t.after(async () => {
    await node.stop();
    await database.drop();
  });
  const rest = restClient((await node.current).baseUrl, settings["auth.bootstrap_api_key"]);
  const must = async (path: string, body: object) => {
    const response = await rest.call("POST", path, body);
    assert.ok(response.status < 300, response.text);
    return response.body.data;
  };
  await must("/api/v2/connector/manifests", {
    document: {
      ...{ manifest: 1, key: "acme", version: "1.0.0", name: "Acme", category: "generic", description: "A test." },
      ...{ docs_url: "https://acme.example", hosts: ["127.0.0.1"], base_url: `http://127.0.0.1:${provider.port}` },
      auth: {
        api_key: { fields: { token: { title: "T" } }, apply: { headers: { "x-token": "{credentials.token}" } } },
      },
      triggers: { "item.changed": itemChanged },
      actions: {},
    },
  });
  const connection = await must("/api/v2/connector/connections", {
    ...{ name: "c", provider_key: "acme", credentials: { token: "secret-token" } },
  });
  const subscription = await must("/api/v2/connector/trigger-subscriptions", {
    ...{ name: "s", trigger_key: "acme.item.changed", connection_id: connection.id },
  });
  return { sql: database.sql, provider, node, id: subscription.id as string };
}

/** Makes scans due at once until one more scan is complete. */
async function scanOnce({ sql, id }: Awaited<ReturnType<typeof startCluster>>): Promise<void> {
  const [before] = await sql<{ at: string }[]>`
    select coalesce(scanned_at::text, '') as at from connector_trigger_subscriptions where id = ${id}`;
  await until(
    () => sql`
      update connector_trigger_subscriptions
      set poll_due_at = case when poll_claim = '' then now() else poll_due_at end
      where id = ${id} and (coalesce(scanned_at::text, '') = ${before!.at} or scan is not null) returning 1`,
    ({ length }) => length === 0,
  );
}

test(`${count} late, reordered and repeated items become one event each, although nodes are killed in the middle`, async (t) => {
  const kills = new Set(fc.sample(fc.integer({ min: 1, max: scans - 2 }), sized(1, 4)));
  const cluster = await startCluster(t, kills.size);
  const { sql, provider, id, node } = cluster;
  await until(async () => {
    const rows = await sql`select from connector_trigger_subscriptions where id = ${id} and ready_at is not null`;
    return rows.length === 1;
  });
  const plan = fc.sample(
    fc.record({
      scan: fc.integer({ min: 0, max: scans - 1 }),
      lateMs: fc.integer({ min: 0, max: lateMsMax }),
      repeated: fc.boolean(),
    }),
    count,
  ) satisfies Plan[];
  const order = fc.sample(fc.array(fc.nat(), { minLength: 64, maxLength: 64 }), scans);
  const crash = async () => {
    await node.crash();
    // The claim of the dead node would expire later.
    await sql`update connector_trigger_subscriptions set poll_due_at = now() where id = ${id}`;
  };
  let shown: ListedItem[] = [];
  let newest = "";
  let behind = 0;
  let killed = 0;
  for (let scan = 0; scan < scans; scan++) {
    const nowMs = Date.now();
    const added = plan.flatMap((each, nth) => {
      if (each.scan !== scan) return [];
      const item = { id: `item-${nth}`, updated_at: new Date(nowMs - each.lateMs).toISOString() };
      if (item.updated_at < newest) behind++;
      return each.repeated ? [item, item] : [item];
    });
    shown = shuffled([...shown, ...added], order[scan]!);
    for (const { updated_at } of added) if (updated_at > newest) newest = updated_at;
    provider.state.items = shown;
    if (kills.has(scan)) {
      // The only node dies while it waits for a page in the middle of the list.
      const page = Math.floor(shown.length / pageSize / 2);
      const reached = Promise.withResolvers<void>();
      provider.state.interrupt = (nth) => {
        if (nth !== page) return undefined;
        provider.state.interrupt = undefined;
        killed++;
        reached.resolve(crash());
        return reached.promise.then(() => undefined);
      };
      await scanOnce(cluster);
      assert.equal(provider.state.interrupt, undefined, "the scan ended before it reached the page");
      await reached.promise;
    } else {
      await scanOnce(cluster);
    }
  }
  await scanOnce(cluster);
  assert.ok(behind > count / 3, "a single watermark would have lost few items");
  assert.equal(killed, kills.size);
  const keys = await sql<{ item: string; events: number }[]>`
    select payload->>'id' as item, count(*)::int as events from connector_trigger_events
    where subscription_id = ${id} group by 1`;
  const doubled = keys.filter(({ events }) => events !== 1).map(({ item }) => item);
  const found = new Set(keys.map(({ item }) => item));
  const lost = plan.flatMap((_, nth) => (found.has(`item-${nth}`) ? [] : [`item-${nth}`]));
  assert.deepEqual({ lost, doubled, events: keys.length }, { lost: [], doubled: [], events: count });
  // Every event also reaches the end of its delivery, those of killed nodes after their claims.
  await sql`update connector_trigger_deliveries set due_at = now()`;
  await until(async () => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from connector_trigger_events where subscription_id = ${id} and status <> 'recorded'`;
    return row!.open === 0;
  });
});

/** An order that follows from some numbers. */
function shuffled<T>(items: readonly T[], seeds: readonly number[]): T[] {
  return items
    .map((item, at) => ({ item, rank: Math.imul(at + 1, 2654435761) ^ seeds[at % seeds.length]! }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}
