import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, test } from "node:test";
import { createCallbacks } from "./callbacks.ts";
import { createEdge } from "./edge.ts";
import { createRestHandler } from "./rest/index.ts";

type Options = Parameters<typeof createCallbacks>[0];

const tenant = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const pathOf = (integration: number) => `/callbacks/notifications/${tenant}/${String(integration).padStart(26, "0")}`;

/** A server that takes callbacks and gives them to `receive`. */
async function serve(receive: Options["receive"], more: Partial<Options> = {}) {
  const edge = createEdge({
    plane: "external",
    allowedHosts: ["*"],
    allowedOrigins: [],
    bodyBytesMax: 4 * 1024 * 1024,
    bodyTimeoutMs: 500,
    stopping: new AbortController().signal,
    handlers: [createCallbacks({ receive, baseUrl: () => "https://switchyard.example", ...more })],
    rest: createRestHandler({ operations: [], invoke: () => Promise.reject(), errorsUrl: () => "/errors" }),
    onError: assert.ifError,
  });
  const server = http.createServer(edge);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const post = (integration = 1, body = "{}") =>
    fetch(`http://127.0.0.1:${port}${pathOf(integration)}?a=b`, { method: "POST", body });
  return { port, post };
}

test("a callback is handed over with the bytes and the URL that were signed", async () => {
  const got: Parameters<Options["receive"]>[] = [];
  const { post } = await serve(async (...call) => {
    got.push(call);
    return "taken";
  });
  assert.equal((await post(7, "what was signed")).status, 204);
  const [[tenantId, integrationId, { rawBody, url, headers }]] = got as [(typeof got)[0]];
  assert.deepEqual([tenantId, integrationId], [tenant, "7".padStart(26, "0")]);
  assert.equal(rawBody.toString(), "what was signed");
  assert.equal(url, `https://switchyard.example${pathOf(7)}?a=b`);
  assert.equal(headers["content-length"], "15");
});

test("what is refused, malformed or early is told apart, and an early one says when to come again", async () => {
  const answers = {
    refused: [401, "UNAUTHENTICATED", null],
    malformed: [400, "INVALID_ARGUMENT", null],
    early: [503, "UNAVAILABLE", "5"],
  } as const;
  for (const [received, expected] of Object.entries(answers)) {
    const { post } = await serve(async () => received as keyof typeof answers);
    const response = await post();
    const { errorCode } = (await response.json()) as { errorCode: string };
    assert.deepEqual([response.status, errorCode, response.headers.get("retry-after")], expected);
  }
});

test("an address that was refused too often is not listened to for a while, but for providers that are known", async () => {
  let nowMs = 1_800_000_000_000;
  let asked = 0;
  const receive: Options["receive"] = async (_tenantId, integrationId) => {
    asked++;
    return integrationId.endsWith("1") ? "taken" : "refused";
  };
  const { post } = await serve(receive, { clock: { now: () => nowMs } });
  assert.equal((await post(1)).status, 204);
  for (let n = 0; n < 20; n++) assert.equal((await post(2)).status, 401);
  const limited = await post(2);
  const { errorCode } = (await limited.json()) as { errorCode: string };
  assert.deepEqual([limited.status, errorCode, limited.headers.get("retry-after")], [429, "RATE_LIMITED", "3"]);
  assert.equal((await post(11)).status, 429, "nobody has proven to be this provider");
  assert.equal(asked, 21, "whoever is limited costs no look into the database");
  assert.equal((await post(1)).status, 204);

  nowMs += 3000;
  assert.equal((await post(2)).status, 401);
  assert.equal((await post(2)).status, 429);
  nowMs += 3000;
  assert.equal((await post(11)).status, 204, "what proves to be a provider's is not counted");
  assert.equal((await post(2)).status, 401);
});

test("callbacks that are malformed or early are not counted as a stranger's", async () => {
  const { post } = await serve(async (_tenantId, integrationId) =>
    integrationId.endsWith("1") ? "malformed" : "early",
  );
  for (let n = 0; n < 30; n++) assert.equal((await post(1)).status, 400);
  assert.equal((await post(2)).status, 503);
});

test("no more than 32 callbacks are taken in at once, and places become free again", async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { promise: full, resolve: fill } = Promise.withResolvers<void>();
  let running = 0;
  const { post } = await serve(async () => {
    if (++running === 32) fill();
    if (running <= 32) await opened;
    return "taken";
  });
  const taken = Array.from({ length: 32 }, () => post());
  await full;
  const busy = await post();
  assert.deepEqual([busy.status, busy.headers.get("retry-after")], [503, "1"]);
  open();
  for (const response of await Promise.all(taken)) assert.equal(response.status, 204);
  assert.equal((await post()).status, 204);
});

test("whoever does not send the body in time loses the place, and counts as refused", async () => {
  const { port, post } = await serve(async () => "refused", { bodyMsMax: 50, clock: { now: () => 0 } });
  const request = `POST ${pathOf(1)} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc`;
  const slow = Array.from({ length: 20 }, async () => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.on("error", () => {});
    await once(socket.resume(), "close");
  });
  await Promise.all(slow);
  assert.equal((await post()).status, 429);
});

test("a body that is too large is refused before it is read, other methods are refused, and other paths are left to others", async () => {
  const { port, post } = await serve(async () => "taken");
  assert.equal((await post(1, "x".repeat(1024 * 1024 + 1))).status, 413);
  assert.equal((await fetch(`http://127.0.0.1:${port}${pathOf(1)}`)).status, 405);
  const elsewhere = `http://127.0.0.1:${port}/callbacks/notifications/${tenant}`;
  assert.equal((await fetch(elsewhere, { method: "POST" })).status, 404);
});
