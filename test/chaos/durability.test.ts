import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { query, runs } from "../harness/embedded-owner.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { sized } from "../harness/run-size.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { type PostResponse, post } from "./supervised-node.ts";

/** A service with the embedded PostgreSQL in its own folder. */
async function scratch(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-chaos-"));
  const cluster = join(dataDir, "postgres", "cluster");
  let node: NodeProcess | undefined;
  let here: TestService | undefined;
  t.after(async () => {
    await node?.kill();
    await here?.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });
  return {
    url: `postgres://switchyard@${encodeURIComponent(cluster)}/switchyard`,
    start: async () => {
      node = await startNodeProcess({ "data.dir": dataDir });
      return node;
    },
    /** Starts the last node, which nothing kills, in this process. */
    startHere: async () => {
      here = await startService({ "data.dir": dataDir }, "");
    },
    databasePid: async () => Number.parseInt(await readFile(join(cluster, "postmaster.pid"), "utf8"), 10),
  };
}

/** The sent requests, and the record that acknowledged each of them. */
interface Ledger {
  readonly events: Map<string, string | undefined>;
  readonly environments: Map<string, string | undefined>;
}

/** Writes concurrently until the node is down; calls back on every acknowledgement. */
async function writeUntilGone(node: NodeProcess, round: number, ledger: Ledger, onAcknowledged: () => void) {
  let sent = 0;
  const write = async (path: string, body: object, key: string): Promise<PostResponse | undefined> =>
    post(node, path, body, { "idempotency-key": key }).catch(() => undefined);
  const writer = async (kind: keyof Ledger) => {
    for (;;) {
      const name = `r${round}-${sent++}`;
      ledger[kind].set(name, undefined);
      const response =
        kind === "events"
          ? await write("/api/events", { type: "order.paid", subject: name }, name)
          : await write("/api/v2/environments", { key: name }, name);
      if (response === undefined) return;
      // When the database dies before the service, calls are rejected; none of those is an acknowledgement.
      if (response.status !== 200) continue;
      ledger[kind].set(name, response.body.data.id);
      onAcknowledged();
    }
  };
  await Promise.all([...Array(24).fill("events"), ...Array(6).fill("environments")].map(writer));
}

/** Asserts that every acknowledged record exists, and that every other one exists completely or not at all. */
async function checkLedger(ledger: Ledger, ask: (statement: string) => Promise<Record<string, unknown>[]>) {
  const records = await ask("select key, operation, state from idempotency_records");
  assert.deepEqual(new Set(records.map((record) => record.state)), new Set(["completed"]));
  const recorded = (method: string) =>
    new Set(records.filter((record) => String(record.operation).endsWith(method)).map((record) => record.key));
  const events = await ask("select id, subject from events where type = 'order.paid'");
  checkKind(ledger.events, new Map(events.map((row) => [row.subject, row.id])), recorded("PublishEvent"));
  assert.equal(new Set(events.map((row) => row.subject)).size, events.length, "no event twice");

  const environments = await ask("select id, key from environments where key like 'r%-%'");
  checkKind(ledger.environments, new Map(environments.map((row) => [row.key, row.id])), recorded("CreateEnvironment"));
  const told = await ask("select subject from events where type = 'environment.created'");
  assert.deepEqual(new Set(told.map((row) => row.subject)), new Set(environments.map((row) => row.id)));
  assert.equal(told.length, environments.length);
}

function checkKind(sent: Ledger["events"], rows: Map<unknown, unknown>, records: Set<unknown>): void {
  for (const [name, acknowledged] of sent) {
    if (acknowledged !== undefined) assert.equal(rows.get(name), acknowledged, `${name} was acknowledged and is lost`);
    assert.equal(rows.has(name), records.has(name), `${name} is incomplete`);
  }
}

test("acknowledged writes survive kill -9 of the service and its database under load; the others are complete or absent", async (t) => {
  const { url, start, startHere, databasePid } = await scratch(t);
  const ledger: Ledger = { events: new Map(), environments: new Map() };
  for (let round = 1; round <= sized(2, 20); round++) {
    const node = await start();
    const database = await databasePid();
    let acknowledged = 0;
    await writeUntilGone(node, round, ledger, () => {
      if (++acknowledged !== 400) return;
      // Both orders: the process that lives longer must not cause damage.
      if (round % 2 === 0) process.kill(database, "SIGKILL");
      node.process.kill("SIGKILL");
      if (round % 2 !== 0) process.kill(database, "SIGKILL");
    });
    await node.exited;
    await until(async () => !(await runs(database)));
  }
  await startHere();
  await checkLedger(ledger, (statement) => query(url, statement));
});

test("a service whose embedded database is killed rejects calls, exits with an error, and restarts with all data", async (t) => {
  const { url, start, startHere, databasePid } = await scratch(t);
  const node = await start();
  const ledger: Ledger = { events: new Map(), environments: new Map() };
  const database = await databasePid();
  let acknowledged = 0;
  await writeUntilGone(node, 1, ledger, () => {
    if (++acknowledged === 200) process.kill(database, "SIGKILL");
  });
  assert.equal(await node.exited, 1);
  assert.match(node.output(), /embedded PostgreSQL exited/);
  await startHere();
  await checkLedger(ledger, (statement) => query(url, statement));
});
