import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { MockFailure, MockProvider } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { startReceiver } from "../../src/platform/egress/testing/receivers.ts";
import { avoidMidnight } from "../harness/midnight.ts";
import { connect } from "../harness/postgres-server.ts";
import { fc } from "../harness/random.ts";
import { startService, type TestService } from "../harness/service.ts";
import { freshName } from "../routing/tenant-fixture.ts";
import { type AcmeTenant, newAcmeTenant, startAcme, startTokenServer } from "./acme.ts";

let service: TestService;
let mock: MockProvider;
let own: AcmeTenant;
before(async () => {
  service = await startService();
  mock = await startAcme();
  own = await newAcmeTenant(service, mock);
});

const note = { text: "hello" };
/** The requests of an action since a position. */
const requestsSince = (position: number) => mock.requests.slice(position);

test("an action returns its output, and the record says what was done", async () => {
  mock.answer("note.add", { id: "n1", text: "hello", secret: "not asked for" });
  const from = mock.requests.length;
  const { status, body } = await own.execute("note.add", note);
  assert.equal(status, 200, JSON.stringify(body));
  const { execution } = body.data;
  assert.deepEqual(execution.output, { id: "n1", text: "hello" });
  const [request] = requestsSince(from);
  assert.equal(request!.headers.authorization, `Bearer ${own.token}`);
  const record = await own.execution(execution.id);
  assert.deepEqual(
    [record.status, record.class, record.action_key, record.provider_key, record.manifest_version, record.origin],
    ["succeeded", "ok", "acme.note.add", "acme", "1.2.0", "api"],
  );
  assert.deepEqual(record.request, { method: "POST", host: "127.0.0.1", path: "/notes" });
  assert.equal(record.attempts.length, 1);
  assert.equal(record.attempts[0].http_status, 200);
  assert.deepEqual(record.output, execution.output);
  assert.deepEqual(mock.undeclared, []);
});

test("input that does not fit the schema is refused with field paths, and nothing is sent or recorded", async () => {
  const from = mock.requests.length;
  for (const [input, field] of [
    [{}, "input"],
    [{ text: 1 }, "input.text"],
    [{ text: "a", more: true }, "input.more"],
  ] as const) {
    const { status, body } = await own.execute("note.add", input);
    assert.deepEqual([status, body.errorCode], [400, "INVALID_ARGUMENT"], JSON.stringify(body));
    assert.ok(
      body.violations.some((each: { field: string }) => each.field.startsWith(field)),
      JSON.stringify(body.violations),
    );
  }
  const { body } = await own.execute("note.put", { id: "..", text: "a" });
  assert.equal(body.errorCode, "INVALID_ARGUMENT");
  assert.equal(mock.requests.length, from);
});

test("only executable actions run, and the others say why", async () => {
  const scan = await own.execute("note.scan", note);
  assert.deepEqual([scan.status, scan.body.errorCode], [412, "ACTION_NOT_EXECUTABLE"]);
  assert.match(scan.body.detail, /only described in the catalogue: It needs a file/);
  const absent = await own.execute("note.nothing", note);
  assert.deepEqual([absent.status, absent.body.errorCode], [404, "NOT_FOUND"]);
});

test("a connection must exist, belong to the provider and be usable", async () => {
  const missing = await own.execute("note.add", note, { connection_id: freshName() });
  assert.deepEqual([missing.status, missing.body.errorCode], [404, "NOT_FOUND"]);
  const none = await own.execute("note.add", note, { connection_id: "" });
  assert.deepEqual([none.status, none.body.violations[0].field], [400, "connection_id"]);
  const other = await own.connect({
    ...{ provider_key: "http", settings: { base_url: "http://127.0.0.1:1" }, auth_mode: "none", credentials: {} },
  });
  const wrong = await own.execute("note.add", note, { connection_id: other });
  assert.match(wrong.body.detail, /is a connection of http/);
  const revoked = await own.connect({});
  await own.ok("POST", `/api/v2/connector/connections/${revoked}/revoke`, {});
  const unusable = await own.execute("note.add", note, { connection_id: revoked });
  assert.deepEqual([unusable.status, unusable.body.errorCode], [412, "CONNECTION_UNUSABLE"]);
});

