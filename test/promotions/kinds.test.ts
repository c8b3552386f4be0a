import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { until } from "../harness/until.ts";
import { freshName, type ResponseData } from "../routing/tenant-fixture.ts";
import {
  base,
  createCandidate,
  fewKeys,
  type GovernedNode,
  keysOf,
  type Person,
  startGovernedNode,
  step,
} from "./promotion-fixture.ts";

let node: GovernedNode;
let approver: Person;
before(async () => {
  node = await startGovernedNode();
  approver = await node.person("ada", ["promotion_approver"]);
});

async function approve(id: string): Promise<void> {
  const approved = await approver("POST", `${base}/${id}/approve`, {});
  assert.equal(approved.status, 200, approved.text);
}

/**
 * Half of them are on the canary's side, by chance: fewer than three of 40 never are. Latencies are compared from 25 keys on
 * each side on, and would differ by chance too.
 */
const splitKeys = 40;

const documentOf = (key: string, text: string) => ({
  ...{ dsl: "1", key, name: key, timeout: "1h" },
  steps: [{ id: "done", transform: { text } }],
});

test("a staged workflow version starts for the canary's keys, then for all, and for none after a rollback", async () => {
  const { tenant } = node;
  const key = `w-${freshName()}`;
  const definitions = "/api/workflow-definitions";
  const { data: definition } = await tenant.ok("POST", definitions, { document: documentOf(key, "old") });
  await tenant.ok("POST", `${definitions}/${key}/publish`, {});
  const author = await node.person("bob", ["admin"]);
  const written = await author("PATCH", `${definitions}/${key}/draft`, { document: documentOf(key, "new") });
  assert.equal(written.status, 200, written.text);
  const staged = await tenant.ok("POST", `${definitions}/${key}/publish`, { stage: true });
  assert.deepEqual([staged.data.version.version, staged.data.version.status], [2, "STATUS_STAGED"]);
  assert.equal(staged.data.workflow_definition.active_version, 1);
  const start = async (run_key: string) =>
    (await tenant.ok("POST", "/api/workflow-runs", { definition: key, run_key, input: {} })).data;
  const versions = async (keys: readonly string[]) => {
    const runs = await Promise.all(keys.map(start));
    return runs.map(({ run }) => run.version);
  };
  assert.deepEqual(new Set(await versions(keysOf("past", 16))), new Set([1]));
  const id = await createCandidate(tenant, [{ kind: "workflow", ref: key, version: 2 }]);
  const checked = await step(tenant, id, "preflight", "preflight_passed");
  const codes = checked.preflight.impacts.map(({ code }: ResponseData) => code);
  assert.ok(codes.includes("steps_changed") && codes.includes("all_environments"), JSON.stringify(codes));
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  await step(tenant, id, "canary/start", "canary_running", { percent: 50, ...fewKeys });
  const now = keysOf("now", splitKeys);
  const during = await versions(now);
  assert.deepEqual([...new Set(during)].sort(), [1, 2]);
  // A run key can be used again when its run has ended; it stays on its side.
  assert.deepEqual(await versions(now), during);
  assert.deepEqual(await versions([""]), [1]);
  const stopped = await step(tenant, id, "canary/stop", "canary_stopped");
  assert.deepEqual(stopped.canary.scores[0].keys, during.filter((version) => version === 2).length);
  const setPolicy = (exclude_authors: boolean) =>
    tenant.ok("PATCH", "/api/v2/environments/production", { promotion_policy: { approvals: 1, exclude_authors } });
  await setPolicy(true);
  const refused = await author("POST", `${base}/${id}/approve`, {});
  assert.deepEqual([refused.status, refused.body.reason], [403, "approver_is_author"]);
  await approve(id);
  await step(tenant, id, "promote", "promoted");
  await setPolicy(false);
  assert.deepEqual(await versions(["after"]), [2]);
  await step(tenant, id, "rollback", "rolled_back");
  assert.deepEqual(await versions(["last"]), [1]);
  const { data } = await tenant.ok("GET", `${definitions}/${definition.id}/versions`);
  assert.deepEqual(
    data.map(({ version, status }: ResponseData) => [version, status]),
    [
      [2, "STATUS_STAGED"],
      [1, "STATUS_ACTIVE"],
    ],
  );
});

const manifestOf = (url: string, key = "flavours", version = "1.0.0") => ({
  ...{ manifest: 1, key, version, name: "Flavours", category: "generic", description: "Tests." },
  docs_url: "https://flavours.example/docs",
  hosts: ["127.0.0.1"],
  base_url: url,
  auth: {
    oauth2: {
      authorize: { url: `${url}/auth` },
      token: { url: `${url}/token`, client_auth: "basic" },
      config: { flavour: { title: "Flavour", required: true, example: "vanilla" } },
      apply: { headers: { authorization: "Bearer {credentials.access_token}", "x-flavour": "{config.flavour}" } },
    },
  },
  actions: {
    "account.get": {
      title: "Get the account",
      description: "Returns the account.",
      mutation: { effect: "read", idempotency: "natural" },
      input: { type: "object", properties: {}, additionalProperties: false },
      request: { method: "GET", path: version === "1.0.0" ? "/me" : "/v2/me" },
    },
  },
});

const connector = "/api/v2/connector";

