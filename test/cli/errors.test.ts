import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import test from "node:test";
import { catalogue, type ErrorCode } from "../../src/errors/index.ts";
import { cli } from "./cli-run.ts";
import { startStub } from "./stub-service.ts";

const stub = await startStub();
const at = ["--address", stub.address];

function problem(code: ErrorCode, extra: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  const { http, title, retryable, meaning } = catalogue[code];
  const json = { title, status: http, detail: meaning, errorCode: code, retryable, request_id: "r1", ...extra };
  return { status: http, json, headers };
}

const expected: Readonly<Record<ErrorCode, number>> = {
  INVALID_ARGUMENT: 2,
  UNAUTHENTICATED: 3,
  PERMISSION_DENIED: 3,
  ENTITLEMENT_DENIED: 3,
  TENANT_MISMATCH: 3,
  TENANT_SUSPENDED: 3,
  HOST_NOT_ALLOWED: 3,
  NOT_FOUND: 4,
  ROUTE_NOT_FOUND: 4,
  METHOD_NOT_ALLOWED: 1,
  REQUEST_TIMEOUT: 6,
  ALREADY_EXISTS: 5,
  VERSION_CONFLICT: 5,
  CONFLICT: 5,
  IN_USE: 5,
  IDEMPOTENCY_KEY_REUSED: 5,
  SCORE_ID_REUSED: 5,
  TRANSACTION_ID_REUSED: 5,
  IDEMPOTENCY_IN_PROGRESS: 5,
  FAILED_PRECONDITION: 5,
  PACK_UNTRUSTED: 5,
  PACK_CONFLICT: 5,
  PACK_CONSENT_REQUIRED: 5,
  REPLAY_REFUSED: 5,
  STREAM_RESYNC_REQUIRED: 4,
  STREAM_CLOSED: 5,
  OBJECT_MISMATCH: 2,
  OBJECT_NOT_UPLOADED: 5,
  OBJECT_INTENT_ENDED: 5,
  RANGE_NOT_SATISFIABLE: 2,
  REGION_NOT_ALLOWED: 5,
  CONNECTION_UNUSABLE: 5,
  CONNECT_SESSION_INVALID: 5,
  ACTION_NOT_EXECUTABLE: 5,
  CONNECTOR_FAILED: 1,
  LEASE_LOST: 5,
  OFFER_LOST: 5,
  RECIPIENT_REQUIRED: 5,
  ROUTING_FAILED: 6,
  ROUTING_THROTTLED: 6,
  PAYLOAD_TOO_LARGE: 2,
  UNSUPPORTED_MEDIA_TYPE: 2,
  RATE_LIMITED: 6,
  QUOTA_EXCEEDED: 6,
  STREAM_BACKPRESSURE: 6,
  STREAM_QUOTA_EXHAUSTED: 6,
  STORAGE_QUOTA_EXCEEDED: 6,
  STORAGE_FULL: 6,
  CONNECTOR_RATE_LIMITED: 6,
  EXPECTATION_FAILED: 1,
  HEADERS_TOO_LARGE: 2,
  CANCELED: 1,
  INTERNAL: 1,
  CONNECTOR_OUTCOME_UNKNOWN: 5,
  UNAVAILABLE: 6,
  CONNECTOR_UNAVAILABLE: 6,
  FEATURE_DISABLED: 5,
  TIMEOUT: 6,
};

for (const code of Object.keys(catalogue) as ErrorCode[]) {
  test(`${code} exits with ${expected[code]}`, async () => {
    stub.answers(problem(code));
    const { exitCode, out, err } = await cli([...at, "tenant", "list", "--retries", "0"]);
    assert.equal(exitCode, expected[code]);
    assert.equal(out, "");
    assert.match(err, new RegExp(`\\(${catalogue[code].http} ${code}\\)`));
    assert.match(err, /request r1/);
  });
}

test("every violation is printed with its field", async () => {
  const violations = [
    { field: "name", rule: "string.min_len", message: "must not be empty" },
    { field: "slug", rule: "string.pattern", message: "must match" },
  ];
  stub.answers(problem("INVALID_ARGUMENT", { violations }));
  const { err } = await cli([...at, "tenant", "create", "--name", ""]);
  assert.match(err, /^ {2}name: must not be empty$/m);
  assert.match(err, /^ {2}slug: must match$/m);
});

