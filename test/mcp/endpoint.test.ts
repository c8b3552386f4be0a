import assert from "node:assert/strict";
import { before, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { revisions, sendMessage, sendRaw, version } from "./mcp-client.ts";

let service: TestService;
let url: string;
let admin: Record<string, string>;
before(async () => {
  service = await startService({ "mcp.enabled": "true", "cors.allowed_origins": "https://app.example.com" });
  url = `${service.baseUrl}/mcp`;
  admin = { "x-api-key": service.adminKey };
});

/** Creates a key and returns its headers. */
async function keyWith(request: object): Promise<Record<string, string>> {
  const rest = restClient(service.baseUrl, service.adminKey);
  const { body } = await rest.call("POST", "/api/v2/api-keys", { name: "mcp", ...request });
  return { "x-api-key": body.data.secret };
}

test("the endpoint and its metadata do not exist unless they are enabled", async () => {
  const off = await startService();
  for (const path of ["/mcp", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
    const { status, body } = await restClient(off.baseUrl, off.adminKey).call("POST", path, {});
    assert.deepEqual([status, body.errorCode], [404, "ROUTE_NOT_FOUND"], path);
  }
});

test("the path is a setting, and the default path then does not exist", async () => {
  const moved = await startService({ "mcp.enabled": "true", "mcp.path": "/ai/tools" });
  const headers = { "x-api-key": moved.adminKey };
  assert.equal((await sendMessage(`${moved.baseUrl}/ai/tools`, "tools/list", {}, { headers })).status, 200);
  assert.equal((await sendMessage(`${moved.baseUrl}/mcp`, "tools/list", {}, { headers })).status, 404);
});

test("a foreign origin is refused, even with valid credentials; the own origin and an allowed one are not", async () => {
  const statusFrom = async (origin: string) =>
    (await sendMessage(url, "server/discover", {}, { headers: { ...admin, origin } })).status;
  for (const origin of [
    "https://evil.example",
    "null",
    `${service.baseUrl}.evil.example`,
    "https://app.example.com:1",
  ]) {
    assert.equal(await statusFrom(origin), 403, origin);
  }
  for (const origin of [service.baseUrl, "https://app.example.com"])
    assert.equal(await statusFrom(origin), 200, origin);
});

test("there are no streams and no sessions to get or to delete", async () => {
  for (const method of ["GET", "DELETE", "PUT"]) {
    const { status, headers } = await sendRaw(url, undefined, admin, method);
    assert.deepEqual([status, headers.get("allow")], [405, "POST"], method);
  }
  const { headers } = await sendMessage(url, "initialize", {}, { headers: admin, revision: "2025-11-25" });
  assert.equal(headers.get("mcp-session-id"), null);
});

for (const revision of revisions) {
  test(`a caller without valid credentials gets 401 and nothing else in ${revision}`, async () => {
    const wrong: Record<string, string>[] = [
      {},
      { "x-api-key": "sk_live_nobody_has_this" },
      { authorization: "Bearer a.b.c" },
    ];
    for (const headers of wrong) {
      for (const method of ["initialize", "server/discover", "tools/list", "unknown"]) {
        const { status, body, headers: sent } = await sendMessage(url, method, {}, { revision, headers });
        assert.deepEqual([status, body.errorCode], [401, "UNAUTHENTICATED"], method);
        assert.match(sent.get("www-authenticate")!, /^Bearer realm="service"/);
      }
    }
  });

  test(`the list of tools differs by scopes only in ${revision}`, async () => {
    const list = async (headers: Record<string, string>) =>
      (await sendMessage(url, "tools/list", {}, { revision, headers })).body.result.tools;
    const all = await list(admin);
    assert.ok(all.length > 30 && all.length <= 40, `${all.length} tools`);
    assert.ok(Buffer.byteLength(JSON.stringify(all)) < 41_000, "a model reads the whole list");
    assert.deepEqual(await list(await keyWith({ scopes: [] })), []);
    assert.deepEqual(
      (await list(await keyWith({ scopes: ["pool:read"] }))).map(({ name }: { name: string }) => name),
      ["get_pool", "list_pools"],
    );
    const everything = await list(await keyWith({ scopes: ["*:*"] }));
    assert.deepEqual(everything, all, "a key with all scopes gets what an admin gets");
    const viewer = await list(await keyWith({ roles: ["viewer"] }));
    assert.ok(viewer.length > 0 && viewer.length < all.length);
    for (const tool of viewer) {
      assert.deepEqual(
        tool,
        all.find(({ name }: { name: string }) => name === tool.name),
        "a tool is the same to all",
      );
    }
  });

  test(`the model of a key without a scope reads which scope the tool needs in ${revision}`, async () => {
    const headers = await keyWith({ scopes: ["connector:read"] });
    const { status, body } = await sendMessage(url, "tools/call", { name: "list_pools" }, { revision, headers });
    assert.deepEqual([status, body.result.isError], [200, true]);
    const problem = JSON.parse(body.result.content[0].text);
    assert.equal(problem.errorCode, "PERMISSION_DENIED");
    assert.match(problem.detail, /pool:read/);
  });
}

test("the handshake returns the client's revision, or the newest one with a handshake", async () => {
  const versionFor = async (protocolVersion: string) => {
    const body = JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
      params: { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } },
    });
    const { result } = (await sendRaw(url, body, admin)).body;
    assert.deepEqual(result.serverInfo, { name: "switchyard", title: "Switchyard", version });
    assert.deepEqual(result.capabilities, { tools: {} });
    return result.protocolVersion;
  };
  assert.equal(await versionFor("2025-06-18"), "2025-06-18");
  assert.equal(await versionFor("2025-11-25"), "2025-11-25");
  assert.equal(await versionFor("2024-11-05"), "2025-11-25");
});