/** A provider that answers everything, and what it was asked. */
async function startProvider() {
  const requests: { readonly path: string; readonly flavour: string }[] = [];
  const server = createServer(({ url = "", headers }, response) => {
    requests.push({ path: url, flavour: String(headers["x-flavour"]) });
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** An active provider config with connections for both sides of a canary. */
async function createAccounts(providerKey: string, fields: object = {}) {
  const { tenant } = node;
  const { data: config } = await tenant.ok("POST", `${connector}/provider-configs`, {
    ...{ provider_key: providerKey, name: "app", client_id: "app", settings: { flavour: "vanilla" }, ...fields },
    secrets: { client_secret: "only for tests" },
  });
  await tenant.ok("POST", `${connector}/provider-configs/${config.id}:activate`, {});
  const connections: string[] = [];
  for (const name of keysOf("account", splitKeys)) {
    const { data } = await tenant.ok("POST", `${connector}/connections`, {
      ...{ name, provider_key: providerKey, provider_config_id: config.id, auth_mode: "oauth2" },
      credentials: { access_token: "a token of the tests" },
    });
    connections.push(data.id);
  }
  return { config: `${connector}/provider-configs/${config.id}`, configId: config.id as string, connections };
}

async function stageVersion(config: string, fields: object): Promise<number> {
  return (await node.tenant.ok("POST", `${config}/versions`, fields)).data.version;
}

test("a version of a provider config applies to the canary's connections, then to all", async () => {
  const { tenant } = node;
  const { url, requests } = await startProvider();
  await tenant.ok("POST", `${connector}/manifests`, { document: manifestOf(url) });
  const { config, configId, connections } = await createAccounts("flavours");
  const version = await stageVersion(config, { setting_set: { settings: { flavour: "chocolate" } } });
  const execute = async () => {
    const seen: string[] = [];
    for (const connection_id of connections) {
      await tenant.ok("POST", `${connector}/actions/flavours.account.get:execute`, { connection_id, input: {} });
      seen.push(requests.at(-1)!.flavour);
    }
    return seen;
  };
  assert.deepEqual(new Set(await execute()), new Set(["vanilla"]));
  const id = await createCandidate(tenant, [{ kind: "connector", ref: configId, version }]);
  await step(tenant, id, "preflight", "preflight_passed");
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  await step(tenant, id, "canary/start", "canary_running", { percent: 50, ...fewKeys, keys_min: 1 });
  const sides = await until(execute, (seen) => seen.includes("chocolate"));
  assert.deepEqual(await execute(), sides);
  assert.ok(sides.includes("vanilla"));
  const { canary } = await step(tenant, id, "canary/stop", "canary_stopped");
  assert.equal(canary.verdict, "passed", JSON.stringify(canary));
  await approve(id);
  await step(tenant, id, "promote", "promoted");
  assert.deepEqual(new Set(await execute()), new Set(["chocolate"]));
  await step(tenant, id, "rollback", "rolled_back");
  assert.deepEqual(new Set(await execute()), new Set(["vanilla"]));
  const versions = await tenant.ok("GET", `${config}/versions`);
  assert.deepEqual(
    versions.data.map(({ version: each, origin, active }: ResponseData) => [each, origin, active]),
    [
      [2, "staged", false],
      [1, "change", true],
    ],
  );
});

test("a version of the actions applies to the canary's connections, then to all, and is kept while it is in use", async () => {
  const { tenant } = node;
  const { url, requests } = await startProvider();
  const manifests = `${connector}/manifests`;
  const { data: old } = await tenant.ok("POST", manifests, { document: manifestOf(url, "scoops") });
  const { config, configId, connections } = await createAccounts("scoops", { manifest_version: "1.0.0" });
  await tenant.ok("POST", manifests, { document: manifestOf(url, "scoops", "2.0.0") });
  await tenant.refused("INVALID_ARGUMENT", "POST", `${config}/versions`, { manifest_version: "3.0.0" });
  const version = await stageVersion(config, { manifest_version: "2.0.0" });
  const execute = async () => {
    const seen: string[] = [];
    for (const connection_id of connections) {
      await tenant.ok("POST", `${connector}/actions/scoops.account.get:execute`, { connection_id, input: {} });
      seen.push(requests.at(-1)!.path);
    }
    return seen;
  };
  assert.deepEqual(new Set(await execute()), new Set(["/me"]));
  await tenant.refused("IN_USE", "DELETE", `${manifests}/${old.id}`);
  const id = await createCandidate(tenant, [{ kind: "connector", ref: configId, version }]);
  const { preflight } = await step(tenant, id, "preflight", "preflight_passed");
  assert.deepEqual(
    preflight.impacts.map(({ code }: ResponseData) => code).filter((code: string) => code !== "no_known_approver"),
    ["actions_changed"],
  );
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  await step(tenant, id, "canary/start", "canary_running", { percent: 50, ...fewKeys, keys_min: 1 });
  const sides = await until(execute, (seen) => seen.includes("/v2/me"));
  assert.deepEqual(await execute(), sides);
  assert.ok(sides.includes("/me"));
  await step(tenant, id, "canary/stop", "canary_stopped");
  await approve(id);
  await step(tenant, id, "promote", "promoted");
  assert.equal((await tenant.ok("GET", config)).data.manifest_version, "2.0.0");
  assert.deepEqual(new Set(await execute()), new Set(["/v2/me"]));
  await step(tenant, id, "rollback", "rolled_back");
  assert.deepEqual(new Set(await execute()), new Set(["/me"]));
});
