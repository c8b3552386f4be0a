import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createClientAddressReader } from "../client-address.ts";
import { createEdge } from "../edge.ts";
import { createRestHandler } from "../rest/index.ts";
import { createCallbacks } from "./callbacks.ts";

type Options = Parameters<typeof createCallbacks>[1];

const tenant = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const pathOf = (integration: number) => `/callbacks/notifications/${tenant}/${String(integration).padStart(26, "0")}`;

/** A server that passes callbacks to `receive`. */
async function serve(receive: Options["receive"], more: Partial<Options> = {}) {
  const edge = createEdge({
    plane: "external",
    clientAddressOf: createClientAddressReader({ header: "", proxyNetworks: [] }),
    allowedHosts: ["*"],
    allowedOrigins: [],
    bodyBytesMax: 4 * 1024 * 1024,
    bodyTimeoutMs: 500,
    stopping: new AbortController().signal,
    handlers: [createCallbacks("notifications", { receive, baseUrl: () => "https://switchyard.example", ...more })],
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

test("a callback is passed on with the signed bytes and the signed URL", async () => {
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

test("refused, malformed and early callbacks get different errors, and an early one gets Retry-After", async () => {
  const expectations = {
    refused: [401, "UNAUTHENTICATED", null],
    malformed: [400, "INVALID_ARGUMENT", null],
    early: [503, "UNAVAILABLE", "5"],
  } as const;
  for (const [received, expected] of Object.entries(expectations)) {
    const { post } = await serve(async () => received as keyof typeof expectations);
    const response = await post();
    const { errorCode } = (await response.json()) as { errorCode: string };
    assert.deepEqual([response.status, errorCode, response.headers.get("retry-after")], expected);
  }
});

test("too many refusals of an address and an integration are limited, but never a valid callback", async () => {
  let nowMs = 1_800_000_000_000;
  const receive: Options["receive"] = async (_tenantId, _integrationId, { rawBody }) =>
    rawBody.toString() === "valid" ? "taken" : "refused";
  const { post } = await serve(receive, { clock: { now: () => nowMs } });
  for (let n = 0; n < 20; n++) assert.equal((await post(2)).status, 401);
  const limited = await post(2);
  const { errorCode } = (await limited.json()) as { errorCode: string };
  assert.deepEqual([limited.status, errorCode, limited.headers.get("retry-after")], [429, "RATE_LIMITED", "3"]);
  assert.equal((await post(2, "valid")).status, 204);
  assert.equal((await post(3)).status, 401, "another integration is not limited");

  nowMs += 3000;
  assert.equal((await post(2)).status, 401);
  assert.equal((await post(2)).status, 429);
});

test("guesses beyond the limit are verified one at a time, and a valid callback takes its turn among them", async () => {
  let running = 0;
  let most = 0;
  const { post } = await serve(async (_tenantId, _integrationId, { rawBody }) => {
    most = Math.max(most, ++running);
    await setImmediate();
    running--;
    return rawBody.toString() === "valid" ? "taken" : "refused";
  });
  for (let n = 0; n < 20; n++) await post();
  most = 0;
  const guesses = Array.from({ length: 100 }, () => post());
  const valid = post(1, "valid");
  assert.equal((await valid).status, 204);
  await Promise.all(guesses);
  assert.equal(most, 1);
});

test("malformed and early callbacks do not count as refused", async () => {
  const { post } = await serve(async (_tenantId, integrationId) =>
    integrationId.endsWith("1") ? "malformed" : "early",
  );
  for (let n = 0; n < 30; n++) assert.equal((await post(1)).status, 400);
  assert.equal((await post(2)).status, 503);
});

test("at most 32 callbacks run concurrently, and finished ones free capacity", async () => {
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

test("a caller that does not send the body in time is disconnected and counts as refused", async () => {
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

test("oversized bodies are refused before they are read, other methods are refused, and other paths are not handled", async () => {
  const { port, post } = await serve(async () => "taken");
  assert.equal((await post(1, "x".repeat(1024 * 1024 + 1))).status, 413);
  assert.equal((await fetch(`http://127.0.0.1:${port}${pathOf(1)}`, { method: "PUT" })).status, 405);
  const elsewhere = `http://127.0.0.1:${port}/callbacks/notifications/${tenant}`;
  assert.equal((await fetch(elsewhere, { method: "POST" })).status, 404);
});
