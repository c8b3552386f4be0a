import { after, before, test } from "node:test";
import {
  administer,
  connect,
  databaseUrl,
  startTestServer,
  TEMPLATE,
  type TestServer,
} from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

const nodeCount = 3;
/** By the clock of the database. */
const windowS = 20;
const name = "idle";

/** A server of its own, because transaction ids are counted for all databases of a server. */
let server: TestServer;
let nodes: TestService[];

before(async () => {
  server = await startTestServer();
  await administer(server.url, `create database ${name} template ${TEMPLATE}`);
  const settings = { "auth.bootstrap_api_key": "sk_test_idle_0123456789abcdef" };
  const start = () => startService(settings, databaseUrl(server.url, name));
  nodes = await Promise.all(Array.from({ length: nodeCount }, start));
});
after(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await server.stop();
});

test("an idle node costs at most ten transactions and two transaction ids a second, and keeps eight connections", async (t) => {
  const sql = connect(databaseUrl(server.url, "postgres"), 1);
  t.after(() => sql.end());
  const readTime = async () => (await sql<[{ at: number }]>`select extract(epoch from now())::float8 as at`)[0].at;
  const readCounters = async () => {
    const [row] = await sql<[{ transactions: number; ids: number; at: number }]>`
      select (xact_commit + xact_rollback)::float8 as transactions, pg_snapshot_xmax(pg_current_snapshot())::text::float8 as ids,
        extract(epoch from now())::float8 as at
      from pg_stat_database where datname = ${name}`;
    return row;
  };
  /** What a node costs each second during a window. */
  const readCost = async () => {
    const first = await readCounters();
    await until(readTime, (at) => at >= first.at + windowS);
    const last = await readCounters();
    const perNode = (key: "transactions" | "ids") => (last[key] - first[key]) / (last.at - first.at) / nodeCount;
    return { transactions: perNode("transactions"), ids: perNode("ids") };
  };
  // The first windows contain what a node does once after its start.
  await until(readCost, ({ transactions, ids }) => transactions <= 10 && ids <= 2, 100_000);
  await until(
    async () => (await sql`select from pg_stat_activity where datname = ${name}`).count,
    (connections) => connections <= 8 * nodeCount,
  );
});
