import assert from "node:assert/strict";
import { test } from "node:test";
import {
  GetActionRequestSchema,
  GetProviderRequestSchema,
  GetTriggerRequestSchema,
  ListActionsRequestSchema,
  ListProvidersRequestSchema,
  ListTriggersRequestSchema,
} from "../../../../../gen/service/api/connector_catalog_pb.ts";
import { announcedChanges } from "../../../../../test/harness/changes.ts";
import { failsWith, freshTenant, perform, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import { createEventLoopScheduler } from "../../../../platform/event-loop/index.ts";
import { createLog } from "../../../../platform/log/log.ts";
import { createManifests } from "../index.ts";
import { fixedProviders } from "../testing/fixed-providers.ts";
import { compile, manifestWith, smallManifest } from "../testing/manifest-documents.ts";
import { createBuiltinProviders } from "./builtin-catalogue.ts";
import { loadBuiltinProviders } from "./builtin-providers.ts";

const db = await testDatabase();
const oauth2 = {
  authorize: { url: "https://api.acme.test/authorize" },
  token: { url: "https://api.acme.test/token" },
  scopes: { default: ["read"], available: { read: "Read items" } },
};
const getItem = smallManifest.actions["item.get"];
const createItem = {
  ...getItem,
  title: "Create an item",
  description: "Adds something to the store.",
  mutation: { effect: "create", idempotency: "none" },
  scopes: ["read"],
  permissions: ["items:write"],
  related: ["item.get"],
  timeout_ms: 5000,
} satisfies JsonObject;
const webhook = { title: "Item changed", kind: "webhook", verify: { kind: "token", header: "x-token" } };
const poll = {
  title: "Item polled",
  kind: "poll",
  poll: { request: { method: "GET", path: "/items" }, items: "", key: ["/id"], every_s: 120 },
};

const provider = (key: string, more: JsonObject) => compile(manifestWith({ key, name: key.toUpperCase(), ...more }));
const builtin = fixedProviders([
  provider("alpha", { category: "crm", actions: { "item.get": getItem }, triggers: { "item.polled": poll } }),
  provider("beta", {
    category: "payments",
    auth: { oauth2 },
    actions: {
      "item.create": createItem,
      "item.get": { ...getItem, runtime: { status: "deprecated", reason: "Replaced.", by: "item.create" } },
      "item.upload": {
        title: "Upload",
        mutation: { effect: "create" },
        runtime: { status: "catalog_only", reason: "Files are not supported." },
      },
    },
    triggers: { "item.changed": webhook },
  }),
  provider("gamma", {
    auth: { oauth2 },
    actions: {
      only: { title: "Only", mutation: { effect: "delete" }, runtime: { status: "catalog_only", reason: "No." } },
    },
  }),
]);
const configs = new Map<string, "active" | "disabled">();
const { handlers } = createManifests({
  cacheLoadDb: db,
  log: createLog("silent"),
  shares: createEventLoopScheduler(),
  events: recordedEvents(),
  changes: announcedChanges().changes,
  configStates: async () => configs,
  findUse: async () => undefined,
  isPinned: async () => false,
  builtin,
});
const { catalogue } = handlers;
const tenantId = freshTenant();
const providers = (request: object = {}) =>
  perform(db, { tenantId }, catalogue.listProviders, ListProvidersRequestSchema, request);
const actions = (request: object = {}) =>
  perform(db, { tenantId }, catalogue.listActions, ListActionsRequestSchema, request);
const triggers = (request: object = {}) =>
  perform(db, { tenantId }, catalogue.listTriggers, ListTriggersRequestSchema, request);
const actionKeys = async (request: object = {}) => (await actions(request)).actions.map(({ key }) => key);
const getAction = async (key: string) =>
  (await perform(db, { tenantId }, catalogue.getAction, GetActionRequestSchema, { key })).action!;

test("an action carries everything that callers and agents need to use it", async () => {
  configs.set("beta", "active");
  const action = await getAction("beta.item.create");
  const { $typeName: _, ...mutation } = action.mutation!;
  assert.deepEqual(
    {
      ...action,
      $typeName: undefined,
      mutation,
      retry: [action.retry?.maxAttempts, action.retry?.on],
      inputProperties: action.inputProperties.map(({ name, types, required }) => [name, types, required]),
    },
    {
      $typeName: undefined,
      key: "beta.item.create",
      providerKey: "beta",
      providerVersion: "1.0.0",
      title: "Create an item",
      description: "Adds something to the store.",
      category: "payments",
      inputProperties: [
        ["id", ["string"], true],
        ["expand", ["boolean"], false],
      ],
      inputSchema: getItem.input,
      outputSchema: { type: "object", properties: { id: {}, name: {} } },
      scopes: ["read"],
      permissions: ["items:write"],
      related: ["beta.item.get"],
      mutation: { effect: "create", destructive: false, idempotency: "none" },
      retry: [1, []],
      timeoutMs: 5000,
      runtimeStatus: "executable",
      runtimeReason: "",
      replacedBy: "",
      authModes: ["oauth2"],
      paginated: false,
    },
  );
  configs.clear();
});

test("the runtime status says whether a tenant can execute an action, and why not", async () => {
  const statusOf = async (key: string) => {
    const { runtimeStatus, runtimeReason } = await getAction(key);
    return [runtimeStatus, runtimeReason];
  };
  assert.deepEqual(await statusOf("alpha.item.get"), ["executable", ""]);
  assert.deepEqual(await statusOf("beta.item.upload"), ["catalog_only", "Files are not supported."]);
  assert.deepEqual(await statusOf("beta.item.get"), ["deprecated", "Replaced."]);
  assert.equal((await getAction("beta.item.get")).replacedBy, "beta.item.create");
  assert.match((await statusOf("beta.item.create")).join(), /^unconfigured,BETA needs a provider config/);
  configs.set("beta", "disabled");
  assert.match((await statusOf("beta.item.create")).join(), /^disabled,The provider config of BETA is disabled/);
  configs.set("beta", "active");
  assert.deepEqual(await statusOf("beta.item.create"), ["executable", ""]);
  configs.clear();
});

test("actions are filtered by provider, category, effect, runtime status and authentication mode", async () => {
  assert.deepEqual(await actionKeys(), [
    "alpha.item.get",
    "beta.item.create",
    "beta.item.get",
    "beta.item.upload",
    "gamma.only",
  ]);
  assert.deepEqual(await actionKeys({ providerKey: "alpha" }), ["alpha.item.get"]);
  assert.deepEqual(await actionKeys({ category: "generic" }), ["gamma.only"]);
  assert.deepEqual(await actionKeys({ effect: "read" }), ["alpha.item.get", "beta.item.get"]);
  assert.deepEqual(await actionKeys({ runtimeStatus: "catalog_only" }), ["beta.item.upload", "gamma.only"]);
  assert.deepEqual(await actionKeys({ runtimeStatus: "unconfigured" }), ["beta.item.create"]);
  assert.deepEqual(await actionKeys({ authMode: "api_key" }), ["alpha.item.get"]);
  assert.deepEqual(await actionKeys({ authMode: "oauth2", effect: "read" }), ["beta.item.get"]);
});

test("a search finds all words in any place, the best matches first", async () => {
  assert.deepEqual(await actionKeys({ query: "item.get" }), ["alpha.item.get", "beta.item.get"]);
  assert.deepEqual(await actionKeys({ query: "CREATE item" }), ["beta.item.create"]);
  assert.deepEqual(await actionKeys({ query: "store" }), ["beta.item.create"]);
  assert.deepEqual(await actionKeys({ query: "beta" }), ["beta.item.create", "beta.item.get", "beta.item.upload"]);
  assert.deepEqual(await actionKeys({ query: "payments upl" }), ["beta.item.upload"]);
  assert.deepEqual(await actionKeys({ query: "item nothing" }), []);
  assert.deepEqual(await actionKeys({ query: "(" }), []);
});

test("a list is read page by page, also with a search", async () => {
  for (const query of ["", "item"]) {
    const all = await actionKeys({ query });
    const keys: string[] = [];
    for (let pageToken = ""; ; ) {
      const page = await actions({ query, pageSize: 2, pageToken });
      assert.equal(page.totalSize, all.length);
      keys.push(...page.actions.map(({ key }) => key));
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    assert.deepEqual(keys, all);
  }
  const { nextPageToken } = await actions({ pageSize: 1 });
  await assert.rejects(actions({ pageToken: nextPageToken, query: "x" }), failsWith("INVALID_ARGUMENT"));
});

test("providers are listed, filtered and returned with what a connection needs", async () => {
  const keys = async (request: object) => (await providers(request)).providers.map(({ key }) => key);
  assert.deepEqual(await keys({}), ["alpha", "beta", "gamma"]);
  assert.deepEqual(await keys({ category: "crm" }), ["alpha"]);
  assert.deepEqual(await keys({ authMode: "oauth2" }), ["beta", "gamma"]);
  assert.deepEqual(await keys({ runtimeStatus: "catalog_only" }), ["gamma"]);
  assert.deepEqual(await keys({ source: "tenant" }), []);
  assert.deepEqual(await keys({ query: "ALP" }), ["alpha"]);
  const get = async (request: object) =>
    (await perform(db, { tenantId }, catalogue.getProvider, GetProviderRequestSchema, request)).provider!;
  const beta = await get({ key: "beta" });
  assert.deepEqual(
    [beta.hosts, beta.source, beta.actionCount, beta.triggerCount, beta.runtimeStatus],
    [["api.acme.test"], "builtin", 3, 1, "unconfigured"],
  );
  assert.deepEqual(
    beta.auth.map(({ mode, defaultScopes, availableScopes }) => [mode, defaultScopes, availableScopes]),
    [["oauth2", ["read"], { read: "Read items" }]],
  );
  const alpha = await get({ key: "alpha", version: "1.0.0" });
  assert.deepEqual(
    alpha.auth[0]!.fields.map(({ name, secret, required }) => [name, secret, required]),
    [["api_key", true, true]],
  );
  await assert.rejects(get({ key: "delta" }), failsWith("NOT_FOUND", /^No such provider\.$/));
  await assert.rejects(get({ key: "alpha", version: "2.0.0" }), failsWith("NOT_FOUND"));
});

test("triggers are listed, filtered and returned", async () => {
  const keys = async (request: object) => (await triggers(request)).triggers.map(({ key }) => key);
  assert.deepEqual(await keys({}), ["alpha.item.polled", "beta.item.changed"]);
  assert.deepEqual(await keys({ kind: "poll" }), ["alpha.item.polled"]);
  assert.deepEqual(await keys({ runtimeStatus: "unconfigured" }), ["beta.item.changed"]);
  const { trigger } = await perform(db, { tenantId }, catalogue.getTrigger, GetTriggerRequestSchema, {
    key: "alpha.item.polled",
  });
  assert.deepEqual(
    [trigger?.kind, trigger?.pollEveryS, trigger?.registered, trigger?.eventTypes],
    ["poll", 120, false, ["item.polled"]],
  );
  for (const key of ["alpha.nothing", "nobody.item.polled"]) {
    await assert.rejects(
      perform(db, { tenantId }, catalogue.getTrigger, GetTriggerRequestSchema, { key }),
      failsWith("NOT_FOUND", /^No such trigger\.$/),
    );
    await assert.rejects(getAction(key), failsWith("NOT_FOUND", /^No such action\.$/));
  }
});

test("the generated form of the built-in providers equals their sources", async () => {
  const generated = await createBuiltinProviders().all();
  const sources = loadBuiltinProviders();
  assert.deepEqual(
    generated.map(({ key, digest }) => [key, digest]),
    sources.map(({ key, digest }) => [key, digest]),
  );
});
