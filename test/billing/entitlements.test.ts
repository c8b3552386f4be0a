import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { RouteRequestSchema, RoutingService } from "../../gen/service/api/routing_pb.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { afterFile } from "../harness/after-file.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

const item = "routing.route";
const operation = "service.api.RoutingService/Route";
const modes = ["off", "report", "strict"] as const;

/** A tenant with a snapshot, or without one. */
interface Customer {
  readonly id: string;
  readonly key: string;
}

/** The snapshot of each kind of tenant; undefined for none. */
const snapshots: Readonly<Record<string, object | undefined>> = {
  denied: { deny: [item] },
  "denied, stale": { deny: [item], fresh_until: "2020-01-01T00:00:00Z" },
  allowed: { allow: [item] },
  "allowed, stale": { allow: [item], fresh_until: "2020-01-01T00:00:00Z" },
  missing: { allow: ["another"] },
  "missing, stale": { allow: ["another"], fresh_until: "2020-01-01T00:00:00Z" },
  never: undefined,
};

/** The verdict in the modes off, report and strict; + marks evidence. */
const expected: Readonly<Record<string, readonly [off: string, report: string, strict: string]>> = {
  denied: ["deny+", "deny+", "deny+"],
  "denied, stale": ["deny+", "deny+", "deny+"],
  allowed: ["pass", "pass", "pass"],
  "allowed, stale": ["pass", "grace+", "deny+"],
  missing: ["pass", "grace+", "deny+"],
  "missing, stale": ["pass", "grace+", "deny+"],
  never: ["pass", "grace+", "deny+"],
};
const neverWithGrace = ["pass", "grace", "grace+"] as const;

let first: TestService;
let sql: TestSql;
const nodes = new Map<string, TestService>();
before(async () => {
  for (const mode of modes) {
    for (const grace of ["false", "true"]) {
      const settings = { "entitlement.enforcement": mode, "entitlement.grace_unprovisioned": grace };
      const node = await startService(
        { ...settings, ...(first && { "auth.bootstrap_api_key": first.adminKey }) },
        first?.databaseUrl,
      );
      first ??= node;
      nodes.set(`${mode} ${grace}`, node);
    }
  }
  sql = connect(first.databaseUrl, 1);
  afterFile(() => sql.end({ timeout: 1 }));
});

const operator = () => restClient(first.baseUrl, first.adminKey);

async function newCustomer(snapshot?: object): Promise<Customer> {
  const { body } = await operator().call("POST", "/api/tenants", { name: "customer", issue_admin_key: true });
  const customer = { id: body.data.id, key: body.data.admin_key };
  if (snapshot !== undefined) await issue(customer, snapshot);
  return customer;
}

async function issue({ id }: Customer, snapshot: object) {
  const source = { kind: "KIND_OPERATOR", ref: "test" };
  const request = { tenant_id: id, source, ...snapshot };
  const issued = await operator().call("POST", "/api/v2/billing/entitlement-snapshots", request);
  assert.equal(issued.status, 200, JSON.stringify(issued.body));
}

const noPool = () => ulid(Date.now());

/** Calls an operation that needs the entitlement over each protocol: a call that passes reports that its pool is missing. */
const callers: Readonly<Record<string, (node: TestService, key: string) => Promise<"passed" | "denied">>> = {
  REST: async ({ baseUrl }, key) => {
    const { status, body } = await restClient(baseUrl, key).call("POST", "/api/route", {
      pool_id: noPool(),
      type: "t",
    });
    if (status === 404) return "passed";
    assert.deepEqual([status, body.errorCode, body.retryable], [403, "ENTITLEMENT_DENIED", false]);
    assert.equal(body.entitlement, item);
    return "denied";
  },
  Connect: ({ baseUrl }, key) => callRpc(createConnectTransport({ baseUrl, httpVersion: "1.1" }), key),
  gRPC: ({ baseUrl }, key) => callRpc(createGrpcTransport({ baseUrl }), key),
  "gRPC-Web": ({ baseUrl }, key) => callRpc(createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }), key),
};

async function callRpc(transport: Parameters<typeof createClient>[1], key: string): Promise<"passed" | "denied"> {
  const request = create(RouteRequestSchema, { poolId: noPool(), type: "t" });
  const headers = { "x-api-key": key };
  const error = await createClient(RoutingService, transport)
    .route(request, { headers })
    .then(
      () => assert.fail("the pool exists"),
      (reason: unknown) => ConnectError.from(reason),
    );
  if (error.code === Code.NotFound) return "passed";
  assert.equal(error.code, Code.PermissionDenied, error.message);
  assert.match(error.message, /not entitled to routing\.route/);
  return "denied";
}

/** The evidence of a tenant, without times. */
async function evidenceOf(node: TestService, { id, key }: Customer) {
  const { body } = await restClient(node.baseUrl, key).call("GET", "/api/v2/billing/entitlement-evidence");
  for (const row of body.data) assert.equal(row.tenant_id, id);
  return body.data as {
    mode: string;
    verdict: string;
    reason: string;
    item: string;
    operation: string;
    count: string;
  }[];
}