test("a dry run renders the request without credentials, and sends and records nothing", async () => {
  const from = mock.requests.length;
  const { body, text } = await own.execute("note.add", note, { dry_run: true });
  assert.equal(body.data.execution, undefined);
  const { method, url, headers, body: sent } = body.data.request;
  assert.deepEqual([method, url, sent], ["POST", `http://127.0.0.1:${mock.port}/notes`, '{"text":"hello"}']);
  assert.equal(headers.authorization, "Bearer [redacted]");
  assert.ok(!text.includes(own.token));
  assert.equal(mock.requests.length, from);
});

/** The faults of a provider, with the error and the number of requests that each kind of action ends with. */
const faults: readonly {
  readonly name: string;
  readonly fault: MockFailure;
  readonly times: number;
  readonly expected: Readonly<Record<string, readonly [error: string, status: string, requests: number]>>;
}[] = [
  {
    name: "an answer that is cut off before it begins",
    fault: { kind: "cut" },
    times: 5,
    expected: {
      "note.add": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 1],
      "charge.create": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 3],
      "note.put": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 3],
      "note.get": ["CONNECTOR_UNAVAILABLE", "failed", 3],
    },
  },
  {
    name: "an answer that is cut off in the middle",
    fault: { kind: "cut", when: "in_answer" },
    times: 5,
    expected: {
      "note.add": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 1],
      "charge.create": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 3],
    },
  },
  {
    name: "no answer in time",
    fault: { kind: "slow" },
    times: 5,
    expected: {
      "note.add": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 1],
      "charge.create": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 1],
      "note.get": ["CONNECTOR_UNAVAILABLE", "failed", 1],
    },
  },
  {
    name: "garbage",
    fault: { kind: "malformed" },
    times: 5,
    expected: {
      "note.add": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 1],
      "charge.create": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 1],
      "note.get": ["CONNECTOR_FAILED", "failed", 1],
    },
  },
  {
    name: "a failing gateway",
    fault: { kind: "answer", status: 502, body: "bad gateway" },
    times: 5,
    expected: {
      "note.add": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 1],
      "charge.create": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 3],
      "note.put": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 3],
      "note.get": ["CONNECTOR_UNAVAILABLE", "failed", 3],
    },
  },
  {
    name: "a redirection",
    fault: { kind: "answer", status: 303, headers: { location: "https://elsewhere.example/" } },
    times: 5,
    expected: {
      "note.add": ["CONNECTOR_OUTCOME_UNKNOWN", "outcome_unknown", 1],
      "note.get": ["CONNECTOR_FAILED", "failed", 1],
    },
  },
  {
    name: "a refusal",
    fault: { kind: "answer", status: 422, body: { error: { code: "too_long", message: "Too long." } } },
    times: 5,
    expected: {
      "note.add": ["CONNECTOR_FAILED", "failed", 1],
      "charge.create": ["CONNECTOR_FAILED", "failed", 1],
      "note.put": ["CONNECTOR_FAILED", "failed", 1],
    },
  },
];

for (const { name, fault, times, expected } of faults) {
  for (const [action, [error, status, requests]] of Object.entries(expected)) {
    test(`${name}: ${action} ends as ${status} after ${requests} requests`, async (t) => {
      // A mock of its own: faults that are left must not reach other tests.
      const faulty = await startAcme();
      t.after(() => faulty.close().catch(() => {}));
      const connection_id = await own.connect({ settings: { base_url: `http://127.0.0.1:${faulty.port}` } });
      faulty.fail(action, fault, times);
      // Long enough for the request to arrive on a busy machine.
      const timeout_ms = fault.kind === "slow" ? 2000 : 0;
      const input = action === "note.get" ? { id: "1" } : action === "note.put" ? { id: "1", ...note } : note;
      const { body } = await own.execute(action, input, { connection_id, timeout_ms });
      assert.equal(body.errorCode, error, JSON.stringify(body));
      const record = await own.execution(body.execution_id);
      assert.equal(record.status, status);
      assert.equal(faulty.requests.length, requests);
      assert.equal(record.attempts.length, requests);
      const keys = new Set(faulty.requests.map((each) => each.headers["idempotency-key"]));
      assert.equal(keys.size, 1);
      assert.equal([...keys][0], action === "charge.create" ? record.deduplication_key : undefined);
    });
  }
}

