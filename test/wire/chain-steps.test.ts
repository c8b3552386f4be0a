import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { GetTenantRequestSchema, GetTenantResponseSchema } from "../../gen/service/api/tenant_pb.ts";
import { DeprecationSchema } from "../../gen/service/options/governance_pb.ts";
import type { Call, Next, Plane } from "../../src/chain/call.ts";
import { composeChain } from "../../src/chain/compose.ts";
import { type ChainParts, createChain } from "../../src/chain/order.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { Operation } from "../../src/definitions/index.ts";
import { Failure, fail } from "../../src/errors/index.ts";
import { operations } from "../harness/operations.ts";
import { overridesOf } from "../harness/service.ts";

/** The order of the contract, outermost first. */
const contract = [
  "recovery",
  "telemetry",
  "request id",
  "API-version negotiation",
  "authentication",
  "authorization",
  "tenant extraction",
  "deprecated-method observation",
  "request validation",
  "concurrency",
  "rate limit",
  "error masking",
  "status mapping",
  "slow-request log",
];

/** A chain whose parts record when a step uses them, and a call to send through it. */
function markedChain(plane: Plane, end: Next, broken?: "telemetry" | "rate limit") {
  const marks: string[] = [];
  const mark = (name: string) => {
    if (marks.at(-1) !== name) marks.push(name);
  };
  const parts = {
    config: loadConfig({ overrides: overridesOf({ "api.slow_request_ms": "0" }) }).config,
    log: { error: () => mark("error masking"), warn: () => mark("slow-request log") },
    metrics: { calls: { begin: () => begin(), end: () => mark("telemetry") } },
    tracing: { startSpan: () => ({ traceId: "", recordError: () => {}, end: () => {} }) },
    audit: undefined,
    authenticators: { external: [authenticate], internal: [authenticate] },
    readTenantState: () => {
      mark("tenant extraction");
      return { status: "active", platform: true, quotas: {}, settings };
    },
    limiter: {
      shareOf: (total: number) => total,
      take: () => {
        mark("rate limit");
        if (broken === "rate limit") throw new Error("broken limiter");
        return { allowed: true, limit: 1, remaining: 1, retryAfterS: 0, resetS: 0 };
      },
    },
    takeQuota: async () => {},
    observeDeprecated: () => mark("deprecated-method observation"),
  } as unknown as ChainParts;
  // Read by the step that looks up the tenant's own limit.
  const settings = {
    get "api.max_concurrent_requests_per_tenant"() {
      mark("concurrency");
      return 1;
    },
    "ratelimit.tenant_rps": 1,
  };
  function begin() {
    mark("telemetry");
    if (broken === "telemetry") throw new Error("broken telemetry");
  }
  function authenticate() {
    mark("authentication");
    return { tenantId: "t", subject: "s", kind: "service", roles: ["admin"], scopes: new Set(["*:*"]) } as never;
  }
  const call = {
    operation: markedOperation(mark),
    plane,
    protocol: "rest",
    header: (name: string) => {
      if (name === "x-request-id") mark("request id");
      if (name === "api-version") mark("API-version negotiation");
      return undefined;
    },
    decode: () => {
      mark("(the body is read)");
      return create(GetTenantRequestSchema, { tenantId: "t" });
    },
    get signal() {
      mark("status mapping");
      return new AbortController().signal;
    },
    responseHeaders: {},
    startedAtMs: performance.now() - 100,
    waitedMs: 0,
  } as unknown as Call;
  const steps = createChain(plane, parts);
  return { steps, marks, invoke: () => composeChain(steps, end)(call) };
}

/** An operation that records when its authorization and its message types are read. */
function markedOperation(mark: (name: string) => void): Operation {
  const operation = operations.find(({ id }) => id === "service.api.TenantService/GetTenant")!;
  const governance = Object.create(operation.governance, {
    authorizationRequired: {
      get() {
        mark("authorization");
        return true;
      },
    },
    deprecation: { value: create(DeprecationSchema, { successor: "/api/new" }) },
  });
  const method = Object.create(operation.method, {
    input: {
      get() {
        mark("request validation");
        return GetTenantRequestSchema;
      },
    },
  });
  return { ...operation, governance, method };
}

test("a call passes the steps in the order of the contract, and its body is read after the eighth", async () => {
  const entered = async (plane: Plane) => {
    const chain = markedChain(plane, async () => {
      chain.marks.push("(the operation)");
      return create(GetTenantResponseSchema);
    });
    await chain.invoke();
    return chain.marks.slice(0, chain.marks.indexOf("(the operation)"));
  };
  const needsNoBody = contract.slice(1, 8);
  assert.deepEqual(await entered("external"), [...needsNoBody, "(the body is read)", ...contract.slice(8, 11)]);
  // Only the internal plane has no rate limit.
  assert.deepEqual(await entered("internal"), [...needsNoBody, "(the body is read)", ...contract.slice(8, 10)]);
});

test("an error passes the slow-request log, status mapping, error masking, telemetry and recovery", async () => {
  const chain = markedChain("external", async () => {
    chain.marks.length = 0;
    throw new Error("an engine's own text");
  });
  const failure = await chain.invoke().catch((error: unknown) => error);
  assert.deepEqual(chain.marks, [...contract.slice(11).toReversed(), "telemetry"]);
  assert.ok(failure instanceof Failure);
  assert.match(failure.message, /^Internal error \(ref: [0-9a-f]{8}\)$/);
});

test("a public failure passes unmasked", async () => {
  const chain = markedChain("external", () => Promise.reject(fail("NOT_FOUND", { public: "No such tenant." })));
  const failure = await chain.invoke().catch((error: unknown) => error);
  assert.equal((failure as Failure).message, "No such tenant.");
  assert.ok(!chain.marks.includes("error masking"));
});

test("an invalid request is answered, and the error is logged, if its corrections cannot be found", async () => {
  const broken = () => {
    throw new Error("broken repair");
  };
  const violations = [{ field: "tenant_id", rule: "cel.syntax", message: "does not compile" }];
  const refusal = fail("INVALID_ARGUMENT", { violations, repairs: new Map([["tenant_id", broken]]) });
  const chain = markedChain("external", () => Promise.reject(refusal));
  const failure = await chain.invoke().catch((error: unknown) => error);
  assert.ok(failure instanceof Failure && failure.code === "INVALID_ARGUMENT");
  assert.deepEqual([failure.violations, failure.corrections], [violations, []]);
  assert.equal(chain.marks.at(-1), "error masking");
});

test("recovery is outermost: a failure in telemetry itself is masked too", async () => {
  const chain = markedChain("external", () => assert.fail("never reached"), "telemetry");
  const failure = await chain.invoke().catch((error: unknown) => error);
  assert.ok(failure instanceof Failure && failure.code === "INTERNAL");
  assert.match(failure.message, /^Internal error \(ref: [0-9a-f]{8}\)$/);
});

test("error masking is inside the rate limit: a failure there is masked by recovery, after telemetry saw it", async () => {
  const chain = markedChain("external", () => assert.fail("never reached"), "rate limit");
  const failure = await chain.invoke().catch((error: unknown) => error);
  assert.deepEqual(chain.marks.slice(chain.marks.indexOf("rate limit")), ["rate limit", "telemetry", "error masking"]);
  assert.match((failure as Failure).message, /^Internal error \(ref: [0-9a-f]{8}\)$/);
});

test("there are no steps besides those of the contract and the reading of the body", () => {
  const end = () => Promise.reject();
  assert.equal(markedChain("external", end).steps.length, contract.length + 1);
  assert.equal(markedChain("internal", end).steps.length, contract.length);
});
