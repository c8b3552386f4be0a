import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

const text = { type: "string" };
const manifest = {
  ...{ manifest: 1, key: "repos", version: "1.0.0", name: "Repos", category: "generic", description: "Repositories." },
  ...{ docs_url: "https://repos.example/docs", hosts: ["api.repos.example"], base_url: "https://api.repos.example" },
  auth: { none: {} },
  actions: {
    "repo.list": {
      ...{ title: "List repositories", mutation: { effect: "read" } },
      input: { type: "object", required: ["owner"], properties: { owner: text } },
      request: { method: "GET", path: "/{input.owner}/repos" },
    },
    "issue.create": {
      ...{ title: "Create an issue", mutation: { effect: "create", idempotency: "none" } },
      input: { type: "object", required: ["owner", "repo"], properties: { owner: text, repo: text } },
      choices: [{ for: "repo", action: "repo.list", items: "/items", value: "/id", label: "/name", inputs: ["owner"] }],
      request: { method: "POST", path: "/{input.owner}/{input.repo}/issues" },
    },
  },
};

let service: TestService;
let tenant: TenantFixture;
before(async () => {
  service = await startService();
  tenant = await newTenant(service);
});

test("an action says which action lists the choices of a property, and what that one needs", async () => {
  await tenant.ok("POST", "/api/v2/connector/manifests", { document: manifest });
  const { data } = await tenant.ok("GET", "/api/v2/connector/actions/repos.issue.create");
  const from = Object.fromEntries(data.input_properties.map((each: ResponseData) => [each.name, each.choices_from]));
  assert.deepEqual(from.repo, {
    ...{ action_key: "repos.repo.list", items: "/items", value: "/id", label: "/name", inputs: ["owner"] },
  });
  assert.equal(from.owner, undefined);
});

test("choices cannot come from an action that changes something, nor from one that does not exist", async () => {
  for (const [action, rule] of [
    ["issue.create", "effect"],
    ["repo.lists", "reference"],
  ]) {
    const create = { ...manifest.actions["issue.create"], choices: [{ for: "repo", action, value: "/id" }] };
    const document = { ...manifest, version: "1.0.1", actions: { ...manifest.actions, "issue.create": create } };
    const { data } = await tenant.ok("POST", "/api/v2/connector/manifests:validate", { document });
    assert.equal(data.valid, false);
    assert.deepEqual(
      data.violations.map((each: ResponseData) => [each.path, each.rule]),
      [['actions["issue.create"].choices[0].action', rule]],
    );
  }
});