test("a request that cannot have arrived is sent again, also one that must not be sent twice", async () => {
  const port = await closedPort();
  const connection_id = await own.connect({ settings: { base_url: `http://127.0.0.1:${port}` } });
  const { body } = await own.execute("note.add", note, { connection_id });
  assert.equal(body.errorCode, "CONNECTOR_UNAVAILABLE", JSON.stringify(body));
  const record = await own.execution(body.execution_id);
  assert.deepEqual(
    [record.status, record.code, record.attempts.length, record.repeatable],
    ["failed", "connect_failed", 3, true],
  );
});

test("a provider's limit delays the next requests of the connection, and a longer one refuses them", async (t) => {
  const limited = await startAcme();
  t.after(() => limited.close().catch(() => {}));
  const settings = { base_url: `http://127.0.0.1:${limited.port}` };
  const connection_id = await own.connect({ settings });
  limited.fail("note.add", { kind: "rate_limited", retryAfterS: 1 });
  const first = await own.execute("note.add", note, { connection_id });
  assert.equal(first.status, 200, first.text);
  const { attempts } = first.body.data.execution;
  assert.deepEqual(
    attempts.map((each: { class: string }) => each.class),
    ["rate_limited", "ok"],
  );
  const gapMs = Date.parse(attempts[1].started_at) - Date.parse(attempts[0].started_at);
  assert.ok(gapMs >= 900, `${gapMs} ms`);

  limited.fail("note.add", { kind: "rate_limited", retryAfterS: 3600 });
  const second = await own.execute("note.add", note, { connection_id });
  assert.deepEqual([second.status, second.body.errorCode], [429, "CONNECTOR_RATE_LIMITED"]);
  assert.ok(Number(second.headers.get("retry-after")) > 3500);
  const sent = limited.requests.length;
  const third = await own.execute("note.get", { id: "1" }, { connection_id });
  assert.deepEqual([third.status, third.body.errorCode], [429, "CONNECTOR_RATE_LIMITED"]);
  // Another node learns of the limit from the database.
  const other = await startService({ "auth.bootstrap_api_key": service.adminKey }, service.databaseUrl);
  const elsewhere = await fetch(`${other.baseUrl}/api/v2/connector/actions/acme.note.get:execute`, {
    method: "POST",
    headers: { "x-api-key": own.key, "content-type": "application/json" },
    body: JSON.stringify({ connection_id, input: { id: "1" } }),
  });
  assert.equal(elsewhere.status, 429);
  assert.equal(limited.requests.length, sent);
  // The limit is one of the connection.
  const free = await own.connect({ settings });
  assert.equal((await own.execute("note.get", { id: "1" }, { connection_id: free })).status, 200);
});

