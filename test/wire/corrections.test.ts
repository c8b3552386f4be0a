import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { create, type Message } from "@bufbuild/protobuf";
import type { Operation } from "../../src/definitions/index.ts";
import { type Correction, Failure } from "../../src/errors/index.ts";
import { exampleOfMessage } from "../../src/gateway/openapi/examples/examples.ts";
import { applyPatch } from "../../src/platform/corrections/index.ts";
import { applyParams } from "../../src/platform/protojson/index.ts";
import { createRequestReader } from "../../src/platform/validation/index.ts";
import type { Json } from "../harness/operations.ts";
import { sized } from "../harness/run-size.ts";
import { type Outcome, restPagingNames, restRequest, send } from "../harness/wire.ts";
import { callerFor, createMatrixFixture, type MatrixFixture, operations } from "../matrix/fixture.ts";
import { breaks } from "./request-breaks.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

/** How many requests a break has made, how many of them got corrections, and how many were right afterwards. */
interface Tally {
  broken: number;
  corrected: number;
  repaired: number;
}

const tallies = new Map<string, Tally>(breaks.map(({ name }) => [name, { broken: 0, corrected: 0, repaired: 0 }]));

for (const operation of operations.filter(({ rawBodyBytesMax }) => rawBodyBytesMax === undefined)) {
  test(`${operation.id} says what it would have accepted`, async () => {
    const request = exampleOfMessage(operation.method.input, "request") as Json;
    const original = accept(operation, request);
    if (original === undefined) return;
    const inPath = new Set([...operation.bindings[0]!.path.matchAll(/\{([a-z_.]+)\}/g)].map(([, name]) => name!));
    const [path, sent] = divide(request, (name) => inPath.has(name));
    for (const { name, apply } of breaks) {
      for (const broken of apply(sent, operation.method.input)) {
        const whole = { ...path, ...broken };
        const isQuery = operation.bindings[0]!.body !== "*";
        if (isQuery && name === "a request in another object") continue;
        // What the service accepts would have an effect.
        if (Object.keys(broken).some((each) => inPath.has(each)) || accept(operation, whole) !== undefined) continue;
        const { code, text, body } = await call(operation, whole);
        assert.equal(code, "INVALID_ARGUMENT", text);
        const corrections: Correction[] = body.corrections ?? [];
        const tally = tallies.get(name)!;
        tally.broken++;
        if (corrections.length > 0) tally.corrected++;
        if (isDeepStrictEqual(accept(operation, correct(whole, corrections)), original)) tally.repaired++;
      }
    }
  });
}

test("after its corrections, at least 80 % of the requests of each kind are those that were meant", () => {
  for (const [name, { broken, corrected, repaired }] of tallies) {
    assert.ok(repaired >= corrected * 0.8, `${name}: ${repaired} of ${corrected} are repaired`);
    // The others are mistakes that are only named, because a correction could widen access, spend or delete. A null is
    // corrected only in operations that read.
    const least = name === "null for an absent field" ? 0.1 : 0.3;
    assert.ok(broken > 0 && corrected >= broken * least, `${name}: ${corrected} of ${broken} are corrected`);
  }
});

after(() => {
  const row = (cells: readonly unknown[]) => cells.map((cell, at) => String(cell).padEnd(at === 0 ? 32 : 10)).join(" ");
  const rows = [...tallies].map(([name, { broken, corrected, repaired }]) => row([name, broken, corrected, repaired]));
  if (sized(0, 1) === 1) console.log([row(["mistake", "broken", "corrected", "repaired"]), ...rows].join("\n"));
});

test("a mistake that could widen access, spend or delete is named, with what is allowed, and not corrected", async () => {
  const guarded: [operation: string, request: Json, detail: RegExp][] = [
    ["ApiKeyService/CreateApiKey", { name: "ci", scopes: ["pool:raed"] }, /scopes\[0\].*did you mean pool:read/],
    ["ApiKeyService/CreateApiKey", { name: "ci", roles: ["admim"] }, /roles\[0\].*admin/],
    ["ApiKeyService/CreateApiKey", { name: "ci", scoeps: ["pool:read"] }, /did you mean scopes/],
    ["ApiKeyService/CreateApiKey", { name: "ci", roles: "viewer" }, /roles: must be a list/],
    ["ApiKeyService/CreateApiKey", { name: "ci", environment_mode: "production-only" }, /production_only/],
    ["DeadLetterService/PurgeDeadLetters", { olderThan: "2026-01-31T12:00:00Z" }, /is called older_than here/],
    [
      "BulkOperationService/StartQueueOperation",
      { pool_id: "p", action: "cancel", filter: null },
      /filter: must not be null/,
    ],
    ["BulkOperationService/StartQueueOperation", { pool_id: "p", action: "cancle" }, /action: .*cancel/],
    [
      "WorkflowRunService/StartWorkflowRun",
      { definition: "d", environment_id: null },
      /environment_id: must not be null/,
    ],
    ["WorkflowRunService/ChangeWorkflowRuns", { action: "cancle" }, /action: .*cancel/],
    [
      "WorkflowRunService/ChangeWorkflowRuns",
      { action: "cancel", created_before: null },
      /created_before: must not be null/,
    ],
    ["WorkflowStreamService/SetWorkflowStreamLegalHold", { run_id: "r", stream_id: "s", held: "no" }, /held: must be/],
    ["RoutingService/Route", { type: "t", pool_id: "p", after_failure: "cancle" }, /after_failure: .*cancel/],
    ["PoolService/UpdatePool", { pool_id: "p", status: "DISABELD" }, /status: .*STATUS_DISABLED/],
    ["PlanService/CreatePlan", { key: "pro", name: "Pro", terms: { limts: { route: 5 } } }, /did you mean limits/],
  ];
  for (const [id, request, detail] of guarded) {
    const { code, text, body } = await call(operations.find((each) => each.id === `service.api.${id}`)!, request);
    assert.equal(code, "INVALID_ARGUMENT", text);
    assert.match(body.detail, detail);
    assert.equal(body.corrections, undefined, text);
  }
});