for (const [at, mode] of modes.entries()) {
  for (const grace of ["false", "true"]) {
    for (const [name, snapshot] of Object.entries(snapshots)) {
      const cell = (name === "never" && grace === "true" ? neverWithGrace : expected[name]!)[at]!;
      test(`${mode}, grace_unprovisioned=${grace}, ${name}: ${cell}, on every protocol`, async () => {
        const node = nodes.get(`${mode} ${grace}`)!;
        const customer = await newCustomer(snapshot);
        for (const [protocol, call] of Object.entries(callers)) {
          const outcome = await call(node, customer.key);
          assert.equal(outcome, cell.startsWith("deny") ? "denied" : "passed", protocol);
        }
        const evidence = await evidenceOf(node, customer);
        if (!cell.endsWith("+")) return assert.deepEqual(evidence, []);
        let count = 0;
        for (const row of evidence) {
          assert.deepEqual([row.item, row.operation], [item, operation]);
          assert.equal(row.mode, `ENTITLEMENT_MODE_${mode.toUpperCase()}`);
          assert.equal(row.verdict, `ENTITLEMENT_VERDICT_${cell.slice(0, -1).toUpperCase()}`);
          count += Number(row.count);
        }
        assert.equal(count, Object.keys(callers).length);
      });
    }
  }
}

test("a check evaluates like a call, and leaves no evidence", async () => {
  const node = nodes.get("strict false")!;
  const customer = await newCustomer({ allow: ["a"], deny: ["b"] });
  const { body } = await restClient(node.baseUrl, customer.key).call("POST", "/api/v2/billing/entitlements:check", {
    items: ["a", "b", "c"],
  });
  const verdicts = body.data.checks.map((check: { verdict: string; reason: string }) => [check.verdict, check.reason]);
  assert.deepEqual(verdicts, [
    ["ENTITLEMENT_VERDICT_PASS", "allowed"],
    ["ENTITLEMENT_VERDICT_DENY", "explicit_deny"],
    ["ENTITLEMENT_VERDICT_DENY", "missing"],
  ]);
  assert.deepEqual(await evidenceOf(node, customer), []);
});

test("a snapshot that allows and denies the same item is rejected, by the service and by the database", async () => {
  const customer = await newCustomer({ allow: ["a"] });
  const { status, body } = await operator().call("POST", "/api/v2/billing/entitlement-snapshots", {
    ...{ tenant_id: customer.id, source: { kind: "KIND_OPERATOR" }, allow: ["a", "b"], deny: ["b"] },
  });
  assert.deepEqual([status, body.violations[0].field], [400, "deny"]);
  await assert.rejects(
    async () => await sql`update entitlement_snapshots set deny = '{a}' where tenant_id = ${customer.id}`,
    /entitlement_snapshots_without_conflict/,
  );
});

test("a new snapshot counts on every node within a second", async () => {
  const customer = await newCustomer({ allow: [item] });
  const others = ["strict false", "strict true", "report true"].map((name) => nodes.get(name)!);
  for (const node of others) assert.equal(await callers.REST!(node, customer.key), "passed");
  await issue(customer, { deny: [item] });
  for (const node of others) {
    await until(async () => (await callers.REST!(node, customer.key)) !== "passed", Boolean, 10_000);
  }
});

test("a tenant reads its own entitlements; only an operator issues them, and other tenants do not exist", async () => {
  const [one, other] = [await newCustomer({ allow: [item] }), await newCustomer({ allow: [item] })];
  const rest = restClient(first.baseUrl, one.key);
  const own = await rest.call("GET", "/api/v2/billing/entitlements");
  assert.deepEqual(own.body.data.snapshot.allow, [item]);
  assert.equal(own.body.data.stale, false);
  const source = { kind: "KIND_OPERATOR" };
  const write = (tenantId: string) =>
    rest.call("POST", "/api/v2/billing/entitlement-snapshots", { tenant_id: tenantId, source, allow: ["more"] });
  assert.equal((await write(one.id)).status, 403);
  assert.equal((await write(other.id)).status, 404);
  assert.equal((await rest.call("GET", `/api/v2/billing/entitlements?tenant_id=${other.id}`)).status, 404);
});

test("entitlements are checked last: a caller without access learns nothing about them", async () => {
  const customer = await newCustomer({ deny: [item] });
  const key = await restClient(first.baseUrl, customer.key).call("POST", "/api/v2/api-keys", { name: "nobody" });
  const { status, body } = await restClient(first.baseUrl, key.body.data.secret).call("POST", "/api/route", {});
  assert.deepEqual([status, body.errorCode], [403, "PERMISSION_DENIED"]);
});

test("a step of a workflow is denied like a call", async () => {
  const customer = await newCustomer({ allow: ["workflow.run"], deny: [item] });
  const rest = restClient(first.baseUrl, customer.key);
  await rest.call("POST", "/api/pools", { name: "people" });
  const steps = [{ id: "assign", route: { pool: "people", type: "t" } }];
  await rest.call("POST", "/api/workflow-definitions", {
    document: { dsl: "1", key: "assigning", timeout: "1h", steps },
  });
  await rest.call("POST", "/api/workflow-definitions/assigning/publish", {});
  const started = await rest.call("POST", "/api/workflow-runs", { definition: "assigning", wait_s: 20 });
  const { status, error } = started.body.data.run;
  assert.deepEqual([status, error.details.error_code], ["failed", "ENTITLEMENT_DENIED"], JSON.stringify(started.body));
});

test("a call whose body arrives slowly is checked twice and leaves evidence once", async () => {
  const node = nodes.get("report false")!;
  const customer = await newCustomer({ allow: ["another"] });
  const body = JSON.stringify({ pool_id: noPool(), type: "t" });
  const slowly = async function* () {
    yield Buffer.from(body.slice(0, 5));
    await delay(1100);
    yield Buffer.from(body.slice(5));
  };
  const { status } = await fetch(`${node.baseUrl}/api/route`, {
    method: "POST",
    headers: { "x-api-key": customer.key, "content-type": "application/json" },
    body: ReadableStream.from(slowly()),
    duplex: "half",
  } as RequestInit);
  assert.equal(status, 404);
  const [evidence, ...others] = await evidenceOf(node, customer);
  assert.deepEqual([Number(evidence!.count), others.length], [1, 0]);
});
