import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { parse } from "yaml";
import {
  type ConfigValue,
  ExportConfigRequestSchema,
  GetConfigSchemaRequestSchema,
  ListConfigValuesRequestSchema,
  ResetConfigValueRequestSchema,
  SetConfigValueRequestSchema,
} from "../../../../gen/service/api/config_pb.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import { Failure } from "../../../errors/index.ts";
import { createSignals, createTenantChanges } from "../../../platform/db/index.ts";
import { createDynamicConfig } from "./index.ts";

const db = await testDatabase();
const events = recordedEvents();
const changes = createTenantChanges(db, createSignals(db));
const { handlers } = createDynamicConfig({
  enabled: true,
  changes,
  events,
  instance: { "events.retention_days": 90 },
});

const list = (choice: ContextChoice, request = {}) =>
  perform(db, choice, handlers.listConfigValues, ListConfigValuesRequestSchema, request);
const set = async (choice: ContextChoice, key: string, value: JsonValue, recordVersion?: bigint) => {
  const request = { key, value: fromJson(ValueSchema, value), recordVersion };
  return (await perform(db, choice, handlers.setConfigValue, SetConfigValueRequestSchema, request)).configValue!;
};
const reset = async (choice: ContextChoice, key: string) =>
  (await perform(db, choice, handlers.resetConfigValue, ResetConfigValueRequestSchema, { key })).configValue!;
const plain = (value: ConfigValue) => [value.key, toJson(ValueSchema, value.value!), value.overridden];

test("the effective value is the tenant's own if set, and else the instance's", async () => {
  const tenantId = freshTenant();
  await set({ tenantId, subject: "key:ada" }, "ratelimit.tenant_rps", 25);
  await set({}, "idempotency.required", true);
  const page = await list({ tenantId });
  assert.deepEqual(page.configValues.map(plain), [
    ["api.max_concurrent_requests_per_tenant", 0, false],
    ["events.retention_days", 90, false],
    ["idempotency.required", false, false],
    ["notification.allow_unknown_workflows", false, false],
    ["ratelimit.tenant_rps", 25, true],
  ]);
  assert.equal(page.totalSize, 5);
  assert.equal(page.configValues[4]!.updatedBy, "key:ada");
});

test("pages of values are ordered by key", async () => {
  const tenantId = freshTenant();
  const first = await list({ tenantId }, { pageSize: 3 });
  const second = await list({ tenantId }, { pageSize: 3, pageToken: first.nextPageToken });
  const keys = [...first.configValues, ...second.configValues].map((value) => value.key);
  assert.deepEqual(keys, [...keys].sort());
  assert.deepEqual([keys.length, second.totalSize, second.nextPageToken], [5, 5, ""]);
});

test("a change reaches the chain's snapshots, and its event contains the key but not the value", async () => {
  const tenantId = freshTenant();
  const notified: string[] = [];
  const stop = changes.onChange((changed) => notified.push(changed ?? "all"));
  await set({ tenantId }, "ratelimit.tenant_rps", 25);
  stop();
  assert.deepEqual(notified, [tenantId]);
  assert.equal((await db.sql`select from tenant_versions where tenant_id = ${tenantId}`).count, 1);
  const event = { tenantId, type: "config.changed", subject: "ratelimit.tenant_rps" };
  assert.deepEqual(events.recorded.at(-1), { ...event, data: { key: "ratelimit.tenant_rps" } });
});

test("an update can require a version: 0 for an unset value, incremented by each change", async () => {
  const tenantId = freshTenant();
  const key = "events.retention_days";
  await assert.rejects(set({ tenantId }, key, 7, 1n), failsWith("VERSION_CONFLICT", /version 0/));
  assert.equal((await set({ tenantId }, key, 7, 0n)).recordVersion, 1n);
  await assert.rejects(set({ tenantId }, key, 8, 0n), failsWith("VERSION_CONFLICT", /version 1/));
  assert.equal((await set({ tenantId }, key, 8, 1n)).recordVersion, 2n);
  assert.equal((await set({ tenantId }, key, 9)).recordVersion, 3n);
  assert.deepEqual(plain((await list({ tenantId })).configValues[1]!), [key, 9, true]);
});

