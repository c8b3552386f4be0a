import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateEnvironmentRequestSchema,
  DeleteEnvironmentRequestSchema,
  GetEnvironmentRequestSchema,
  ListEnvironmentsRequestSchema,
  Environment_Mode as Mode,
  Environment_Status as Status,
  UpdateEnvironmentRequestSchema,
} from "../../../../gen/service/api/environment_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import { classifyDatabaseError } from "../../../platform/db/index.ts";
import { createEnvironments } from "./index.ts";

const db = await testDatabase();
const events = recordedEvents();
const { changes } = announcedChanges();
const environments = createEnvironments({ events, changes });
const { handlers } = environments;

const starting = [
  { key: "production", name: "Production", mode: "live" },
  { key: "staging", name: "Staging", mode: "sandbox" },
] as const;

async function newTenant() {
  const tenantId = freshTenant();
  await environments.add(db.sql, tenantId, starting, Date.now());
  return tenantId;
}
async function list(choice: ContextChoice, request = {}) {
  return perform(db, choice, handlers.listEnvironments, ListEnvironmentsRequestSchema, request);
}
async function idOf(tenantId: ContextChoice["tenantId"], key: string): Promise<string> {
  return (await list({ tenantId })).environments.find((environment) => environment.key === key)!.id;
}

test("a new tenant has its environments in the given order, and sees only its own", async () => {
  const tenantId = await newTenant();
  await newTenant();
  const page = await list({ tenantId });
  assert.deepEqual(
    page.environments.map(({ key, mode, status }) => [key, mode, status]),
    [
      ["production", Mode.LIVE, Status.ACTIVE],
      ["staging", Mode.SANDBOX, Status.ACTIVE],
    ],
  );
  assert.equal(page.totalSize, 2);
});

test("an environment defaults to a sandbox named after its key", async () => {
  const tenantId = await newTenant();
  const { environment } = await perform(db, { tenantId }, handlers.createEnvironment, CreateEnvironmentRequestSchema, {
    key: "preview",
  });
  assert.equal(environment!.name, "preview");
  assert.equal(environment!.mode, Mode.SANDBOX);
  assert.equal(environment!.recordVersion, 1n);
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "environment.created",
    subject: environment!.id,
    data: { key: "preview", mode: "sandbox" },
  });
});

test("a key is unique in a tenant, and can be reused after its environment is deleted", async () => {
  const tenantId = await newTenant();
  const again = () =>
    perform(db, { tenantId }, handlers.createEnvironment, CreateEnvironmentRequestSchema, { key: "staging" });
  await assert.rejects(again(), (error) => classifyDatabaseError(error)?.code === "ALREADY_EXISTS");
  const environmentId = await idOf(tenantId, "staging");
  const deleted = await perform(db, { tenantId }, handlers.deleteEnvironment, DeleteEnvironmentRequestSchema, {
    environmentId,
  });
  assert.equal(deleted.environment!.status, Status.DELETED);
  await again();
  assert.equal((await list({ tenantId })).totalSize, 2);
});

test("every operation reports a deleted environment and another tenant's environment as not found", async () => {
  const tenantId = await newTenant();
  const environmentId = await idOf(tenantId, "staging");
  const refused = async (choice: ContextChoice) => {
    const request = { environmentId };
    const none = failsWith(
      "NOT_FOUND",
      /^No such environment\. GET \/api\/v2\/environments lists them with their ids\.$/,
    );
    await assert.rejects(perform(db, choice, handlers.getEnvironment, GetEnvironmentRequestSchema, request), none);
    await assert.rejects(
      perform(db, choice, handlers.updateEnvironment, UpdateEnvironmentRequestSchema, request),
      none,
    );
    await assert.rejects(
      perform(db, choice, handlers.deleteEnvironment, DeleteEnvironmentRequestSchema, request),
      none,
    );
  };
  await refused({ tenantId: await newTenant() });
  await perform(db, { tenantId }, handlers.deleteEnvironment, DeleteEnvironmentRequestSchema, { environmentId });
  await refused({ tenantId });
});

test("production can be renamed but neither disabled nor deleted", async () => {
  const tenantId = await newTenant();
  const environmentId = await idOf(tenantId, "production");
  const update = (change: object) =>
    perform(db, { tenantId }, handlers.updateEnvironment, UpdateEnvironmentRequestSchema, { environmentId, ...change });
  await assert.rejects(update({ status: Status.DISABLED }), failsWith("FAILED_PRECONDITION", /disabled/));
  await assert.rejects(
    perform(db, { tenantId }, handlers.deleteEnvironment, DeleteEnvironmentRequestSchema, { environmentId }),
    failsWith("FAILED_PRECONDITION", /deleted/),
  );
  const { environment } = await update({ name: "Live", status: Status.ACTIVE });
  assert.equal(environment!.name, "Live");
});

test("an update changes only the given fields, and rejects a stale version", async () => {
  const tenantId = await newTenant();
  const environmentId = await idOf(tenantId, "staging");
  const update = (change: object) =>
    perform(db, { tenantId }, handlers.updateEnvironment, UpdateEnvironmentRequestSchema, { environmentId, ...change });
  const { environment } = await update({ status: Status.DISABLED, recordVersion: 1n });
  assert.deepEqual(
    [environment!.name, environment!.status, environment!.recordVersion],
    ["Staging", Status.DISABLED, 2n],
  );
  assert.deepEqual(events.recorded.at(-1)!.data, { fields: ["status"] });
  await assert.rejects(update({ name: "Late", recordVersion: 1n }), failsWith("VERSION_CONFLICT", /version 2/));
});

test("a caller restricted to some environments can neither see nor change others", async () => {
  const tenantId = await newTenant();
  const production = await idOf(tenantId, "production");
  const staging = await idOf(tenantId, "staging");
  const cases = [
    { environmentMode: "production_only", seen: ["production"], forbidden: staging, key: "other" },
    { environmentMode: "non_production_only", seen: ["staging"], forbidden: production, key: "production" },
  ] as const;
  for (const { environmentMode, seen, forbidden, key } of cases) {
    const choice = { tenantId, environmentMode };
    const page = await list(choice);
    assert.deepEqual(
      page.environments.map((environment) => environment.key),
      seen,
    );
    assert.equal(page.totalSize, 1);
    const request = { environmentId: forbidden };
    const denied = failsWith("PERMISSION_DENIED");
    await assert.rejects(perform(db, choice, handlers.getEnvironment, GetEnvironmentRequestSchema, request), denied);
    await assert.rejects(
      perform(db, choice, handlers.updateEnvironment, UpdateEnvironmentRequestSchema, request),
      denied,
    );
    await assert.rejects(
      perform(db, choice, handlers.deleteEnvironment, DeleteEnvironmentRequestSchema, request),
      denied,
    );
    await assert.rejects(
      perform(db, choice, handlers.createEnvironment, CreateEnvironmentRequestSchema, { key }),
      denied,
    );
  }
});

test("pages have no gaps, and a cursor is rejected for a caller who sees other environments", async () => {
  const tenantId = await newTenant();
  const first = await list({ tenantId }, { pageSize: 1 });
  const second = await list({ tenantId }, { pageSize: 1, pageToken: first.nextPageToken });
  assert.deepEqual(
    [...first.environments, ...second.environments].map((environment) => environment.key),
    ["production", "staging"],
  );
  assert.deepEqual([second.nextPageToken, second.totalSize], ["", 2]);
  await assert.rejects(
    list({ tenantId, environmentMode: "production_only" }, { pageToken: first.nextPageToken }),
    failsWith("INVALID_ARGUMENT", /page_token/),
  );
});