test("conditions, templates and queries are sent back repaired, and accepted then", async () => {
  const operationOf = (id: string) => operations.find((each) => each.id === `service.api.${id}`)!;
  const pool = await call(operationOf("PoolService/CreatePool"), { name: "repaired" });
  const rule = { pool_id: pool.body.data.id, name: "German", action: { type: "require" } };
  const layout = { name: "Repaired", channel: "email", engine: "handlebars" };
  const series = "routing_decisions_total";
  const cases: [operation: string, request: Json, field: string, repaired: string][] = [
    ["RuleService/CreateRule", { ...rule, condition: 'itm.x = "de"' }, "condition", 'item.x == "de"'],
    ["LayoutService/CreateLayout", { ...layout, body: "<p>{{ content }</p>" }, "body", "<p>{{ content }}</p>"],
    ["AnalyticsService/QueryAnalytics", { query: `rate(${series})` }, "query", `rate(${series}[5m])`],
  ];
  for (const [id, request, field, repaired] of cases) {
    const refused = await call(operationOf(id), request);
    const [correction] = refused.body.corrections ?? [];
    assert.deepEqual([correction?.field, correction?.value], [field, repaired], refused.text);
    const accepted = await call(operationOf(id), correct(request, refused.body.corrections));
    assert.equal(accepted.code, "OK", accepted.text);
  }
});

test("documents are sent back with the names and values of their language, and accepted then", async () => {
  const create = operations.find(({ id }) => id.endsWith("/CreateManifest"))!;
  const { document } = exampleOfMessage(create.method.input, "request") as { document: Json };
  const { base_url: baseUrl, category: _category, ...others } = document;
  const wrong = { ...others, baseUrl, category: "Support" };
  const refused = await call(create, { document: wrong });
  const corrected = correct({ document: wrong }, refused.body.corrections ?? []);
  assert.deepEqual(corrected.document, document, refused.text);
  assert.equal((await call(create, corrected)).code, "OK");
});

test("an id where a key is taken, or a key where an id is taken, is answered with the other, and accepted then", async () => {
  const operationOf = (id: string) => operations.find((each) => each.id === `service.api.${id}`)!;
  const name = `named-${process.hrtime.bigint()}`;
  const pool = await call(operationOf("PoolService/CreatePool"), { name });
  const subscriber = await call(operationOf("SubscriberService/UpsertSubscriber"), { external_id: name });
  const workflow_key = name;
  await call(operationOf("NotificationWorkflowService/UpsertNotificationWorkflow"), {
    workflow_key,
    channels: { in_app: { body: "B" } },
  });
  const subscriberId = subscriber.body.data.id;
  const trigger = "NotificationService/TriggerNotification";
  const cases: [operation: string, request: Json, field: string, value: string][] = [
    ["PoolService/GetPool", { pool_id: name }, "pool_id", pool.body.data.id],
    ["RecipientService/CreateRecipient", { pool_id: name, name: "Ada" }, "pool_id", pool.body.data.id],
    [trigger, { workflow_key, subscriber_id: name }, "subscriber_id", subscriberId],
    [trigger, { workflow_key, subscriber_external_id: subscriberId }, "subscriber_external_id", name],
  ];
  for (const [id, request, field, value] of cases) {
    const refused = await call(operationOf(id), request);
    assert.equal(refused.code, "NOT_FOUND", refused.text);
    const [correction] = refused.body.corrections ?? [];
    assert.deepEqual(
      [correction?.field, correction?.value, correction?.confidence],
      [field, value, "likely"],
      refused.text,
    );
    const accepted = await call(operationOf(id), correct(request, refused.body.corrections));
    assert.equal(accepted.code, "OK", accepted.text);
  }
  // What would be deleted is only named, and so is what several records could be.
  const removal = await call(operationOf("PoolService/DeletePool"), { pool_id: name });
  assert.deepEqual([removal.code, removal.body.corrections], ["NOT_FOUND", undefined], removal.text);
  const unknown = await call(operationOf("PoolService/GetPool"), { pool_id: `${name}-` });
  assert.deepEqual([unknown.code, unknown.body.corrections], ["NOT_FOUND", undefined], unknown.text);
});