test("rejected credentials are renewed once, and the refused request is sent again", async (t) => {
  const guarded = await startAcme();
  t.after(() => guarded.close().catch(() => {}));
  const tokens = await startTokenServer();
  tokens.tokens = [`first-${freshName()}`, `second-${freshName()}`, `third-${freshName()}`];
  const settings = { base_url: `http://127.0.0.1:${guarded.port}`, token_url: tokens.url };
  const credentials = { client_id: "c", client_secret: "the-client-secret" };
  const connection_id = await own.connect({ auth_mode: "oauth2_cc", settings, credentials });
  guarded.requireHeader("authorization", `Bearer ${tokens.tokens[0]}`);
  assert.equal((await own.execute("note.add", note, { connection_id })).status, 200);
  // A token that is rejected right after it was issued is not worth another one.
  const sql = connect(service.databaseUrl, 1);
  t.after(() => sql.end({ timeout: 1 }));
  await sql`update connector_connections set last_refreshed_at = now() - interval '1 hour' where id = ${connection_id}`;
  guarded.requireHeader("authorization", `Bearer ${tokens.tokens[1]}`);
  const { status, body, text } = await own.execute("note.add", note, { connection_id });
  assert.equal(status, 200, text);
  assert.deepEqual(
    body.data.execution.attempts.map((each: { class: string }) => each.class),
    ["auth_expired", "ok"],
  );
  assert.equal(guarded.requests.length, 3);
  const { attempts } = await own.explain(body.data.execution.id);
  assert.match(attempts[0].consequence, /credentials were renewed/);

  // Fresh credentials that are rejected, too, are not renewed again.
  guarded.requireHeader("authorization", "Bearer nothing");
  const rejected = await own.execute("note.add", note, { connection_id });
  assert.deepEqual([rejected.status, rejected.body.errorCode], [412, "CONNECTION_UNUSABLE"], rejected.text);
  const record = await own.execution(rejected.body.execution_id);
  assert.deepEqual([record.status, record.class], ["failed", "auth_expired"]);
});

test("an action that starts after a revocation sends nothing, also on a node that has not heard of it", async (t) => {
  const connection_id = await own.connect({});
  assert.equal((await own.execute("note.get", { id: "n1" }, { connection_id })).status, 200);
  const from = mock.requests.length;
  const sql = connect(service.databaseUrl, 1);
  t.after(() => sql.end({ timeout: 1 }));
  await sql`update connector_connections set status = 'revoked' where id = ${connection_id}`;
  const { status, body } = await own.execute("note.get", { id: "n1" }, { connection_id });
  assert.deepEqual([status, body.errorCode], [412, "CONNECTION_UNUSABLE"]);
  assert.equal(mock.requests.length, from);
});

test("pages are read up to the manifest's maximum", async (t) => {
  const paged = await startAcme();
  t.after(() => paged.close().catch(() => {}));
  const connection_id = await own.connect({ settings: { base_url: `http://127.0.0.1:${paged.port}` } });
  const page = (id: string, next: string | null): MockFailure => ({
    kind: "answer",
    status: 200,
    body: { items: [{ id }], next },
  });
  for (const [id, next] of [
    ["a", "2"],
    ["b", "3"],
    ["c", null],
  ] as const)
    paged.fail("note.list", page(id, next));
  const all = (await own.execute("note.list", {}, { connection_id })).body.data.execution;
  assert.deepEqual(all.output, { notes: [{ id: "a" }, { id: "b" }, { id: "c" }] });
  assert.equal(all.pages_truncated ?? false, false);
  assert.deepEqual(
    all.attempts.map((each: { page: number }) => each.page),
    [1, 2, 3],
  );
  for (let nth = 1; nth <= 3; nth++) paged.fail("note.list", page(`x${nth}`, String(nth)));
  const cut = (await own.execute("note.list", {}, { connection_id })).body.data.execution;
  assert.deepEqual([cut.output.notes.length, cut.pages_truncated], [3, true]);
  assert.equal(paged.requests.length, 6);
});

test("a list that repeats a page is not read further, and the execution says that it is truncated", async (t) => {
  const paged = await startAcme();
  t.after(() => paged.close().catch(() => {}));
  const connection_id = await own.connect({ settings: { base_url: `http://127.0.0.1:${paged.port}` } });
  for (const id of ["a", "b"]) {
    paged.fail("note.list", { kind: "answer", status: 200, body: { items: [{ id }], next: "2" } });
  }
  const { output, pages_truncated } = (await own.execute("note.list", {}, { connection_id })).body.data.execution;
  assert.deepEqual(output, { notes: [{ id: "a" }, { id: "b" }] });
  assert.deepEqual([pages_truncated, paged.requests.length], [true, 2]);
});

