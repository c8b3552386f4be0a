import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { freshName, newTenant } from "../routing/tenant-fixture.ts";

/** A secret with characters that every encoding changes. */
const planted = `plant/${randomBytes(9).toString("hex")}+"ed\\=&?x`;
const variants = [
  planted,
  // What is left of a secret that is cut off with the message around it.
  planted.slice(0, 10),
  encodeURIComponent(planted),
  JSON.stringify(planted).slice(1, -1),
  Buffer.from(planted).toString("base64").slice(0, -4),
  Buffer.from(`x${planted}`).toString("base64").slice(4, -4),
];

/** A provider that repeats credentials wherever it can. */
async function startEcho(t: { after(work: () => unknown): void }) {
  const server = createServer(async (request, response) => {
    request.resume();
    await once(request, "end");
    const given = request.headers.authorization ?? "";
    const token = given.replace("Bearer ", "");
    const said = {
      ...{ given, token, inText: `The token ${token} is not known.`, url: `/x?token=${encodeURIComponent(token)}` },
      ...{
        base64: Buffer.from(`user:${token}`).toString("base64"),
        nested: [{ [token]: [JSON.stringify({ token })] }],
      },
    };
    const status = Number(new URL(request.url!, "http://a").searchParams.get("status") ?? 200);
    const message = `${"x".repeat(500)}${token}${JSON.stringify(said)}`;
    if (request.url?.includes("cut")) return void request.socket.destroy();
    response.writeHead(status, {
      "content-type": "application/json",
      "x-echo": encodeURIComponent(token),
      "x-base64": Buffer.from(token).toString("base64"),
    });
    response.end(JSON.stringify(status === 200 ? said : { error: { message, code: token }, message }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("credentials that a provider repeats appear in no response, table, event, log, audit entry or metric", async (t) => {
  const database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), "switchyard-redaction-"));
  const audit = join(folder, "audit.log");
  const node = await startNodeProcess({
    "database.url": database.url,
    "auth.bootstrap_api_key": "sk_test_redaction_0123456789abcdef",
    "connector.encryption_key": randomBytes(32).toString("base64"),
    "audit.sink": "file",
    "audit.path": audit,
    "log.level": "debug",
    "api.slow_request_ms": "0",
  });
  t.after(async () => {
    await node.kill();
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });
  const base_url = await startEcho(t);
  const own = await newTenant(node);
  const connection = async (fields: object) =>
    (
      await own.ok("POST", "/api/v2/connector/connections", {
        ...{ name: freshName(), provider_key: "http", settings: { base_url } },
        ...fields,
      })
    ).data.id;
  const bearer = await connection({
    auth_mode: "api_key",
    credentials: { header: "authorization", value: `Bearer ${planted}` },
  });
  const basic = await connection({ auth_mode: "basic", credentials: { username: "user", password: planted } });

  const answers: string[] = [];
  const execute = async (action: string, connection_id: string, input: object, fields: object = {}) => {
    const path = `/api/v2/connector/actions/http.${action}:execute`;
    const headers = { "idempotency-key": freshName() };
    // The repeat is answered from the idempotency record.
    for (let nth = 0; nth < 2; nth++) {
      const answer = await own.rest.call("POST", path, { connection_id, input, ...fields }, headers);
      answers.push(answer.text, JSON.stringify([...answer.headers]));
      const id = answer.body.data?.execution?.id ?? answer.body.execution_id;
      if (id === undefined) continue;
      for (const suffix of ["", ":explain"]) {
        answers.push((await own.rest.call("GET", `/api/v2/connector/executions/${id}${suffix}`)).text);
      }
    }
  };
  for (const connectionId of [bearer, basic]) {
    for (const status of [200, 400, 401, 403, 404, 409, 422, 429, 500]) {
      await execute("request.read", connectionId, { path: "a", query: { status } });
      await execute("request.write", connectionId, { method: "POST", path: "a", query: { status }, body: {} });
    }
    await execute("request.write", connectionId, { method: "POST", path: "cut", body: {} });
    await execute("request.read", connectionId, { path: "a" }, { dry_run: true });
  }
  answers.push((await own.rest.call("GET", "/api/v2/connector/executions?limit=1000")).text);
  answers.push((await own.rest.call("GET", "/api/events?limit=1000")).text);
  answers.push((await restClient(node.baseUrl).call("GET", "/metrics")).text);
  assert.ok(answers.some((each) => each.includes("[redacted]")));

  const tables = await database.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  for (const { name } of tables) {
    const rows = await database.sql<{ row: string }[]>`select to_jsonb(t)::text as row from ${database.sql(name)} t`;
    answers.push(...rows.map(({ row }) => row));
    // Texts of JSON columns are escaped once more.
    answers.push(...rows.map(({ row }) => row.replaceAll("\\\\", "\\").replaceAll('\\"', '"')));
  }
  assert.ok(answers.some((each) => each.includes("connector.action.executed")));
  assert.match(node.output(), /slow request/);
  const lines = await readFile(audit, "utf8");
  assert.match(lines, /ConnectorActionService\/ExecuteAction/);
  for (const text of [...answers, node.output(), lines]) {
    for (const variant of variants) {
      const at = text.indexOf(variant);
      assert.equal(at, -1, `${variant}: ${text.slice(Math.max(0, at - 300), at + 100)}`);
    }
  }
});
