import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { createAreas } from "../../src/app/areas.ts";
import { createCaseRunner } from "../../src/modules/governance/conformance/case-runner.ts";
import type { CaseResult } from "../../src/modules/governance/conformance/domain/case-result.ts";
import type { SandboxKeys } from "../../src/modules/governance/conformance/sandbox/index.ts";
import { conformanceSuites } from "../../src/modules/governance/conformance/suites/index.ts";
import { sampled } from "../harness/run-size.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";
import { type Mutation, mutations } from "./mutations.ts";
import { createBreakableAreas } from "./test-build.ts";

const cases = new Map(conformanceSuites.flatMap((suite) => suite.cases.map((each) => [each.id, each])));
/** The mutations that are in effect, each for the calls of one tenant. */
const active = new Map<string, Mutation>();
/** Mutations are tried this many at a time. */
const concurrency = 4;

let service: TestService;
let parts: Parameters<typeof createAreas>[0];
before(async () => {
  const createMutatedAreas = createBreakableAreas(
    (operation, tenantId) => active.get(tenantId)?.operations?.[operation],
  );
  service = await startService(
    { "mcp.enabled": "true", "identity.scim.enabled": "true" },
    undefined,
    "all",
    (given) => {
      parts = given;
      return createMutatedAreas(given);
    },
  );
});

/** The keys of a tenant, as a run has them. */
async function keysOf(tenant: TenantFixture): Promise<SandboxKeys> {
  const keyWith = async (fields: object) =>
    (await tenant.ok("POST", "/api/v2/api-keys", { name: "conformance", ...fields })).data.secret;
  return {
    admin: tenant.key,
    neighbour: (await newTenant(service)).key,
    viewer: await keyWith({ roles: ["viewer"] }),
    stranger: await keyWith({ scopes: ["discovery:read"] }),
  };
}

/** Runs a case alone, in a tenant for which the build is mutated. */
async function runMutated(caseId: string): Promise<CaseResult> {
  const tenant = await newTenant(service);
  const keys = await keysOf(tenant);
  const admin = (method: string, path: string, body?: object) => tenant.rest.call(method, path, body);
  const mutation = mutations[caseId]!({ admin, keys });
  const send: typeof parts.ownRequests.send = (request) =>
    mutation.edge?.(request, parts.ownRequests.send) ?? parts.ownRequests.send(request);
  const runCases = createCaseRunner({ ...parts, send, findCapabilityOff: async () => undefined });
  const results: CaseResult[] = [];
  active.set(tenant.id, mutation);
  const run = { mode: "sandbox" as const, keys, signal: AbortSignal.timeout(60_000) };
  await runCases([cases.get(caseId)!], run, async (result) => void results.push(result));
  return results[0]!;
}

test("every conformance case has a mutated build", () => {
  assert.deepEqual(Object.keys(mutations).sort(), [...cases.keys()].sort());
});

test("conformance cases catch mutated builds", { concurrency }, async (t) => {
  const wanted = sampled(Object.keys(mutations).sort(), 5, 0);
  await Promise.all(
    wanted.map((caseId) =>
      t.test(`${caseId} catches its mutated build`, async () => {
        const { status, reasonCode, checks } = await runMutated(caseId);
        assert.deepEqual([status, reasonCode], ["failed", "check_failed"], JSON.stringify(checks));
      }),
    ),
  );
});
