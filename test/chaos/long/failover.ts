// Own process: it runs for many minutes, with nine other processes.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type NodeProcess, startNodeProcess } from "../../harness/node-process.ts";
import {
  type Member,
  type PatroniCluster,
  type Roles,
  startPatroniCluster,
  whyNoPatroni,
} from "../../harness/patroni-cluster.ts";
import { type Replication, ttlS } from "../../harness/patroni-config.ts";
import { administer, connect, databaseUrl } from "../../harness/postgres-server.ts";
import { until } from "../../harness/until.ts";
import { startClusterProbe } from "./cluster-probe.ts";
import { type FailoverLoad, startFailoverLoad, timeNow } from "./failover-load.ts";

const nodeCount = 3;
const callTimeoutS = 5;
const waitMs = 180_000;
/** How often each of the ways to fail is repeated. */
const rounds = Number(process.env.FAILOVER_ROUNDS ?? 4);

interface Fixture {
  readonly cluster: PatroniCluster;
  readonly load: FailoverLoad;
  /** Waits until the cluster is complete and calls are acknowledged. */
  healthy(): Promise<Roles>;
}

/** Nodes on a cluster under load; undefined, after the test was skipped, where there is no Patroni. */
async function loadedCluster(t: TestContext, replication: Replication): Promise<Fixture | undefined> {
  const cluster = await startPatroniCluster(replication);
  if (cluster === undefined) return void t.skip(whyNoPatroni());
  const nodes: NodeProcess[] = [];
  let load: FailoverLoad | undefined;
  t.after(async () => {
    load?.stop();
    await Promise.all(nodes.map((node) => node.kill()));
    await cluster.stop();
  });
  const roles = () => until(() => cluster.roles(), Boolean, waitMs) as Promise<Roles>;
  await roles();
  await until(() =>
    administer(cluster.url, "create database switchyard").then(
      () => true,
      () => false,
    ),
  );
  const settings = {
    "database.url": databaseUrl(cluster.url, "switchyard"),
    "auth.bootstrap_api_key": "sk_test_failover_0123456789abcdef",
    "api.request_timeout_s": String(callTimeoutS),
    "log.level": "error",
  };
  nodes.push(await startNodeProcess(settings));
  nodes.push(...(await Promise.all(Array.from({ length: nodeCount - 1 }, () => startNodeProcess(settings)))));
  const started = await startFailoverLoad(nodes);
  load = started;
  const healthy = async () => {
    const found = await roles();
    const before = started.acknowledged;
    await until(() => started.acknowledged > before + 200, Boolean, waitMs);
    return found;
  };
  return { cluster, load: started, healthy };
}

interface Failure {
  readonly name: string;
  /** How long no write should be acknowledged at most, on a quiet machine; undefined where that depends on the failure. */
  readonly gapS?: number;
  /** Makes the cluster fail. Returns when it may recover. */
  cause(fixture: Fixture, roles: Roles): Promise<void>;
}

const failures: readonly Failure[] = [
  {
    name: "primary and its agent killed",
    gapS: ttlS + 6,
    async cause(fixture, { primary }) {
      await primary.kill();
      await untilLedByAnother(fixture, primary);
      primary.start();
    },
  },
  {
    name: "only the postmaster killed",
    gapS: 8,
    async cause(_, { primary }) {
      primary.killPostmaster();
    },
  },
  {
    name: "primary and its agent frozen",
    gapS: ttlS + 6,
    async cause(fixture, { primary }) {
      primary.freeze();
      await untilLedByAnother(fixture, primary);
      primary.thaw();
    },
  },
  {
    name: "etcd lost until the primary steps down",
    async cause({ cluster, load }) {
      cluster.freezeStore();
      await untilRefused(load);
      cluster.thawStore();
    },
  },
  {
    name: "both standbys lost: writes wait",
    async cause({ load }, { primary, standbys }) {
      for (const standby of standbys) standby.freeze();
      const frozenAtMs = performance.now();
      await untilRefused(load);
      await cancelWaits(primary);
      await untilRefused(load);
      assert.equal(load.sentSince(frozenAtMs), 0, "nothing is acknowledged without a synchronous standby");
      for (const standby of standbys) standby.thaw();
    },
  },
];

/** Waits until calls are acknowledged again, which means that another member has become the primary. */
async function untilLedByAnother({ load }: Fixture, lost: Member): Promise<void> {
  const atMs = performance.now();
  await until(() => load.sentSince(atMs) > 20, Boolean, waitMs).catch((cause) => {
    throw new Error(`Nobody has replaced ${lost.name}.`, { cause });
  });
}

/** Waits until more calls were refused than can be in flight. */
async function untilRefused({ errors }: FailoverLoad): Promise<void> {
  const before = errors.retryable;
  await until(() => errors.retryable > before + 30, Boolean, waitMs);
}

/** Cancels every commit that waits for a standby, as an impatient administrator does. */
async function cancelWaits({ url }: Member): Promise<void> {
  const sql = connect(url, 1);
  try {
    const cancel = () => sql`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
    await until(async () => (await cancel()).length > 0);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test("a cluster with synchronous replication that fails over, by any cause, loses and doubles nothing that was acknowledged", async (t) => {
  const fixture = await loadedCluster(t, { isSynchronous: true });
  if (fixture === undefined) return;
  const { cluster, load, healthy } = fixture;
  const probe = startClusterProbe(cluster.url);
  t.after(() => probe.stop());
  const titles = ["acknowledged", "retryable errors", "longest write gap", "of the cluster", "aim"];
  console.log(row("began at", "failure", "primary", ...titles));
  for (let nth = 0; nth < rounds * failures.length; nth++) {
    const { name, gapS, cause } = failures[nth % failures.length]!;
    const roles = await healthy();
    const beganAt = timeNow();
    const [acknowledged, refused, startedAtMs] = [load.acknowledged, load.errors.retryable, performance.now()];
    await cause(fixture, roles);
    await healthy();
    const gaps = [load, probe].map((each) => `${(each.longestGapMs(startedAtMs) / 1000).toFixed(1)} s`);
    const cells = [load.acknowledged - acknowledged, load.errors.retryable - refused, ...gaps];
    console.log(row(beganAt, name, roles.primary.name, ...cells, gapS === undefined ? "" : `${gapS} s`));
  }
  const { acknowledged, lost, doubled } = await load.end();
  console.log(`${acknowledged} items were accepted or completed; ${lost.length} are lost, ${doubled.length} doubled.`);
  assert.deepEqual({ lost, doubled, others: load.errors.others }, { lost: [], doubled: [], others: [] });
});

test("the same load loses acknowledged items when replication is asynchronous and the standbys lag", async (t) => {
  const fixture = await loadedCluster(t, { isSynchronous: false });
  if (fixture === undefined) return;
  const { load, healthy } = fixture;
  const { primary, standbys } = await healthy();
  await Promise.all(standbys.map((standby) => standby.kill()));
  const before = load.acknowledged;
  await until(() => load.acknowledged > before + 500);
  await primary.kill();
  for (const standby of standbys) standby.start();
  await untilLedByAnother(fixture, primary);
  const { acknowledged, lost } = await load.end();
  console.log(`${acknowledged} items were accepted or completed; ${lost.length} are lost.`);
  assert.ok(lost.length > 0, "this load can tell that items are lost");
});

function row(...cells: readonly (string | number)[]): string {
  const widths = [13, 40, 8, 13, 17, 18, 15, 5];
  return cells.map((cell, nth) => String(cell).padEnd(widths[nth]!)).join(" ");
}