test("of many concurrent updates that require the same version, one succeeds", async () => {
  const tenantId = freshTenant();
  const tries = Array.from({ length: 8 }, (_, n) => set({ tenantId }, "events.retention_days", n + 1, 0n));
  const succeeded = (await Promise.allSettled(tries)).filter((each) => each.status === "fulfilled");
  assert.equal(succeeded.length, 1);
});

test("a reset restores the default, and a second reset changes nothing", async () => {
  const tenantId = freshTenant();
  await set({ tenantId }, "events.retention_days", 7);
  assert.deepEqual(plain(await reset({ tenantId }, "events.retention_days")), ["events.retention_days", 90, false]);
  assert.equal(events.recorded.at(-1)!.type, "config.reset");
  const before = events.recorded.length;
  await reset({ tenantId }, "events.retention_days");
  assert.equal(events.recorded.length, before);
});

test("an unknown setting is not found, and an invalid value is a violation of `value`", async () => {
  const none = failsWith("NOT_FOUND", /^No such setting\.$/);
  await assert.rejects(set({}, "log.level", "debug"), none);
  await assert.rejects(reset({}, "constructor"), none);
  const unfit = (error: unknown) =>
    error instanceof Failure && error.code === "INVALID_ARGUMENT" && error.violations[0]?.field === "value";
  for (const value of ["7", 0, 7.5, null, { days: 7 }, [7]]) {
    await assert.rejects(set({}, "events.retention_days", value), unfit);
  }
  await assert.rejects(set({}, "ratelimit.tenant_rps", null), unfit);
  // Only a binary request can contain these values.
  for (const kind of [{ case: "numberValue", value: Number.NaN } as const, { case: undefined }]) {
    const request = { key: "ratelimit.tenant_rps", value: { kind } };
    await assert.rejects(perform(db, {}, handlers.setConfigValue, SetConfigValueRequestSchema, request), unfit);
  }
});

test("the export is commented YAML that parses back to every effective value", async () => {
  const tenantId = freshTenant();
  await set({ tenantId }, "idempotency.required", true);
  const { document } = await perform(db, { tenantId }, handlers.exportConfig, ExportConfigRequestSchema, {});
  assert.equal(document!.contentType, "application/yaml");
  const text = Buffer.from(document!.data).toString("utf8");
  assert.match(text, new RegExp(`^# .*${tenantId}`));
  assert.deepEqual(parse(text), {
    api: { max_concurrent_requests_per_tenant: 0 },
    events: { retention_days: 90 },
    idempotency: { required: true },
    notification: { allow_unknown_workflows: false },
    ratelimit: { tenant_rps: 0 },
  });
});

test("when disabled, only the schema is available, and every error names the setting", async () => {
  const off = createDynamicConfig({ enabled: false, changes, events }).handlers;
  const schema = await perform(db, {}, off.getConfigSchema, GetConfigSchemaRequestSchema, {});
  assert.equal(schema.enabled, false);
  const retention = schema.settings.find((setting) => setting.key === "events.retention_days")!;
  assert.deepEqual([retention.type, retention.minimum, retention.maximum], ["integer", 1, 365]);
  assert.deepEqual(toJson(ValueSchema, retention.defaultValue!), 30);

  const refused = failsWith("FEATURE_DISABLED", /dynamic_config\.enabled/);
  const key = "no.such";
  const value = fromJson(ValueSchema, 1);
  await assert.rejects(perform(db, {}, off.listConfigValues, ListConfigValuesRequestSchema, {}), refused);
  await assert.rejects(perform(db, {}, off.setConfigValue, SetConfigValueRequestSchema, { key, value }), refused);
  await assert.rejects(perform(db, {}, off.resetConfigValue, ResetConfigValueRequestSchema, { key }), refused);
  await assert.rejects(perform(db, {}, off.exportConfig, ExportConfigRequestSchema, {}), refused);
});
