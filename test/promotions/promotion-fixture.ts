import assert from "node:assert/strict";
import { audience, type Issuer, startIssuer } from "../access/issuer.ts";
import { afterFile } from "../harness/after-file.ts";
import { type RestResponse, restClient } from "../harness/rest.ts";
import { startService, type TestService, type TestSettings } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

export const base = "/api/promotions/candidates";

/** A node whose people have tokens. */
export interface GovernedNode {
  readonly service: TestService;
  readonly tenant: TenantFixture;
  readonly settings: TestSettings;
  /** Calls as a person with roles, and maybe more claims. */
  person(subject: string, roles: readonly string[], claims?: object): Promise<Person>;
}

export type Person = (method: string, path: string, body?: object) => Promise<RestResponse>;

/** Starts a node with an issuer of tokens, and a tenant. */
export async function startGovernedNode(databaseUrl?: string, more: TestSettings = {}): Promise<GovernedNode> {
  const issuer: Issuer = await startIssuer(["ada", "bob", "carl"]);
  afterFile(() => issuer.goDown());
  const settings = {
    "api.oidc_issuer": issuer.url,
    "api.oidc_audience": audience,
    "auth.bootstrap_api_key": "sk_test_promotions_0123456789abcdef",
    ...more,
  };
  const service = await startService(settings, databaseUrl);
  const tenant = await newTenant(service);
  return {
    service,
    tenant,
    settings,
    async person(subject, roles, claims) {
      const token = await issuer.token(subject, { tenant_id: tenant.id, roles, ...claims });
      const headers = { authorization: `Bearer ${token}` };
      return (method, path, body) => restClient(service.baseUrl).call(method, path, body, headers);
    },
  };
}

/** A pool whose live rule routes to one recipient, with a staged version that routes to another one. */
export interface StagedPool {
  readonly id: string;
  readonly before: string;
  readonly after: string;
  readonly ruleId: string;
  readonly version: number;
}

/** A recipient whose items nobody leases. */
export const decisionOnly = { delivery: { mode: "MODE_DECISION_ONLY" } };

export async function stagedPool(tenant: TenantFixture): Promise<StagedPool> {
  const id = await tenant.pool();
  const before = await tenant.recipient(id, decisionOnly);
  const after = await tenant.recipient(id, decisionOnly);
  const ruleId = await tenant.rule(id, { type: "route", recipient_id: before });
  return { id, before, after, ruleId, version: await stageRoute(tenant, id, ruleId, after) };
}

/** Stages a version whose only rule routes to a recipient. */
async function stageRoute(tenant: TenantFixture, poolId: string, ruleId: string, recipientId: string): Promise<number> {
  const rule = { id: ruleId, name: "changed", action: { type: "route", recipient_id: recipientId } };
  const { data } = await tenant.ok("POST", `/api/pools/${poolId}/versions`, { rule_set: { rules: [rule] } });
  return data.version;
}

/** Routes an item for each key and reports its outcome; returns the decisions. */
export async function work(
  tenant: TenantFixture,
  poolId: string,
  keys: readonly string[],
  statusOf: (recipientId: string) => string = () => "success",
): Promise<ResponseData[]> {
  // A busy node puts decisions off. What counts is the first one of a key that has an outcome.
  const decide = (key: string) =>
    until(
      () => tenant.route(poolId, { key }),
      ({ recipient_id }) => recipient_id !== "",
    );
  const decisions: ResponseData[] = [];
  for (let from = 0; from < keys.length; from += 10) {
    decisions.push(...(await Promise.all(keys.slice(from, from + 10).map(decide))));
  }
  // Outcomes come last: a recipient whose items fail is ejected, and then gets no items for a while.
  await Promise.all(
    decisions.map(({ decision_id, recipient_id }) =>
      tenant.ok("POST", "/api/outcomes", { decision_id, status: statusOf(recipient_id), latency_ms: 10 }),
    ),
  );
  return decisions;
}

export function keysOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
}

/** Keys that show a canary whose items all fail: that takes 15 of its keys, and it has half of these by chance. */
export const harmedKeys = keysOf("now", 120);

/** The recipients that keys get, without storing anything. A busy node decides a part of a batch; the rest is sent again. */
export async function recipientsOf(tenant: TenantFixture, poolId: string, keys: readonly string[]): Promise<string[]> {
  const recipients = keys.map(() => "");
  await until(async () => {
    const open = [...keys.keys()].filter((at) => recipients[at] === "");
    const items = open.map((at) => ({ pool_id: poolId, type: "task", key: keys[at]! }));
    const { data } = await tenant.ok("POST", "/api/route:batch", { items, dry_run: true });
    for (const [nth, at] of open.entries()) {
      const { decision, ...result } = data.results[nth];
      recipients[at] = (decision ?? result).recipient_id;
    }
    return !recipients.includes("");
  });
  return recipients;
}

/** A guardrail that 16 successes fulfil. */
export const easyGuardrails = [{ metric: "success", limit: 0.5 }];

export async function createCandidate(tenant: TenantFixture, artifacts: readonly object[]): Promise<string> {
  const { data } = await tenant.ok("POST", base, { artifacts, guardrails: easyGuardrails });
  assert.equal(data.state, "created");
  return data.id;
}

export function routingArtifact({ id, version }: StagedPool) {
  return { kind: "routing", ref: id, version };
}

/** The terms of a canary that a handful of keys can pass. */
export const fewKeys = { keys_min: 3, margin: 1 };

/** Calls that lead a candidate from its creation to a stopped canary that passed. */
export async function runToStoppedCanary(
  tenant: TenantFixture,
  id: string,
  pools: readonly Pick<StagedPool, "id">[],
): Promise<void> {
  for (const pool of pools) await work(tenant, pool.id, keysOf("past", 16));
  await step(tenant, id, "preflight", "preflight_passed");
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  await step(tenant, id, "canary/start", "canary_running", { percent: 50, ...fewKeys });
  // Half of the keys are the canary's, by chance: fewer than three of 60 never happens.
  for (const pool of pools) await work(tenant, pool.id, keysOf("now", 60));
  const { canary } = await step(tenant, id, "canary/stop", "canary_stopped");
  assert.equal(canary.verdict, "passed", JSON.stringify(canary));
}

/** Performs a step that must lead to a state. */
export async function step(
  tenant: TenantFixture,
  id: string,
  path: string,
  state: string,
  body: object = {},
): Promise<ResponseData> {
  const { data } = await tenant.ok("POST", `${base}/${id}/${path}`, body);
  assert.equal(data.state, state, JSON.stringify(data));
  return data;
}

/** The content of the active version of a pool. */
export async function activeContent(tenant: TenantFixture, poolId: string): Promise<string> {
  const { data } = await tenant.ok("GET", `/api/pools/${poolId}/versions`);
  const active = data.find((version: ResponseData) => version.active);
  return (await tenant.ok("GET", `/api/pools/${poolId}/versions/${active.version}`)).data.content;
}
