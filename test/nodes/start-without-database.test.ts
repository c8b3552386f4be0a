import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { serve } from "../../src/app/serve.ts";
import { addressOf, startTcpProxy } from "../../src/cli/prove/nodes/database-proxy.ts";
import { ConfigError, loadConfig } from "../../src/config/index.ts";
import { nodeMain, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { overridesOf } from "../harness/service.ts";
import { until } from "../harness/until.ts";

const key = "sk_test_waiting_0123456789abcdef";

/** A PostgreSQL that refuses every connection with an error. */
async function startRefusingServer(t: TestContext, state: string, message: string) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      const fields = Buffer.from(`SFATAL\0VFATAL\0C${state}\0M${message}\0\0`);
      const head = Buffer.alloc(5);
      head.write("E");
      head.writeInt32BE(4 + fields.length, 1);
      refusing.connections++;
      socket.end(Buffer.concat([head, fields]));
    });
  });
  const refusing = { connections: 0, port: 0 };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  refusing.port = (server.address() as AddressInfo).port;
  t.after(() => server.close());
  return refusing;
}

/** The address of a database behind a port of this machine. */
function urlAt(port: number, { username, pathname }: Pick<URL, "username" | "pathname">): string {
  return `postgres://${username}@127.0.0.1:${port}${pathname}?sslmode=disable`;
}

for (const [state, message] of [
  ["57P03", "the database system is not yet accepting connections"],
  ["57P01", "terminating connection due to administrator command"],
  ["53300", "sorry, too many clients already"],
] as const) {
  test(`a node that starts while PostgreSQL refuses it with "${message}" waits, says so, and then serves`, async (t) => {
    const database = await freshDatabase();
    t.after(database.drop);
    const refusing = await startRefusingServer(t, state, message);
    const proxy = await startTcpProxy({ port: refusing.port });
    t.after(() => proxy.close());
    const url = urlAt(proxy.port, new URL(database.url));
    const starting = startNodeProcess({ "database.url": url, "auth.bootstrap_api_key": key });
    await Promise.race([until(() => refusing.connections >= 2), starting]);
    proxy.lead(addressOf(database.url));
    const node = await starting;
    t.after(() => node.kill());
    assert.match(node.output(), new RegExp(`"reason":"${message}".*"msg":"the start waits for the database`));
    assert.equal((await restClient(node.baseUrl, key).call("GET", "/readyz")).status, 200);
  });
}

test("a node that waits for a database that nothing listens for ends with 0 at SIGTERM", async (t) => {
  // No program gets a port below 1024 by chance.
  const words = overridesOf({ "database.url": urlAt(1, new URL("postgres://u@h/x")), "log.level": "warn" });
  const child = spawn(process.execPath, [nodeMain, "serve", ...words.flatMap((word) => ["--set", word])]);
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const exited = once(child, "exit");
  await Promise.race([until(() => (output.match(/ECONNREFUSED.*waits for the database/g) ?? []).length > 1), exited]);
  child.kill("SIGTERM");
  assert.deepEqual(await exited, [0, null], output);
});

for (const [state, message] of [
  ["28P01", "password authentication failed"],
  ["3D000", "database does not exist"],
] as const) {
  test(`a start that PostgreSQL refuses with "${message}" ends with the setting to correct`, async (t) => {
    const { port } = await startRefusingServer(t, state, message);
    const words = overridesOf({ "database.url": urlAt(port, new URL("postgres://u@h/x")) });
    await assert.rejects(serve(loadConfig({ overrides: words })), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, new RegExp(`^database\\.url: .*${message}`));
      return true;
    });
  });
}
