import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { targetOf } from "../../src/gateway/docs/samples/sampled-operation.ts";
import { readReferenceSamples } from "../docs/reference-samples.ts";
import { type CliEnvironment, cli } from "./cli-run.ts";
import { startStub } from "./stub-service.ts";

const stub = await startStub();
const folder = mkdtempSync(join(tmpdir(), "switchyard-cli-files-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command and returns the one request that it sends. */
async function sent(words: readonly string[], surroundings: CliEnvironment = {}) {
  stub.answers({ json: { data: [], total: 0, metadata: {} } });
  const ran = await cli(["--address", stub.address, ...words], surroundings);
  assert.equal(ran.exitCode, 0, ran.err);
  assert.equal(stub.arrived.length, 1);
  return stub.arrived[0]!;
}

async function refused(words: readonly string[]): Promise<string> {
  stub.answers({ json: {} });
  const ran = await cli(["--address", stub.address, ...words]);
  assert.equal(ran.exitCode, 2, ran.out);
  assert.equal(stub.arrived.length, 0, "nothing is sent");
  return ran.err;
}

test("options fill the body, each with the type of its field", async () => {
  const { verb, target, body, headers } = await sent([
    "tenant",
    "create",
    "--name",
    "Acme",
    "--issue-admin-key",
    "--settings",
    '{"color":"red"}',
    "--quotas",
    '{"route":{"limit_per_day":5}}',
  ]);
  assert.equal(`${verb} ${target}`, "POST /api/tenants");
  assert.equal(headers["content-type"], "application/json");
  assert.deepEqual(body, {
    name: "Acme",
    settings: { color: "red" },
    quotas: { route: { limit_per_day: 5 } },
    issue_admin_key: true,
  });
});

test("repeated options become a list", async () => {
  const { body } = await sent(["api-key", "create", "--name", "ci", "--roles", "viewer", "--roles", "operator"]);
  assert.deepEqual(body, { name: "ci", roles: ["viewer", "operator"] });
});

test("an option for objects takes one, a list of them, or both", async () => {
  const { body } = await sent([
    ...["workflow-task", "poll", "--queue", "ml", "--worker-id", "w1"],
    ...["--capabilities", '[{"type":"a"},{"type":"b"}]', "--capabilities", '{"type":"c"}'],
  ]);
  const { capabilities } = body as { capabilities: unknown };
  assert.deepEqual(capabilities, [{ type: "a" }, { type: "b" }, { type: "c" }]);
});

test("a text that may be a whole document can come from a file", async () => {
  const file = join(folder, "order.yaml");
  writeFileSync(file, 'dsl: "1"\nkey: order\n');
  const { body } = await sent(["workflow-definition", "import", "--text", `@${file}`]);
  assert.deepEqual(body, { text: 'dsl: "1"\nkey: order' });
});

test("raw bytes are uploaded from a file as they are, and downloaded to stdout", async () => {
  const file = join(folder, "clip.json");
  writeFileSync(file, ' {"raw": true}\n');
  for (const named of [file, `@${file}`]) {
    const { verb, target, body, headers } = await sent([
      "stream-object",
      "upload",
      "r1",
      "clips",
      "i1",
      "--body",
      named,
    ]);
    assert.equal(`${verb} ${target}`, "PUT /api/workflow-streams/runs/r1/streams/clips/objects/i1");
    assert.equal(headers["content-type"], "application/octet-stream");
    assert.equal(headers["content-length"], "15");
    assert.deepEqual(body, { raw: true });
  }
  assert.match(
    await refused(["stream-object", "upload", "r1", "clips", "i1", "--body", join(folder, "none")]),
    /cannot be read \(there is no such file\)/,
  );
  stub.answers({ text: " [1,\n2]" });
  const ran = await cli([
    "--address",
    stub.address,
    "stream-object",
    "download",
    "r1",
    "clips",
    "i1",
    "--range",
    "bytes=0-6",
  ]);
  assert.equal(ran.out, " [1,\n2]");
  assert.equal(stub.arrived[0]!.target, "/api/workflow-streams/runs/r1/streams/clips/objects/i1?range=bytes%3D0-6");
});

test("path variables are arguments and not part of the body", async () => {
  const { verb, target, body } = await sent(["config-value", "set", "events.retention_days", "--value", "30"]);
  assert.equal(`${verb} ${target}`, "PUT /api/config/values/events.retention_days");
  assert.deepEqual(body, { value: 30 });
  assert.equal((await sent(["tenant", "get", "a/b c"])).target, "/api/tenants/a%2Fb%20c");
  assert.equal((await sent(["tenant", "get-quota", "t1", "route"])).target, "/api/tenants/t1/quota/route");
  assert.equal((await sent(["pool", "get-version", "p1", "7"])).target, "/api/pools/p1/versions/7");
  assert.match(await refused(["pool", "get-version", "p1", "seven"]), /<version>: must be an integer/);
});

test("an argument that would change the path is rejected", async () => {
  for (const text of ["", ".", ".."]) assert.match(await refused(["tenant", "get", text]), /<tenant_id>: must not be/);
});

test("list commands use the REST query parameters, and filters keep their names", async () => {
  const { verb, target, body } = await sent(["tenant", "list", "--limit", "10", "--offset", "5", "--status", "active"]);
  assert.equal(`${verb} ${target}`, "GET /api/tenants?limit=10&offset=5&status=STATUS_ACTIVE");
  assert.equal(body, undefined);
  const events = await sent([
    "event",
    "list",
    "--types",
    "tenant.*",
    "--types",
    "a.b",
    "--since",
    "2027-01-01T00:00:00Z",
  ]);
  const query = new URL(events.target, stub.address).searchParams;
  assert.deepEqual(query.getAll("types"), ["tenant.*", "a.b"]);
  assert.equal(query.get("since"), "2027-01-01T00:00:00Z");
});

test("an enum accepts its short name in any case, or its full name", async () => {
  for (const status of ["suspended", "SUSPENDED", "STATUS_SUSPENDED"]) {
    assert.deepEqual((await sent(["tenant", "update", "t1", "--status", status])).body, { status: "STATUS_SUSPENDED" });
  }
  assert.match(
    await refused(["tenant", "update", "t1", "--status", "asleep"]),
    /--status: must be one of active, suspended/,
  );
});

test("an optional flag can also be set to false", async () => {
  assert.equal((await sent(["capability", "list"])).target, "/api/v2/capabilities");
  const { target } = await sent(["capability", "list", "--no-include-degraded", "--include-disabled"]);
  assert.deepEqual(
    [...new URL(target, stub.address).searchParams],
    [
      ["include_disabled", "true"],
      ["include_degraded", "false"],
    ],
  );
});

test("a value of any type is JSON, and a plain word needs no quotes", async () => {
  for (const [text, value] of [
    ["true", true],
    ["1.5", 1.5],
    ["hello", "hello"],
    ['"7"', "7"],
    ['["a"]', ["a"]],
    ["null", null],
  ] as const) {
    assert.deepEqual((await sent(["config-value", "set", "k", "--value", text])).body, { value });
  }
  assert.match(await refused(["config-value", "set", "k", "--value", "{a"]), /--value: is not valid JSON/);
});

test("types are checked before anything is sent", async () => {
  assert.match(await refused(["tenant", "list", "--limit", "ten"]), /--limit: must be an integer/);
  assert.match(await refused(["event", "list", "--since", "yesterday"]), /--since: /);
  assert.match(
    await refused(["tenant", "create", "--quotas", '{"route":{"limit":5}}']),
    /--quotas\["route"\]\.limit: /,
  );
  assert.match(await refused(["tenant", "create", "--data", '{"nmae":"x"}']), /nmae: /);
  assert.match(await refused(["tenant", "create", "--data", "[]"]), /--data: must be a JSON object/);
});

test("the whole request can be given as one document, and options override it", async () => {
  const file = join(folder, "tenant.json");
  writeFileSync(file, '{"name":"From file","issueAdminKey":true}\n');
  const fromFile = await sent(["tenant", "create", "--data", `@${file}`, "--name", "Acme"]);
  assert.deepEqual(fromFile.body, { name: "Acme", issue_admin_key: true });
  const fromInput = await sent(["tenant", "create", "--data", "-"], { input: '{"name":"In"}' });
  assert.deepEqual(fromInput.body, { name: "In" });
  assert.match(await refused(["tenant", "create", "--data", "@/nowhere"]), /--data: \/nowhere cannot be read/);
});

test("a secret is read from a file or standard input, without its last line break", async () => {
  const { body } = await sent(["secret", "create", "--name", "s", "--value", "-"], { input: "hush\n" });
  assert.deepEqual(body, { name: "s", value: "hush" });
});

test("text that is not a secret may start like a source prefix", async () => {
  assert.deepEqual((await sent(["tenant", "create", "--name", "@home"])).body, { name: "@home" });
});

test("a mutating call carries a new idempotency key, or the given one", async () => {
  const first = (await sent(["tenant", "create", "--name", "A"])).headers["idempotency-key"];
  const second = (await sent(["tenant", "create", "--name", "A"])).headers["idempotency-key"];
  assert.match(String(first), /^[0-9A-Z]{26}$/);
  assert.notEqual(first, second);
  const chosen = await sent(["tenant", "create", "--name", "A", "--idempotency-key", "mine"]);
  assert.equal(chosen.headers["idempotency-key"], "mine");
  assert.equal((await sent(["tenant", "list"])).headers["idempotency-key"], undefined);
});

test("a condition is sent as an ETag", async () => {
  const { headers } = await sent(["environment", "update", "e1", "--name", "x", "--if-match", "3"]);
  assert.equal(headers["if-match"], '"3"');
  assert.equal((await sent(["environment", "update", "e1", "--if-match", 'W/"4"'])).headers["if-match"], 'W/"4"');
});

test("when a field has the name of a global option, the field wins; the option goes before the command", async () => {
  const { body, headers } = await sent(["--key", "sk_a_b_c", "environment", "create", "--key", "staging"]);
  assert.deepEqual(body, { key: "staging" });
  assert.equal(headers["x-api-key"], "sk_a_b_c");
  const event = await sent(["event", "publish", "--type", "a.b", "--data", '{"n":1}']);
  assert.deepEqual(event.body, { type: "a.b", data: { n: 1 } });
});

test("an API key and a token are sent in their own headers", async () => {
  const key = await sent(["tenant", "list", "--key", "sk_dev_1_secret"]);
  assert.equal(key.headers["x-api-key"], "sk_dev_1_secret");
  assert.equal(key.headers.authorization, undefined);
  const token = await sent(["tenant", "list", "--key", "-"], { input: "aaa.bbb.ccc\n" });
  assert.equal(token.headers.authorization, "Bearer aaa.bbb.ccc");
  assert.equal(token.headers["x-api-key"], undefined);
});

test("internal operations are called only on the internal plane", async () => {
  assert.match(await refused(["secret", "access", "s1"]), /internal plane/);
  const { verb, target } = await sent(["secret", "access", "s1", "--plane", "internal"]);
  assert.equal(`${verb} ${target}`, "POST /api/v2/secrets/s1:access");
});

test("the command lines of the reference send the requests that they stand for", async () => {
  const samples = readReferenceSamples().filter(
    ({ sampled }) => sampled.command !== undefined && sampled.isRaw === undefined && sampled.result !== "stream",
  );
  assert.ok(samples.length > 400);
  // Every twelfth, and those whose values are not all texts in a path.
  const isRich = ({ values }: (typeof samples)[number]) => Object.keys(values.query).length > 1;
  for (const { sampled, values, write } of samples.filter((each, at) => at % 12 === 0 || isRich(each))) {
    stub.answers({ json: { data: [], total: 0, metadata: {} } });
    // The exit code may depend on the response, such as the verdict of a report.
    const ran = await cli(["--address", stub.address, ...shellWords(write("CLI")!).slice(1)]);
    assert.equal(stub.arrived.length, 1, ran.err);
    const { verb, target, body } = stub.arrived[0]!;
    assert.equal(verb, sampled.verb);
    const [url, shown] = [target, targetOf(sampled, values)].map((each) => new URL(each, stub.address));
    assert.equal(url!.pathname, shown!.pathname);
    for (const [name, value] of shown!.searchParams) assert.ok(url!.searchParams.getAll(name).includes(value));
    if (values.body !== undefined) assert.deepEqual(body, values.body);
  }
});

/** The words of a command line, as a shell reads them. */
function shellWords(line: string): string[] {
  const words = line.replaceAll("\\\n", " ").match(/(?:'[^']*'|\\'|[^\s'\\])+/g) ?? [];
  return words.map((word) => word.replaceAll(/'([^']*)'|\\(')/g, (_, quoted, quote) => quoted ?? quote));
}