test("the corrected command is printed, ready to run", async () => {
  const corrections = [
    { field: "slug", patch: [{ op: "replace", path: "/slug", value: "acme-corp" }] },
    { field: "issue_admin_key", patch: [{ op: "remove", path: "/issue_admin_key" }] },
  ];
  stub.answers(problem("INVALID_ARGUMENT", { corrections }));
  const words = ["tenant", "create", "--name", "Acme's", "--slug", "Acme Corp", "--issue-admin-key"];
  const { err } = await cli([...at, ...words]);
  assert.match(err, /^Try: service tenant create --name 'Acme'\\''s' --slug acme-corp --address \S+$/m);
});

test("a command is corrected before anything is sent", async () => {
  stub.answers({ json: {} });
  const { err } = await cli([
    ...at,
    "pool",
    "create",
    "--data",
    '{"naem":"orders","config":{"queue":{"maxDepth":"5"}}}',
  ]);
  assert.match(err, /naem: is not a field here/);
  assert.match(err, /^Try: service pool create --name orders --config '\{"queue":\{"max_depth":5\}\}' --address \S+$/m);
  assert.equal(stub.arrived.length, 0);
});

test("no command is printed that contains a secret", async () => {
  const corrections = [{ field: "name", patch: [{ op: "replace", path: "/name", value: "smtp" }] }];
  stub.answers(problem("INVALID_ARGUMENT", { corrections }));
  const { err } = await cli([...at, "secret", "create", "--name", "SMTP", "--value", "hunter2"]);
  assert.doesNotMatch(err, /Try|hunter2/);
  const { err: fromInput } = await cli([...at, "secret", "create", "--name", "SMTP", "--value", "-"], {
    input: "hunter2",
  });
  assert.match(fromInput, /^Try: service secret create --name smtp --value - --address \S+$/m);
});

test("the corrected command calls the same service under the same conditions, and has no key", async () => {
  const corrections = [{ field: "name", patch: [{ op: "replace", path: "/name", value: "orders" }] }];
  stub.answers(problem("INVALID_ARGUMENT", { corrections }));
  const words = ["pool", "update", "p", "--name", " orders", "--if-match", "3", "--idempotency-key", "k 1"];
  const { err } = await cli([...at, "--key", "hunter2", ...words, "--plane", "external"]);
  const kept = `--address ${stub.address} --plane external --if-match 3 --idempotency-key 'k 1'`;
  assert.ok(err.includes(`Try: service pool update p --name orders ${kept}\n`), err);
  assert.doesNotMatch(err, /hunter2/);
});

test("--json prints the problem document unchanged", async () => {
  const answer = problem("NOT_FOUND");
  stub.answers(answer);
  const { err } = await cli([...at, "tenant", "get", "x", "--json"]);
  assert.deepEqual(JSON.parse(err), answer.json);
});

test("an error without a problem document is reported by its status", async () => {
  stub.answers({ status: 502, text: "<html>", headers: { "content-type": "text/html" } });
  const { exitCode, err } = await cli([...at, "tenant", "list", "--retries", "0"]);
  assert.equal(exitCode, 6);
  assert.equal(err, "service: Bad Gateway (502)\n");
});

test("a retryable call is retried with the same idempotency key", async () => {
  stub.answers(
    problem("RATE_LIMITED", {}, { "retry-after": "0" }),
    problem("UNAVAILABLE", {}, { "retry-after": "0" }),
    problem("IDEMPOTENCY_IN_PROGRESS", {}, { "retry-after": "0" }),
    { json: { data: {}, metadata: {} } },
  );
  const { exitCode } = await cli([...at, "tenant", "create", "--name", "A"]);
  assert.equal(exitCode, 0);
  assert.equal(stub.arrived.length, 4);
  assert.equal(new Set(stub.arrived.map(({ headers }) => headers["idempotency-key"])).size, 1);
});

test("a broken connection is retried", async () => {
  stub.answers((response) => response.destroy(), { json: { data: [], total: 0 } });
  assert.equal((await cli([...at, "tenant", "list"])).exitCode, 0);
  assert.equal(stub.arrived.length, 2);
});

test("retries are bounded, and errors that are not retryable are not retried", async () => {
  stub.answers(problem("UNAVAILABLE", {}, { "retry-after": "0" }));
  assert.equal((await cli([...at, "tenant", "list", "--retries", "2"])).exitCode, 6);
  assert.equal(stub.arrived.length, 3);
  for (const code of ["NOT_FOUND", "QUOTA_EXCEEDED", "FEATURE_DISABLED", "VERSION_CONFLICT"] as const) {
    stub.answers(problem(code, {}, { "retry-after": "0" }));
    await cli([...at, "tenant", "list"]);
    assert.equal(stub.arrived.length, 1, code);
  }
  stub.answers(problem("RATE_LIMITED", {}, { "retry-after": "3600" }));
  await cli([...at, "tenant", "list"]);
  assert.equal(stub.arrived.length, 1, "a retry delay of an hour is not awaited");
});

test("a refused connection is a one-line error without retries", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const { exitCode, err } = await cli(["--address", `http://127.0.0.1:${port}`, "tenant", "list", "--verbose"]);
  assert.equal(exitCode, 6);
  assert.match(err, /^> GET .*\nservice: Cannot connect to http:\/\/127\.0\.0\.1:\d+ \(connection refused\)\..*\n$/);
});