test("next-page URLs that lead back to the first page do not return its items twice", async () => {
  const linked = await startReceiver((request, response) => {
    const isFirst = request.url === "/notes";
    const next = `<http://127.0.0.1:${linked.port}/notes${isFirst ? "?page=2" : ""}>; rel="next"`;
    response.writeHead(200, { "content-type": "application/json", link: next });
    response.end(JSON.stringify([{ id: isFirst ? "a" : "b" }]));
  });
  const connection_id = await own.connect({ settings: { base_url: `http://127.0.0.1:${linked.port}` } });
  const { output, pages_truncated } = (await own.execute("note.links", {}, { connection_id })).body.data.execution;
  assert.deepEqual([output, pages_truncated], [{ notes: [{ id: "a" }, { id: "b" }] }, true]);
});

test("an output above 256 KiB is returned but not stored, and a larger answer than allowed is refused", async () => {
  mock.answer("note.get", { id: "1", text: "x".repeat(270_000) });
  const key = { "idempotency-key": freshName() };
  const { body } = await own.execute("note.get", { id: "1" }, {}, key);
  assert.equal(body.data.execution.output.text.length, 270_000);
  const record = await own.execution(body.data.execution.id);
  assert.deepEqual([record.status, record.output, record.output_omitted], ["succeeded", undefined, true]);
  const repeated = await own.execute("note.get", { id: "1" }, {}, key);
  assert.equal(repeated.headers.get("idempotency-replayed"), "true");
  assert.deepEqual(
    [repeated.body.data.execution.id, repeated.body.data.execution.output_omitted],
    [body.data.execution.id, true],
  );
  mock.answer("note.get", { id: "1", text: "x".repeat(310_000) });
  const refused = await own.execute("note.get", { id: "1" });
  assert.deepEqual([refused.body.errorCode, refused.body.provider_code], ["CONNECTOR_FAILED", "too_large"]);
  mock.answer("note.get", { id: "1", text: "hello" });
});

test("a repeat with the same key returns the first result and sends nothing", async () => {
  const headers = { "idempotency-key": freshName() };
  const from = mock.requests.length;
  const first = await own.execute("note.add", note, {}, headers);
  const again = await own.execute("note.add", note, {}, headers);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.deepEqual(again.body.data, first.body.data);
  assert.equal(mock.requests.length, from + 1);
  const changed = await own.execute("note.add", { text: "other" }, {}, headers);
  assert.equal(changed.body.errorCode, "IDEMPOTENCY_KEY_REUSED");
});

test("a repeat after an unknown outcome is refused for a write that must not be sent twice", async () => {
  const headers = { "idempotency-key": freshName() };
  const from = mock.requests.length;
  mock.fail("note.add", { kind: "cut" });
  const first = await own.execute("note.add", note, {}, headers);
  const again = await own.execute("note.add", note, {}, headers);
  for (const { body } of [first, again]) {
    assert.deepEqual([body.errorCode, body.repeatable], ["CONNECTOR_OUTCOME_UNKNOWN", false]);
  }
  assert.equal(again.body.execution_id, first.body.execution_id);
  assert.equal(mock.requests.length, from + 1);
});

test("a repeat after an unknown outcome is executed with the same key at a provider that deduplicates", async () => {
  const headers = { "idempotency-key": freshName() };
  const from = mock.requests.length;
  mock.fail("charge.create", { kind: "cut" }, 3);
  const first = await own.execute("charge.create", note, {}, headers);
  assert.deepEqual([first.body.errorCode, first.body.repeatable], ["CONNECTOR_OUTCOME_UNKNOWN", true]);
  const again = await own.execute("charge.create", note, {}, headers);
  assert.equal(again.status, 200, again.text);
  const sent = requestsSince(from).map((each) => each.headers["idempotency-key"]);
  assert.equal(sent.length, 4);
  assert.equal(new Set(sent).size, 1);
});

