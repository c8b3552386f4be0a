import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { before, beforeEach, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { connect } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { type AcmeTenant, newAcmeTenant, startTokenServer } from "./acme.ts";

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let service: TestService;
let own: AcmeTenant;
let port: number;
const received: Received[] = [];
const plainAnswer = (response: ServerResponse) => void response.end("{}");
let answer: (response: ServerResponse, request: Received) => void;
beforeEach(() => {
  received.length = 0;
  answer = plainAnswer;
});

before(async () => {
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const last = { method, url, headers, body: await buffer(request) };
    received.push(last);
    answer(response, last);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  port = (server.address() as AddressInfo).port;
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  service = await startService();
  own = await newAcmeTenant(service, { port });
});

const proxy = (request: object, headers: Record<string, string> = {}, connectionId = own.connectionId) =>
  own.rest.call("POST", `/api/v2/connector/connections/${connectionId}:proxy`, request, headers);

test("a request is sent as it is, with the credentials of the connection and without those of the caller", async () => {
  answer = (response) => {
    response.writeHead(404, { "content-type": "application/json", "set-cookie": "a=1", "x-id": "7" });
    response.end(JSON.stringify({ error: "no such project", token: own.token }));
  };
  const { status, body } = await proxy({
    ...{ method: "PATCH", path: "/projects/group%2Fsite/issues?labels=a%20b&state=open", body: '{"title":"x"}' },
    headers: { Authorization: "Bearer mine", Cookie: "a=b", Connection: "close", Host: "evil", "X-Own": "1" },
  });
  assert.equal(status, 200, JSON.stringify(body));
  const [{ method, url, headers, body: sent }] = received as [Received];
  assert.deepEqual([method, url], ["PATCH", "/projects/group%2Fsite/issues?labels=a%20b&state=open"]);
  assert.deepEqual(
    [headers.authorization, headers.cookie, headers.host, headers["x-own"], headers["content-type"]],
    [`Bearer ${own.token}`, undefined, `127.0.0.1:${port}`, "1", "application/json"],
  );
  assert.equal(String(sent), '{"title":"x"}');
  const { data } = body;
  assert.deepEqual([data.status, data.headers["x-id"], data.headers["set-cookie"]], [404, "7", undefined]);
  assert.deepEqual(JSON.parse(data.body), { error: "no such project", token: "[redacted]" });
  const record = await own.execution(data.execution_id);
  assert.deepEqual([record.status, record.action_key], ["succeeded", "acme.*"]);
  assert.deepEqual(record.request, { method: "PATCH", host: "127.0.0.1", path: "/projects/group%2Fsite/issues" });
});

test("bytes are sent and returned as they are", async () => {
  answer = (response, { body }) => void response.end(Buffer.concat([body, Buffer.from([0, 255])]));
  const bytes = Buffer.from([0, 1, 254, 255]);
  const { body } = await proxy({ method: "POST", path: "files", body_bytes: bytes.toString("base64") });
  assert.deepEqual(Buffer.from(body.data.body_bytes, "base64"), Buffer.concat([bytes, Buffer.from([0, 255])]));
  assert.equal(body.data.body, "");
});

test("credentials in an answer of bytes are replaced, and the bytes around them stay as they are", async () => {
  const around = [Buffer.from([0, 255, 1]), Buffer.from([254, 0, 7, 8, 9])] as const;
  answer = (response, { headers }) => {
    response.end(Buffer.concat([around[0], Buffer.from(headers.authorization!), around[1]]));
  };
  const { body } = await proxy({ method: "GET", path: "/files/1" });
  const expected = Buffer.concat([around[0], Buffer.from("[redacted]"), around[1]]);
  assert.deepEqual(Buffer.from(body.data.body_bytes, "base64"), expected);
});

test("a token that the service signs for a request is replaced where the provider repeats it", async () => {
  const document = {
    ...{ manifest: 1, key: "signed", version: "1.0.0", name: "Signed", category: "generic", description: "Signs." },
    ...{ docs_url: "https://acme.example/docs", hosts: ["127.0.0.1"], base_url: `http://127.0.0.1:${port}` },
    auth: { signed_jwt: { fields: { private_key: { title: "Key", multiline: true } }, issuer: "acme" } },
    actions: {
      get: {
        title: "Get",
        mutation: { effect: "read" },
        request: { method: "GET", path: "/" },
        input: { type: "object" },
      },
    },
  };
  await own.ok("POST", "/api/v2/connector/manifests", { document });
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const private_key = privateKey.export({ format: "pem", type: "pkcs8" });
  const signed = { provider_key: "signed", auth_mode: "signed_jwt", credentials: { private_key }, settings: {} };
  const connectionId = await own.connect(signed);
  answer = (response, { headers }) => void response.end(`You sent ${headers.authorization}.`);
  const { body } = await proxy({ method: "GET", path: "/" }, {}, connectionId);
  assert.match(received[0]!.headers.authorization!, /^Bearer ey/);
  assert.equal(body.data?.body, "You sent [redacted].", JSON.stringify(body));
});

test("a path cannot leave the base URL", async () => {
  for (const path of [
    "//evil.example/x",
    "/../admin",
    "/a/%2e%2E/b",
    "/a\\b",
    "/a#b",
    "///x",
    "/..%2Fx",
    "/a/..;v=1/b",
  ]) {
    const { status, body } = await proxy({ method: "GET", path });
    assert.deepEqual([status, body.violations?.[0].field], [400, "path"], `${path}: ${JSON.stringify(body)}`);
  }
  assert.equal((await proxy({ method: "GET", path: "http://evil.example/x" })).status, 200);
  assert.deepEqual(
    received.map(({ url }) => url),
    ["/http://evil.example/x"],
  );
});

test("a repeat with the same idempotency key returns the first answer and sends nothing", async () => {
  answer = (response) => void response.end(JSON.stringify({ n: received.length }));
  const key = { "idempotency-key": "proxy-1" };
  const first = await proxy({ method: "POST", path: "/charges", body: "{}" }, key);
  const again = await proxy({ method: "POST", path: "/charges", body: "{}" }, key);
  assert.deepEqual(again.body.data, first.body.data);
  assert.equal(received.length, 1);
});

test("a write whose answer is lost has an unknown outcome, and is not sent again", async () => {
  answer = (response) => void response.socket!.destroy();
  const { status, body } = await proxy({ method: "POST", path: "/charges" });
  assert.deepEqual([status, body.errorCode], [502, "CONNECTOR_OUTCOME_UNKNOWN"], JSON.stringify(body));
  assert.equal(received.length, 1);
});

test("an answer that is too large is an error, and a slow one ends at the time-out", async () => {
  answer = (response) => void response.end(Buffer.alloc(5 * 1024 * 1024, "a"));
  assert.equal((await proxy({ method: "GET", path: "/large" })).body.provider_code, "too_large");
  answer = () => {};
  assert.equal(
    (await proxy({ method: "GET", path: "/slow", timeout_ms: 300 })).body.errorCode,
    "CONNECTOR_UNAVAILABLE",
  );
});

test("a provider's limit of a connection holds for raw requests and for actions alike", async () => {
  const connectionId = await own.connect({});
  answer = (response) => void response.writeHead(429, { "retry-after": "3600" }).end("{}");
  const limited = await proxy({ method: "GET", path: "/x" }, {}, connectionId);
  assert.deepEqual([limited.status, limited.body.errorCode], [429, "CONNECTOR_RATE_LIMITED"]);
  answer = plainAnswer;
  const refused = [
    await proxy({ method: "GET", path: "/x" }, {}, connectionId),
    await own.execute("note.get", { id: "1" }, { connection_id: connectionId }),
  ];
  for (const { status } of refused) assert.equal(status, 429);
  assert.equal(received.length, 1);
  assert.equal((await proxy({ method: "GET", path: "/x" })).status, 200, "another connection is not limited");
});

test("rejected tokens are renewed once, and the request is sent again with the new ones", async (t) => {
  const tokens = await startTokenServer();
  tokens.tokens = ["first-token", "second-token"];
  const connectionId = await own.connect({
    ...{ auth_mode: "oauth2_cc", credentials: { client_id: "client", client_secret: "secret" } },
    settings: { base_url: `http://127.0.0.1:${port}`, token_url: tokens.url },
  });
  assert.equal((await proxy({ method: "GET", path: "/me" }, {}, connectionId)).status, 200);
  // A token that is rejected right after it was issued is not worth another one.
  const sql = connect(service.databaseUrl, 1);
  t.after(() => sql.end({ timeout: 1 }));
  await sql`update connector_connections set last_refreshed_at = now() - interval '1 hour' where id = ${connectionId}`;
  answer = (response, { headers }) => {
    response.statusCode = headers.authorization === `Bearer ${tokens.tokens[1]}` ? 200 : 401;
    response.end("{}");
  };
  const { status, body } = await proxy({ method: "GET", path: "/me" }, {}, connectionId);
  assert.deepEqual([status, body.data?.status], [200, 200], JSON.stringify(body));
});

test("a caller needs the scope of raw requests, whatever actions it may execute", async () => {
  const created = await own.ok("POST", "/api/v2/api-keys", { name: "actions", scopes: ["connector_action:execute"] });
  const headers = { "x-api-key": created.data.secret };
  assert.equal((await proxy({ method: "GET", path: "/x" }, headers)).status, 403);
  assert.equal(received.length, 0);
});