test("a response that exceeds the timeout is abandoned", async () => {
  stub.answers(() => {});
  const { exitCode, err } = await cli([...at, "tenant", "list", "--timeout", "1"]);
  assert.equal(exitCode, 6);
  assert.match(err, /did not respond within 1 s/);
});

test("a redirect is not followed, so the key is not sent elsewhere", async () => {
  stub.answers({ status: 302, headers: { location: "http://127.0.0.1:1/" }, text: "" });
  const { exitCode, err } = await cli([...at, "tenant", "list", "--key", "sk_a_b_c"]);
  assert.equal(exitCode, 1);
  assert.match(err, /Found \(302\)/);
});

test("conflicting or non-numeric options are rejected", async () => {
  assert.equal((await cli(["tenant", "list", "--json", "--table"])).exitCode, 2);
  assert.equal((await cli(["tenant", "list", "--retries", "many"])).exitCode, 2);
  assert.equal((await cli(["tenant", "list", "--plane", "astral"])).exitCode, 2);
  assert.equal((await cli(["tenant", "get"])).exitCode, 2);
  assert.equal((await cli(["tenant", "get", "a", "b"])).exitCode, 2);
});

test("a command without a required option is refused before anything is sent; --data can provide it", async () => {
  // Nothing listens there: a command that sent its request would end with another code.
  const connection = ["--address", "http://127.0.0.1:9", "--key", "k", "--retries", "0"];
  const missing = await cli(["tenant", "create", ...connection]);
  assert.deepEqual([missing.exitCode, missing.err], [2, "service: --name: is required\n"]);
  for (const words of [
    ["--name", "acme"],
    ["--data", '{"name":"acme"}'],
  ]) {
    assert.equal((await cli(["tenant", "create", ...words, ...connection])).exitCode, 6);
  }
});

test("wrong use of a command is refused with its usage, the intended command or the allowed value", async () => {
  for (const [words, advice] of [
    [["pool", "get"], /missing required argument 'pool_id'\nUsage: service pool get \[options\] <pool_id>\n/],
    [["pool", "get", "a", "b"], /Usage: service pool get \[options\] <pool_id>\nRun service pool get --help/],
    [["api-key", "revoke", "--id", "x"], /Usage: service api-key revoke \[options\] <api_key_id>/],
    [["tenant", "create", "acme"], /too many arguments.*\nUsage: service tenant create \[options\]\n/],
    [["serve", "--port", "80"], /unknown option '--port'\nUsage: service serve \[options\]\nRun service serve --help/],
    [["list", "pools"], /Did you mean service pool list\?/],
    [["create", "api-key", "--name", "x"], /Did you mean service api-key create\?/],
    [["pool-list"], /Did you mean service pool list\?/],
    [["api-keys:list"], /Did you mean service api-key list\?/],
    [["help", "list", "pools"], /Did you mean service pool list\?/],
    [["event", "list", "--limit", "many"], /--limit: must be an integer \(for example: 20\), not many/],
    [["tenant", "create", "--data", "@none.json"], /--data: none\.json cannot be read \(there is no such file\)/],
  ] as const) {
    const { exitCode, out, err } = await cli([...words]);
    assert.deepEqual([exitCode, out], [2, ""], words.join(" "));
    assert.match(err, advice);
  }
});