test("a failed execution frees its key, so that the call can be repeated", async () => {
  const headers = { "idempotency-key": freshName() };
  mock.fail("note.add", { kind: "answer", status: 422, body: { error: { code: "busy", message: "Not now." } } });
  const first = await own.execute("note.add", note, {}, headers);
  assert.deepEqual([first.status, first.body.errorCode, first.body.class], [422, "CONNECTOR_FAILED", "invalid_input"]);
  const again = await own.execute("note.add", note, {}, headers);
  assert.equal(again.status, 200, again.text);
});

test("a repeat is answered although the connection is revoked by now", async () => {
  const connection_id = await own.connect({});
  const headers = { "idempotency-key": freshName() };
  const first = await own.execute("note.add", note, { connection_id }, headers);
  await own.ok("POST", `/api/v2/connector/connections/${connection_id}/revoke`, {});
  const again = await own.execute("note.add", note, { connection_id }, headers);
  assert.deepEqual(again.body.data, first.body.data);
});

test("executions count towards the quota connector.execute, and dry runs do not", async () => {
  await avoidMidnight();
  const tenant = await newAcmeTenant(service, mock);
  const platform = { "x-api-key": service.adminKey, "content-type": "application/json" };
  const changed = await fetch(`${service.baseUrl}/api/tenants/${tenant.id}`, {
    method: "PATCH",
    headers: platform,
    body: JSON.stringify({ quotas: { "connector.execute": { limit_per_day: 2 } } }),
  });
  assert.equal(changed.status, 200, await changed.text());
  assert.equal((await tenant.execute("note.add", note, { dry_run: true })).status, 200);
  const headers = { "idempotency-key": freshName() };
  assert.equal((await tenant.execute("note.add", note, {}, headers)).status, 200);
  assert.equal((await tenant.execute("note.add", note)).status, 200);
  const over = await tenant.execute("note.add", note);
  assert.deepEqual([over.status, over.body.errorCode], [429, "QUOTA_EXCEEDED"]);
  // A repeat gets its response, whatever the quota says.
  assert.equal((await tenant.execute("note.add", note, {}, headers)).status, 200);
});

test("under random faults a write is performed at most once, and its status is true", async () => {
  /** Answers by whether the provider has performed the request: no, or yes although it does not say so. */
  const kinds: readonly { readonly fault: MockFailure; readonly performs: boolean }[] = [
    { fault: { kind: "cut" }, performs: true },
    { fault: { kind: "cut", when: "in_answer" }, performs: true },
    { fault: { kind: "malformed" }, performs: true },
    { fault: { kind: "answer", status: 500, body: "?" }, performs: true },
    { fault: { kind: "answer", status: 429, headers: { "retry-after": "0" } }, performs: false },
    { fault: { kind: "answer", status: 429, headers: { "retry-after": "0" } }, performs: false },
    { fault: { kind: "answer", status: 422, body: { error: { code: "no", message: "No." } } }, performs: false },
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(kinds.length - 1), { minLength: 1, maxLength: 4 }), async (sequence) => {
      const faulty = await startAcme();
      const connection_id = await own.connect({ settings: { base_url: `http://127.0.0.1:${faulty.port}` } });
      for (const nth of sequence) faulty.fail("note.add", kinds[nth]!.fault);
      const { status, body } = await own.execute("note.add", note, { connection_id });
      const sent = faulty.requests.length;
      await faulty.close();
      // A request after the last fault succeeds.
      const performed = faulty.requests.filter((_, at) => kinds[sequence[at] ?? -1]?.performs ?? true).length;
      assert.ok(performed <= 1, `performed ${performed} times of ${sent}`);
      const id = body.execution_id ?? body.data.execution.id;
      const record = await own.execution(id);
      const isKnown = record.status === "succeeded" ? performed === 1 && status === 200 : record.status === "failed";
      assert.ok(isKnown ? record.status === "succeeded" || performed === 0 : performed === 1, JSON.stringify(record));
    }),
    { numRuns: 25 },
  );
});

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const closed = await startAcme();
  const { port } = closed;
  await closed.close();
  return port;
}
