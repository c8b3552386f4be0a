import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  GetCapabilityRequestSchema,
  GetServicesReportRequestSchema,
  ListCapabilitiesRequestSchema,
  ListCapabilityPosturesRequestSchema,
} from "../../../../gen/service/api/discovery_pb.ts";
import { contextFor, failsWith } from "../../../../test/harness/context.ts";
import type { Plane } from "../../../chain/call.ts";
import { readOperations } from "../../../definitions/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import { type CapabilityMode, type CapabilitySource, createDiscovery, type Posture } from "./index.ts";

const operations = readOperations();
const operationsOf = (plane: Plane) =>
  operations.filter(({ governance }) => plane === "internal" || !governance.internalOnly);

function source(id: string, posture: () => Posture | Promise<Posture>, hidden = false): CapabilitySource {
  const lists = { settings: [`${id}.enabled`], dependencies: ["database"], services: ["service.api.Some"] };
  return { id, name: `The ${id}`, description: "Does it.", ...lists, hidden, mode: posture };
}
const inMode = (id: string, mode: CapabilityMode) => source(id, () => ({ mode, reason: mode }));
const capabilities = [
  inMode("d_degraded", "degraded"),
  inMode("a_active", "active"),
  inMode("c_unwired", "unwired"),
  inMode("b_disabled", "disabled"),
  source("hidden", () => ({ mode: "active" }), true),
];

/** Creates the handlers with a context like the chain's. None of them uses the database. */
function discoveryOf(sources: readonly CapabilitySource[]) {
  const { handlers } = createDiscovery({
    ...{ capabilities: sources, operationsOf, apiVersion: "2024-01-01" },
    names: () => [],
  });
  const context = (plane: Plane = "external") => contextFor({} as Database, { plane, tenantId: "t" as never });
  const called = <H>(handler: H) => handler as Extract<H, (...never: never[]) => unknown>;
  return {
    report: async (plane: Plane) =>
      (await called(handlers.getServicesReport)(context(plane), create(GetServicesReportRequestSchema))).report!,
    postures: async () =>
      (await called(handlers.listCapabilityPostures)(context(), create(ListCapabilityPosturesRequestSchema)))
        .capabilities,
    list: (request: MessageInitShape<typeof ListCapabilitiesRequestSchema>) =>
      called(handlers.listCapabilities)(context(), create(ListCapabilitiesRequestSchema, request)),
    get: async (id: string) =>
      (await called(handlers.getCapability)(context(), create(GetCapabilityRequestSchema, { id }))).capability!,
  };
}

const discovery = discoveryOf(capabilities);
const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id);

test("the report contains every operation of the caller's plane, and internal ones only on the internal plane", async () => {
  for (const plane of ["external", "internal"] as const) {
    const report = await discovery.report(plane);
    const reported = report.services.flatMap(({ name, methods }) => methods.map((method) => `${name}/${method.name}`));
    assert.deepEqual(
      reported,
      operationsOf(plane).map(({ id }) => id),
    );
    assert.deepEqual([report.plane, report.apiVersion], [plane, "2024-01-01"]);
    assert.equal(reported.includes("service.api.SecretService/AccessSecret"), plane === "internal");
  }
});

test("a method is reported with its HTTP method, path, scopes, roles and cost, and everything has a description", async () => {
  const { services } = await discovery.report("external");
  const find = (service: string, method: string) =>
    services.find(({ name }) => name === `service.api.${service}`)!.methods.find(({ name }) => name === method)!;
  const create = find("ApiKeyService", "CreateApiKey");
  assert.deepEqual(create, {
    name: "CreateApiKey",
    description: create.description,
    connectPath: "/service.api.ApiKeyService/CreateApiKey",
    httpMethod: "POST",
    httpPath: "/api/v2/api-keys",
    scopes: create.scopes,
    roles: ["admin"],
    authenticationRequired: true,
    mutating: true,
    streaming: false,
    deprecated: false,
    tokenCost: create.tokenCost,
  });
  assert.ok(create.scopes.includes("tenant:write"));
  assert.ok(create.tokenCost > 1);
  assert.equal(find("MemberService", "ListTenantMembers").deprecated, true);
  for (const { name, description, methods } of services) {
    assert.notEqual(description, "", name);
    for (const method of methods) assert.notEqual(method.description, "", `${name}/${method.name}`);
  }
});