test("a wrong path, method or header is answered with the nearest right one", async () => {
  const { baseUrl, headers } = fixture.platform.admin;
  const json = { "content-type": "application/json" };
  const cases: [sent: string, headers: Record<string, string>, part: string, value: string][] = [
    ["GET /api/pool", {}, "path", "/api/pools"],
    ["GET /api/polls/orders/recipients", {}, "path", "/api/pools/orders/recipients"],
    ["GET /pools", {}, "path", "/api/pools"],
    ["GET /api/v1/pools/", {}, "path", "/api/pools"],
    ["GET /api/v2/apiKeys", {}, "path", "/api/v2/api-keys"],
    ["POST /service.api.PoolService/CretePool", json, "path", "/service.api.PoolService/CreatePool"],
    [
      "POST /PoolService/CreatePool",
      { ...json, "connect-protocol-version": "1" },
      "path",
      "/service.api.PoolService/CreatePool",
    ],
    ["PUT /api/pools/orders", json, "method", "PATCH"],
    ["PATCH /api/pools/orders", { ...json, "if-match": "3" }, "header", '"3"'],
    ["POST /api/pools", { "content-type": "text/plain" }, "header", "application/json"],
    ["GET /api/pools", { "api-version": "v2" }, "header", "2024-01-01"],
  ];
  for (const [sent, added, part, value] of cases) {
    const [method, path] = sent.split(" ");
    const sentHeaders = { ...headers, ...added };
    const { text } = await send("REST", baseUrl + path!, {
      method: method!,
      headers: sentHeaders,
      ...(method !== "GET" && { body: "{}" }),
    });
    const { corrections, details = [] } = JSON.parse(text);
    const [correction] =
      corrections ??
      details.find(({ type }: { type: string }) => type === "service.api.Corrections")?.debug.corrections ??
      [];
    assert.deepEqual([correction?.in, correction?.value], [part, value], `${sent}: ${text}`);
  }
});

test("a path or a method that would delete something, or is far from all, gets no correction", async () => {
  const { baseUrl, headers } = fixture.platform.admin;
  for (const sent of [
    "DELETE /api/pool/orders",
    "POST /api/queues/orders/drian",
    "POST /api/v2/billing/invoices/i:viod",
    "POST /api/v2/identity/login-link",
    "POST /api/v2/identity/signout",
    "POST /api/v2/marketplace/installations/i/unistall",
    "POST /api/promotions/candidates/c/promte",
    "DELETE /api/pools",
    "GET /wp-login.php",
    "GET /api/v2/environments/a/b/c",
  ]) {
    const [method, path] = sent.split(" ");
    const { status, body } = await send("REST", baseUrl + path!, { method: method!, headers });
    assert.ok(status === 404 || status === 405, sent);
    assert.equal(body.corrections, undefined, `${sent}: ${JSON.stringify(body.corrections)}`);
  }
});

function call(operation: Operation, request: Json): Promise<Outcome> {
  const { baseUrl, headers } = callerFor(fixture.platform, operation);
  const raw = restRequest(operation, request);
  return send("REST", baseUrl + raw.path, {
    method: raw.method,
    headers: { ...headers, ...raw.headers },
    ...(raw.body !== undefined && { body: raw.body }),
  });
}

/** Reads a request like the service does; undefined if it breaks a rule. */
function accept({ method, bindings }: Operation, request: Json): Message | undefined {
  try {
    if (bindings[0]!.body === "*") return createRequestReader(method.input)(request);
    const message = create(method.input);
    const params = Object.entries(request).flatMap(([name, value]) =>
      [value].flat().map((each) => [name, typeof each === "object" ? JSON.stringify(each) : String(each)] as const),
    );
    return applyParams(method.input, message, params, "query").length > 0 ? undefined : message;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** Applies the corrections. The names of paging parameters become those of the fields again. */
function correct(request: Json, corrections: readonly Correction[]): Json {
  const restNames = new Map(Object.entries(restPagingNames).map(([name, restName]) => [restName, name]));
  const corrected = corrections.reduce((json, { patch }) => applyPatch(json, patch!) as Json, request);
  return Object.fromEntries(Object.entries(corrected).map(([name, value]) => [restNames.get(name) ?? name, value]));
}

function divide(request: Json, isFirst: (name: string) => boolean): [Json, Json] {
  const entries = Object.entries(request);
  const part = (wanted: boolean) => Object.fromEntries(entries.filter(([name]) => isFirst(name) === wanted));
  return [part(true), part(false)];
}
