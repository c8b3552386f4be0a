import assert from "node:assert/strict";
import { before, test } from "node:test";
import { operations } from "../harness/operations.ts";
import { type RestResponse, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { createSettableClock } from "../harness/settable-clock.ts";
import { openEvents } from "../wire/event-source.ts";
import { newSender, type ResponseData, type Sender } from "./sender-fixture.ts";

const { time, createAreas } = createSettableClock();
let node: TestService;
let sender: Sender;
before(async () => {
  const settings = {
    "cors.allowed_origins": "https://shop.example",
    // Serves the operations of analytics, too. Nothing is queried.
    "analytics.enabled": "true",
    "analytics.prometheus_url": "http://127.0.0.1:1",
  };
  node = await startService(settings, undefined, "all", createAreas);
  sender = await newSender(node);
});

const pathOf = (id: string) => `/api/v2/notification/subscribers/${id}`;

async function tokenOf(id: string, fields: object = {}): Promise<string> {
  return (await sender.ok("POST", `${pathOf(id)}/tokens`, fields)).data.token;
}

/** Calls as the web page of a subscriber. */
function call(token: string, method: string, path: string, body?: object): Promise<RestResponse> {
  return restClient(node.baseUrl).call(method, path, body, { authorization: `Bearer ${token}` });
}

async function refused(code: string, token: string, method: string, path: string, body?: object): Promise<void> {
  const answer = await call(token, method, path, body);
  assert.equal(answer.body?.errorCode, code, `${method} ${path}: ${answer.text}`);
}

test("a token reads and marks the inbox of its subscriber, and changes its preferences", async () => {
  const { id } = await sender.subscriber();
  await sender.trigger({ workflow_key: await sender.workflow(), subscriber_id: id, payload: { order: 7 } });
  const { data } = await sender.ok("POST", `${pathOf(id)}/tokens`, { ttl_s: 60 });
  const livesMs = Date.parse(data.expires_at) - Date.now();
  assert.ok(livesMs > 0 && livesMs <= 60_000, data.expires_at);
  const listed = await call(data.token, "GET", `${pathOf(id)}/inbox`);
  assert.equal(listed.status, 200, listed.text);
  const [message] = listed.body.data;
  const marked = await call(data.token, "POST", `${pathOf(id)}/inbox/${message.id}:mark`, { archived: true });
  assert.ok(marked.body.data.archived_at, marked.text);
  const preference = { workflow_key: message.workflow_key, channels: { email: { enabled: false } } };
  assert.equal((await call(data.token, "POST", `${pathOf(id)}/preferences`, preference)).status, 200);
  assert.equal((await call(data.token, "GET", `${pathOf(id)}/preferences`)).body.data.length, 1);
});

test("a token is refused for every operation that does not accept one", async () => {
  const { id } = await sender.subscriber();
  const token = await tokenOf(id);
  const others = operations.filter(
    ({ governance }) => governance.authenticationRequired && !governance.internalOnly && !governance.subscriberToken,
  );
  assert.ok(others.length > 200, `${others.length} operations`);
  for (const { bindings } of others) {
    const { verb, path } = bindings[0]!;
    const named = path.replaceAll(/\{[^}]+\}/g, id);
    const answer = await call(token, verb, named, verb === "GET" || verb === "DELETE" ? undefined : {});
    assert.equal(answer.body?.errorCode, "PERMISSION_DENIED", `${verb} ${named}: ${answer.text}`);
  }
});

test("a token gives no access to another subscriber, of its own tenant or of another one", async () => {
  const { id } = await sender.subscriber();
  const token = await tokenOf(id);
  const foreign = await newSender(node);
  const strangers = [(await sender.subscriber()).id, (await foreign.subscriber()).id, "01JUNKNOWN0000000000000000"];
  const accepting = operations.filter(({ governance }) => governance.subscriberToken);
  assert.equal(accepting.length, 8);
  for (const stranger of strangers) {
    for (const { bindings } of accepting) {
      const { verb, path } = bindings[0]!;
      const named = path.replace("{subscriber_id}", stranger).replace("{message_id}", "01JUNKNOWN0000000000000000");
      await refused("PERMISSION_DENIED", token, verb, named, verb === "GET" ? undefined : {});
    }
  }
  // The body names another subscriber than the path: the path is what counts, and both must agree.
  await refused("INVALID_ARGUMENT", token, "POST", `${pathOf(id)}/inbox:mark`, {
    subscriber_id: strangers[0]!,
    read: true,
  });
  const path = "/service.api.InboxService/CountUnreadMessages";
  const rpc = await call(token, "POST", path, { subscriber_id: strangers[0] });
  assert.equal(rpc.body.code, "permission_denied", rpc.text);
  assert.equal((await call(token, "POST", path, { subscriber_id: id })).status, 200);
});

test("a token that was changed, or of another service, is not valid", async () => {
  const { id } = await sender.subscriber();
  const { id: other } = await sender.subscriber();
  const token = await tokenOf(id);
  const parts = token.split("_");
  const changed = [
    token.replace(id, other),
    token.replace(sender.id, node.adminKey),
    [...parts.slice(0, 4), String(Number(parts[4]) + 3600), ...parts.slice(5)].join("_"),
    token.slice(0, -3),
    `${token}A`,
    "sst_",
  ];
  for (const each of changed) await refused("UNAUTHENTICATED", each, "GET", `${pathOf(id)}/inbox`);
});