test("postures of all visible capabilities are listed, ordered by id", async () => {
  const postures = await discovery.postures();
  assert.deepEqual(
    postures.map(({ id, mode, reason }) => [id, mode, reason]),
    [
      ["a_active", "active", "active"],
      ["b_disabled", "disabled", "disabled"],
      ["c_unwired", "unwired", "unwired"],
      ["d_degraded", "degraded", "degraded"],
    ],
  );
});

test("the catalogue lists active capabilities, and each flag adds or removes its mode", async () => {
  const table = [
    [{}, ["a_active", "d_degraded"]],
    [{ includeDegraded: false }, ["a_active"]],
    [{ includeDegraded: true }, ["a_active", "d_degraded"]],
    [{ includeDisabled: true }, ["a_active", "b_disabled", "d_degraded"]],
    [{ includeMissingDependency: true }, ["a_active", "c_unwired", "d_degraded"]],
    [
      { includeDisabled: true, includeMissingDependency: true, includeDegraded: false },
      ["a_active", "b_disabled", "c_unwired"],
    ],
    [{ modes: ["unwired", "disabled"], includeDegraded: true }, ["b_disabled", "c_unwired"]],
    [{ query: "DEGR" }, ["d_degraded"]],
    [{ query: "the a_" }, ["a_active"]],
    [{ query: "hidden" }, []],
  ] as const;
  for (const [request, ids] of table) {
    const page = await discovery.list({ ...request, modes: "modes" in request ? [...request.modes] : [] });
    assert.deepEqual(idsOf(page.capabilities), ids, JSON.stringify(request));
    assert.equal(page.totalSize, ids.length);
  }
});

test("capabilities are paged, and a cursor is valid only for its own filter", async () => {
  const first = await discovery.list({ pageSize: 2, includeDisabled: true });
  const rest = { pageSize: 2, pageToken: first.nextPageToken };
  const second = await discovery.list({ ...rest, includeDisabled: true });
  assert.deepEqual(idsOf([...first.capabilities, ...second.capabilities]), ["a_active", "b_disabled", "d_degraded"]);
  assert.deepEqual([second.totalSize, second.nextPageToken], [3, ""]);
  await assert.rejects(discovery.list(rest), failsWith("INVALID_ARGUMENT", /page_token/));
});

test("a capability is read by id; a hidden or unknown one is not found", async () => {
  const capability = await discovery.get("c_unwired");
  assert.deepEqual(capability, {
    id: "c_unwired",
    name: "The c_unwired",
    description: "Does it.",
    mode: "unwired",
    reason: "unwired",
    settings: ["c_unwired.enabled"],
    dependencies: ["database"],
    services: ["service.api.Some"],
  });
  for (const id of ["hidden", "none"]) await assert.rejects(discovery.get(id), failsWith("NOT_FOUND"));
});

test("modes are determined on every call, and one that fails does not hide the others", async () => {
  let mode: CapabilityMode = "unwired";
  const changing = discoveryOf([
    source("changing", async () => ({ mode })),
    source("failing", () => Promise.reject(new Error("password=hunter2"))),
    source("throwing", () => {
      throw new Error("no");
    }),
  ]);
  assert.equal((await changing.get("changing")).mode, "unwired");
  mode = "active";
  const postures = await changing.postures();
  assert.deepEqual(
    postures.map((capability) => capability.mode),
    ["active", "degraded", "degraded"],
  );
  assert.doesNotMatch(postures[1]!.reason, /hunter2/);
});
