import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isAlive } from "../../../../test/harness/process-tree.ts";
import { startCluster } from "./cluster.ts";
import { addressOf } from "./database-proxy.ts";
import { createProofNode } from "./proof-node.ts";

const serving = 'console.log("serving at http://127.0.0.1:9\\nadmin key none");';
const running = "setInterval(() => {}, 1000);";

test("a database behind a socket is behind sockets only, in a folder of this user", async (t) => {
  const { folder, main } = await newProgram(t, serving + running);
  const server = createServer((socket) => void socket.end("the database"));
  server.listen(join(folder, ".s.PGSQL.5432"));
  await once(server, "listening");
  t.after(() => server.close());
  const { stop } = await startCluster({
    ...{ count: 2, main, folder, databaseUrl: `postgres://me@${encodeURIComponent(folder)}/records`, settings: {} },
    ...{ random: Math.random, onProcesses() {}, onInternalError() {}, onLoss() {} },
  });
  t.after(stop);
  assert.deepEqual(
    process.getActiveResourcesInfo().filter((name) => name.startsWith("TCPServer")),
    [],
  );
  for (const name of ["n1", "n2"]) {
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o700);
    const answer = await connect(join(folder, name, ".s.PGSQL.5432"))
      .setEncoding("utf8")
      .toArray();
    assert.deepEqual(answer, ["the database"]);
  }
});

test("a database at an IPv6 address is found", () => {
  assert.deepEqual(addressOf("postgres://me@[::1]:5433/records"), { host: "::1", port: 5433 });
});

test("a node that is killed while it starts ends", async (t) => {
  const { node } = await newNode(t, {});
  const started = node.start();
  const { pid } = node;
  assert.ok(isAlive(pid));
  await Promise.all([assert.rejects(started, /The node ended with SIGKILL/), node.kill()]);
  assert.ok(!isAlive(pid));
});

test("a node that does not serve in time is killed, and says so", async (t) => {
  const { node, pids } = await newNode(t, { startMsMax: 1 });
  await assert.rejects(node.start(), /^Error: Node 1 does not serve 0.001 s after its start/);
  assert.equal(pids.length, 1);
  assert.ok(!isAlive(pids[0]));
});

/** A node that never serves, and the processes it had. */
async function newNode(t: TestContext, options: { readonly startMsMax?: number }) {
  const { main } = await newProgram(t, running);
  const pids: number[] = [];
  const node = createProofNode({
    ...{ number: 1, main, settings: {}, ...options },
    onChange: () => void (node.pid !== undefined && pids.push(node.pid)),
    onLoss() {},
  });
  return { node, pids };
}

/** A program that stands for the service. */
async function newProgram(t: TestContext, text: string) {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-test-cluster-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const main = join(folder, "main.mjs");
  await writeFile(main, text);
  return { folder, main };
}