test("an expired token is refused, and a stream that it opened ends", async () => {
  const { id } = await sender.subscriber();
  const token = await tokenOf(id, { ttl_s: 60 });
  const authorization = `Bearer ${token}`;
  const feed = await openEvents(`${node.baseUrl}${pathOf(id)}/inbox:watch`, { authorization });
  await feed.see(/: connected/);
  time.aheadMs = 61_000;
  try {
    await refused("UNAUTHENTICATED", token, "GET", `${pathOf(id)}/inbox`);
    const [end] = await feed.take(1);
    assert.deepEqual([end!.event, end!.data.errorCode], ["error", "UNAUTHENTICATED"]);
  } finally {
    time.aheadMs = 0;
    feed.close();
  }
});

test("a revocation ends all tokens of a subscriber and their streams, and later tokens work", async () => {
  const { id } = await sender.subscriber();
  const tokens = [await tokenOf(id), await tokenOf(id)];
  const { id: other } = await sender.subscriber();
  const untouched = await tokenOf(other);
  const feed = await openEvents(`${node.baseUrl}${pathOf(id)}/inbox:watch`, { authorization: `Bearer ${tokens[0]}` });
  await feed.see(/: connected/);
  await sender.ok("POST", `${pathOf(id)}/tokens:revoke`, {});
  for (const token of tokens) await refused("UNAUTHENTICATED", token, "GET", `${pathOf(id)}/inbox`);
  assert.equal((await feed.take(1))[0]!.data.errorCode, "UNAUTHENTICATED");
  feed.close();
  assert.equal((await call(untouched, "GET", `${pathOf(other)}/inbox`)).status, 200);
  assert.equal((await call(await tokenOf(id), "GET", `${pathOf(id)}/inbox`)).status, 200);
  const { data } = await sender.ok("GET", `/api/events?types=subscriber.tokens.revoked`);
  assert.deepEqual(
    data.map(({ subject }: { subject: string }) => subject),
    [id],
  );
});

test("one token is revoked alone, by its id, and its stream ends", async () => {
  const { id } = await sender.subscriber();
  const { data: lost } = await sender.ok("POST", `${pathOf(id)}/tokens`, {});
  const kept = await tokenOf(id);
  const feed = await openEvents(`${node.baseUrl}${pathOf(id)}/inbox:watch`, { authorization: `Bearer ${lost.token}` });
  await feed.see(/: connected/);
  const revoke = (tokenId: string) => `${pathOf(id)}/tokens/${tokenId}:revoke`;
  await sender.ok("POST", revoke(lost.token_id), {});
  await refused("UNAUTHENTICATED", lost.token, "GET", `${pathOf(id)}/inbox`);
  assert.equal((await feed.take(1))[0]!.data.errorCode, "UNAUTHENTICATED");
  feed.close();
  assert.equal((await call(kept, "GET", `${pathOf(id)}/inbox`)).status, 200);
  const { data } = await sender.ok("GET", "/api/events?types=subscriber.token.revoked");
  assert.deepEqual(
    data.map((event: ResponseData) => [event.subject, event.data.token_id]),
    [[id, lost.token_id]],
  );
  // No token has an id from the future, and another tenant does not know the subscriber.
  await sender.refused("NOT_FOUND", "POST", revoke("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), {});
  await (await newSender(node)).refused("NOT_FOUND", "POST", revoke(lost.token_id), {});
});

test("a deleted subscriber gets no token, and its tokens stay revoked when it is created again", async () => {
  const { id, external_id } = await sender.subscriber();
  const token = await tokenOf(id);
  assert.equal((await call(token, "GET", `${pathOf(id)}/inbox`)).status, 200);
  await sender.ok("DELETE", pathOf(id));
  await refused("UNAUTHENTICATED", token, "GET", `${pathOf(id)}/inbox`);
  await sender.refused("FAILED_PRECONDITION", "POST", `${pathOf(id)}/tokens`, {});
  assert.equal((await sender.subscriber({ external_id })).id, id);
  await refused("UNAUTHENTICATED", token, "GET", `${pathOf(id)}/inbox`);
});

test("only callers who may write notifications create tokens, for minutes", async () => {
  const { id } = await sender.subscriber();
  const { data } = await sender.ok("POST", "/api/v2/api-keys", { name: "viewer", roles: ["viewer"] });
  const viewer = restClient(node.baseUrl, data.secret);
  assert.equal((await viewer.call("POST", `${pathOf(id)}/tokens`, {})).status, 403);
  for (const ttl_s of [59, 3601, -1])
    await sender.refused("INVALID_ARGUMENT", "POST", `${pathOf(id)}/tokens`, { ttl_s });
  await sender.refused("NOT_FOUND", "POST", `${pathOf("01JUNKNOWN0000000000000000")}/tokens`, {});
});

test("a page of a listed origin reads with a token, and a page of another one cannot", async () => {
  const { id } = await sender.subscriber();
  const authorization = `Bearer ${await tokenOf(id)}`;
  const from = (origin: string) =>
    restClient(node.baseUrl).call("GET", `${pathOf(id)}/inbox`, undefined, { origin, authorization });
  const allowed = await from("https://shop.example");
  assert.equal(allowed.headers.get("access-control-allow-origin"), "https://shop.example");
  assert.equal(allowed.headers.get("access-control-allow-credentials"), null);
  assert.equal((await from("https://evil.example")).headers.get("access-control-allow-origin"), null);
});