test("a notification and a response are accepted without a body", async () => {
  for (const message of [
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 7, result: {} },
  ]) {
    const { status, text } = await sendRaw(url, JSON.stringify(message), admin);
    assert.deepEqual([status, text], [202, ""]);
  }
});

test("what is no message is refused with the code of JSON-RPC", async () => {
  const refusals = [
    ["{", -32700],
    ["[]", -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['"ping"', -32600],
    ['{"id":1,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602],
  ] as const;
  for (const [body, code] of refusals) {
    const { status, body: answer } = await sendRaw(url, body, admin);
    assert.deepEqual([status, answer.error.code], [400, code], body);
  }
  const { status } = await sendRaw(url, "{}", { ...admin, "content-type": "text/plain" });
  assert.equal(status, 415);
});

test("headers that do not match the body are refused in the newest revision", async () => {
  const codeWith = async (method: string, params: object, headers: Record<string, string>) => {
    const { status, body } = await sendMessage(url, method, { ...params }, { headers: { ...admin, ...headers } });
    return [status, body.error?.code];
  };
  const list = { name: "list_pools", arguments: {} };
  assert.deepEqual(await codeWith("tools/list", {}, { "mcp-method": "tools/call" }), [400, -32020]);
  assert.deepEqual(await codeWith("tools/list", {}, { "mcp-method": "TOOLS/LIST" }), [400, -32020]);
  assert.deepEqual(await codeWith("tools/list", {}, { "mcp-protocol-version": "2025-11-25" }), [400, -32020]);
  assert.deepEqual(await codeWith("tools/call", list, { "mcp-name": "get_pool" }), [400, -32020]);
  const encoded = `=?base64?${Buffer.from("list_pools").toString("base64")}?=`;
  assert.deepEqual(await codeWith("tools/call", list, { "mcp-name": encoded }), [200, undefined]);
});

test("an unknown revision is refused with the revisions that are supported", async () => {
  const { status, body } = await sendRaw(url, '{"jsonrpc":"2.0","id":"a","method":"tools/list"}', {
    ...admin,
    "mcp-protocol-version": "2025-03-26",
  });
  assert.equal(status, 400);
  assert.deepEqual(body, {
    jsonrpc: "2.0",
    id: "a",
    error: { ...body.error, code: -32022, data: { supported: revisions, requested: "2025-03-26" } },
  });
});

test("an unknown method and an unknown tool have the codes and statuses of their revision", async () => {
  const statuses = { "2026-07-28": [404, 400], "2025-11-25": [200, 200], "2025-06-18": [200, 200] };
  for (const revision of revisions) {
    const method = await sendMessage(url, "resources/list", {}, { revision, headers: admin });
    const tool = await sendMessage(url, "tools/call", { name: "constructor" }, { revision, headers: admin });
    assert.deepEqual([method.status, tool.status], statuses[revision]);
    assert.deepEqual([method.body.error.code, tool.body.error.code], [-32601, -32602]);
  }
});

test("requests are limited like calls, before their body is read", async (t) => {
  const nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  const limited = await startService({ "mcp.enabled": "true", "ratelimit.tenant_rps": "1", "ratelimit.burst_s": "1" });
  const headers = { "x-api-key": limited.adminKey };
  const statuses = new Set<number>();
  for (let i = 0; i < 5; i++) {
    statuses.add((await sendMessage(`${limited.baseUrl}/mcp`, "tools/list", {}, { headers })).status);
  }
  assert.deepEqual([...statuses].sort(), [200, 429]);
});

test("messages and calls are counted by method, revision and outcome", async () => {
  await sendMessage(url, "tools/call", { name: "get_pool", arguments: {} }, { headers: admin });
  await sendMessage(url, "tools/call", { name: "list_pools", arguments: {} }, { headers: admin });
  const { text } = await restClient(service.metricsUrl).call("GET", "/metrics");
  assert.match(text, /mcp_requests_total\{method="tools\/call",revision="2026-07-28",outcome="tool_error"\} [1-9]/);
  assert.match(text, /mcp_requests_total\{method="tools\/call",revision="2026-07-28",outcome="ok"\} [1-9]/);
  assert.match(text, /rpc_server_call_duration_seconds_count\{[^}]*PoolService\/ListPools[^}]*"mcp"[^}]*\} [1-9]/);
});
