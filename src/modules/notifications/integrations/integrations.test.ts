import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CreateIntegrationRequestSchema,
  DeleteIntegrationRequestSchema,
  GetIntegrationRequestSchema,
  ListIntegrationsRequestSchema,
  UpdateIntegrationRequestSchema,
} from "../../../../gen/service/api/integration_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import {
  classifyDatabaseError,
  createSignals,
  createTenantChanges,
  type Database,
} from "../../../platform/db/index.ts";
import type { Connection } from "../../connectors/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { integrationsMax } from "./domain/integration.ts";
import { createIntegrations } from "./index.ts";

const db = await testDatabase(20);
const events = recordedEvents();
const changes = { ...announcedChanges().changes, record: createTenantChanges(db, createSignals(db)).record };
const connections = new Map<string, Pick<Connection, "providerKey" | "status">>([
  ["mail-1", { providerKey: "smtp", status: "active" }],
  ["mail-2", { providerKey: "smtp", status: "revoked" }],
  ["mail-3", { providerKey: "smtp", status: "needs_reauth" }],
  ["sms-1", { providerKey: "http_sms", status: "active" }],
]);
const keys: Readonly<Record<Channel, readonly string[]>> = {
  email: ["smtp", "development"],
  sms: ["http_sms", "development"],
  push: [],
  chat: [],
  in_app: ["in_app"],
};
const parts = {
  changes,
  events,
  connections: {
    find: async (_sql: unknown, _tenantId: unknown, id: string) => connections.get(id) as Connection | undefined,
  },
  providers: {
    async find(_tenantId: unknown, key: string) {
      const channels = (Object.keys(keys) as Channel[]).filter((channel) => keys[channel].includes(key));
      const needsConnection = key === "smtp" || key === "http_sms";
      return channels.length === 0
        ? undefined
        : { channels, needsConnection, markup: undefined, missingSettings: () => [], acceptsAddress: () => true };
    },
    keysOf: async (channel: Channel) => keys[channel],
  },
};
const integrations = createIntegrations({ ...parts, cacheLoadDb: db });
const { handlers } = integrations;

type Request = MessageInitShape<typeof CreateIntegrationRequestSchema>;
const wanted: Request = { channel: "email", name: "Mail", providerKey: "smtp", connectionId: "mail-1" };
async function createIntegration(choice: ContextChoice, more: Request = {}) {
  const request = { ...wanted, ...more } as Request;
  return (await perform(db, choice, handlers.createIntegration, CreateIntegrationRequestSchema, request)).integration!;
}
type Change = MessageInitShape<typeof UpdateIntegrationRequestSchema>;
async function replace(choice: ContextChoice, id: string, more: Change = {}) {
  const request = { name: "Mail", providerKey: "smtp", connectionId: "mail-1", ...more, id } as Change;
  return (await perform(db, choice, handlers.updateIntegration, UpdateIntegrationRequestSchema, request)).integration!;
}
async function remove(choice: ContextChoice, id: string) {
  return (await perform(db, choice, handlers.deleteIntegration, DeleteIntegrationRequestSchema, { id })).integration!;
}
const eventsOf = (tenantId: string) => events.recorded.filter((event) => event.tenantId === tenantId);
const noneExcluded: ReadonlySet<string> = new Set();
const values = {
  subscriber: { locale: "de" },
  payload: { total: 7 },
  workflow_key: "order.paid",
  channel: "email",
} as const;

test("an integration is active with priority 100 by default, and 0 is a valid priority", async () => {
  const tenantId = freshTenant();
  const created = await createIntegration({ tenantId });
  assert.deepEqual(
    [created.channel, created.name, created.providerKey, created.connectionId, created.priority, created.active],
    ["email", "Mail", "smtp", "mail-1", 100, true],
  );
  assert.deepEqual(
    [created.condition, created.casingOverride, created.metadata, created.recordVersion],
    ["", "", {}, 1n],
  );
  const data = { channel: "email", name: "Mail", provider_key: "smtp" };
  assert.deepEqual(eventsOf(tenantId), [{ tenantId, type: "integration.created", subject: created.id, data }]);
  const first = await createIntegration({ tenantId }, { name: "First", priority: 0, active: false });
  assert.deepEqual([first.priority, first.active], [0, false]);
});

test("a name is unique on its channel until its integration is deleted", async () => {
  const tenantId = freshTenant();
  const { id } = await createIntegration({ tenantId });
  const taken = (error: unknown) => failsWith("ALREADY_EXISTS", /name/)(classifyDatabaseError(error));
  await assert.rejects(createIntegration({ tenantId }), taken);
  await createIntegration({ tenantId }, { channel: "sms", providerKey: "http_sms", connectionId: "sms-1" });
  await createIntegration({ tenantId: freshTenant() });
  const other = await createIntegration({ tenantId }, { name: "Other" });
  await assert.rejects(replace({ tenantId }, other.id), taken);
  await remove({ tenantId }, id);
  await replace({ tenantId }, other.id);
});

test("the provider must serve the channel, and needs a connection that belongs to it and is not revoked", async () => {
  const tenantId = freshTenant();
  const refusals: readonly (readonly [Request, string, RegExp])[] = [
    [
      { providerKey: "http_sms", connectionId: "sms-1" },
      "INVALID_ARGUMENT",
      /^provider_key: must be a provider that serves email: smtp, development/,
    ],
    [{ providerKey: "nobody" }, "INVALID_ARGUMENT", /^provider_key/],
    [{ connectionId: "" }, "INVALID_ARGUMENT", /^connection_id: is required by smtp/],
    [{ connectionId: "mail-9" }, "NOT_FOUND", /^No such connection/],
    [{ connectionId: "mail-2" }, "FAILED_PRECONDITION", /revoked/],
    [{ connectionId: "sms-1" }, "INVALID_ARGUMENT", /^connection_id: must be a connection of smtp/],
    [{ providerKey: "development" }, "INVALID_ARGUMENT", /^connection_id: must be empty/],
    [{ metadata: { text: "x".repeat(17_000) } }, "INVALID_ARGUMENT", /^metadata/],
  ];
  const { id } = await createIntegration({ tenantId }, { name: "Kept" });
  for (const [request, code, text] of refusals) {
    await assert.rejects(createIntegration({ tenantId }, request), failsWith(code, text));
    await assert.rejects(replace({ tenantId }, id, request as Change), failsWith(code, text));
  }
  assert.equal((await integrations.find(tenantId, id))!.name, "Kept");
  await createIntegration({ tenantId }, { name: "Development", providerKey: "development", connectionId: "" });
  await createIntegration({ tenantId }, { channel: "in_app", providerKey: "in_app", connectionId: "" });
  await createIntegration({ tenantId }, { name: "Waiting", connectionId: "mail-3" });
});

test("an invalid condition is refused with the position of the error", async () => {
  const tenantId = freshTenant();
  const refused = ["payload.total >", "recipient.id == '1'", "1 + 1", "workflow_key > 3"];
  for (const condition of refused) {
    await assert.rejects(
      createIntegration({ tenantId }, { condition }),
      failsWith("INVALID_ARGUMENT", /^condition: /),
      condition,
    );
  }
  await createIntegration(
    { tenantId },
    { condition: "payload.total > 5 && subscriber.locale == 'de' && channel == 'email'" },
  );
});

test("an update replaces all details but not the channel, and a stale version changes nothing", async () => {
  const tenantId = freshTenant();
  const { id } = await createIntegration(
    { tenantId },
    { priority: 1, condition: "true", casingOverride: "upper", metadata: { a: 1 } },
  );
  const replaced = await replace({ tenantId }, id, { name: "New", active: false, recordVersion: 1n });
  assert.deepEqual(
    [replaced.name, replaced.priority, replaced.active, replaced.condition, replaced.casingOverride, replaced.metadata],
    ["New", 100, false, "", "", {}],
  );
  assert.equal(replaced.recordVersion, 2n);
  assert.deepEqual(eventsOf(tenantId).at(-1)!.data, {
    channel: "email",
    name: "New",
    provider_key: "smtp",
    fields: ["name", "priority", "active", "condition", "casing_override", "metadata"],
  });
  await assert.rejects(replace({ tenantId }, id, { recordVersion: 1n }), failsWith("VERSION_CONFLICT"));
  await assert.rejects(
    replace({ tenantId }, id, { channel: "sms" }),
    failsWith("INVALID_ARGUMENT", /^channel: cannot be changed/),
  );
  assert.equal((await replace({ tenantId }, id, { channel: "email" })).recordVersion, 3n);
  const { integration } = await perform(db, { tenantId }, handlers.getIntegration, GetIntegrationRequestSchema, { id });
  assert.equal(integration!.name, "Mail");
});

test("another tenant's integration is not found", async () => {
  const tenantId = freshTenant();
  const { id } = await createIntegration({ tenantId });
  const other = { tenantId: freshTenant() };
  await assert.rejects(remove(other, id), failsWith("NOT_FOUND", /^No such integration\.$/));
  await assert.rejects(replace(other, id), failsWith("NOT_FOUND"));
  assert.equal(await integrations.find(other.tenantId, id), undefined);
  assert.equal(
    await integrations.choose(other.tenantId, "email", values, noneExcluded, async () => true),
    "none_active",
  );
});

test("the lookup for a callback fills no cache", async () => {
  const tenantId = freshTenant();
  const { id } = await createIntegration({ tenantId });
  const uncached = createIntegrations({
    ...parts,
    cacheLoadDb: {
      get sql(): never {
        throw new Error("This would fill the cache.");
      },
    } as unknown as Database,
  });
  await assert.rejects(uncached.find(tenantId, id), /would fill the cache/);
  assert.equal(await uncached.findForCallback(db.sql, tenantId, id), undefined, "there is no such tenant");
  await db.sql`
    insert into tenants (id, name, slug, status, created_at, updated_at)
    values (${tenantId}, 'Callbacks', ${tenantId.toLowerCase()}, 'active', now(), now())`;
  assert.equal((await uncached.findForCallback(db.sql, tenantId, id))!.id, id);
  await db.sql`update tenants set status = 'suspended' where id = ${tenantId}`;
  assert.equal(await uncached.findForCallback(db.sql, tenantId, id), undefined);
});

async function selectedName(
  tenantId: Parameters<typeof integrations.choose>[0],
  except = noneExcluded,
  more = {},
  accepts: (providerKey: string) => boolean = () => true,
): Promise<string> {
  const found = await integrations.choose(tenantId, "email", { ...values, ...more }, except, async (key) =>
    accepts(key),
  );
  return typeof found === "string" ? found : found.name;
}

test("only integrations of acceptable providers are selected", async () => {
  const tenantId = freshTenant();
  const { name, providerKey } = await createIntegration({ tenantId });
  assert.equal(await selectedName(tenantId, noneExcluded, {}, (key) => key === providerKey), name);
  assert.equal(await selectedName(tenantId, noneExcluded, {}, (key) => key === "another"), "none_active");
});

test("the lowest priority wins, then the oldest, among active integrations that match and were not tried", async () => {
  const tenantId = freshTenant();
  const late = await createIntegration({ tenantId, nowMs: 3000 }, { name: "late", priority: 5 });
  const early = await createIntegration({ tenantId, nowMs: 2000 }, { name: "early", priority: 5 });
  await createIntegration({ tenantId }, { name: "off", priority: 1, active: false });
  await createIntegration(
    { tenantId },
    { name: "for others", priority: -1, condition: "workflow_key == 'order.lost'" },
  );
  await createIntegration({ tenantId }, { name: "last" });
  await createIntegration(
    { tenantId },
    { channel: "sms", name: "sms", providerKey: "http_sms", connectionId: "sms-1", priority: 0 },
  );
  assert.equal(await selectedName(tenantId), "early");
  assert.equal(await selectedName(tenantId, noneExcluded, { workflow_key: "order.lost" }), "for others");
  assert.equal(await selectedName(tenantId, new Set([early.id])), "late");
  assert.equal(await selectedName(tenantId, new Set([early.id, late.id])), "last");
});

test("an integration whose condition fails is skipped, and the error is reported when nothing else matches", async () => {
  const tenantId = freshTenant();
  assert.equal(await selectedName(tenantId), "none_active");
  const failing = await createIntegration(
    { tenantId },
    { name: "failing", priority: 1, condition: "payload.missing == 1" },
  );
  const never = await createIntegration({ tenantId }, { name: "never", priority: 2, condition: "payload.total > 100" });
  assert.equal(await selectedName(tenantId), "condition_error");
  assert.equal(await selectedName(tenantId, new Set([failing.id])), "condition_no_match");
  assert.equal(await selectedName(tenantId, new Set([failing.id, never.id])), "none_active");
  await createIntegration({ tenantId }, { name: "always", priority: 3 });
  assert.equal(await selectedName(tenantId), "always");
});

test("a hostile condition is skipped like a failing one and delays no other message", async () => {
  const tenantId = freshTenant();
  const items = Array.from({ length: 3000 }, (_, i) => i);
  const condition = "payload.items.all(a, payload.items.all(b, payload.items.all(c, a + b + c >= 0)))";
  await createIntegration({ tenantId }, { name: "hostile", priority: 1, condition });
  await createIntegration({ tenantId }, { name: "plain" });
  assert.equal(await selectedName(tenantId, noneExcluded, { payload: { items } }), "plain");
});

test("a deleted integration is no longer selected, found or listed", async () => {
  const tenantId = freshTenant();
  const { id } = await createIntegration({ tenantId });
  assert.equal(await selectedName(tenantId), "Mail");
  const removed = await remove({ tenantId }, id);
  assert.deepEqual([removed.id, removed.active], [id, false]);
  assert.equal(await selectedName(tenantId), "none_active");
  assert.equal(await integrations.find(tenantId, id), undefined);
  const { totalSize } = await perform(db, { tenantId }, handlers.listIntegrations, ListIntegrationsRequestSchema, {});
  assert.equal(totalSize, 0);
  await assert.rejects(remove({ tenantId }, id), failsWith("NOT_FOUND"));
  assert.equal(eventsOf(tenantId).at(-1)!.type, "integration.deleted");
});

test("integrations can be listed by channel", async () => {
  const tenantId = freshTenant();
  await createIntegration({ tenantId });
  const sms = await createIntegration({ tenantId }, { channel: "sms", providerKey: "http_sms", connectionId: "sms-1" });
  const { integrations: found } = await perform(
    db,
    { tenantId },
    handlers.listIntegrations,
    ListIntegrationsRequestSchema,
    { channel: "sms" },
  );
  assert.deepEqual(
    found.map(({ id }) => id),
    [sms.id],
  );
});

test("a tenant cannot exceed the limit of integrations, even with concurrent creates", async () => {
  const tenantId = freshTenant();
  await db.sql`
    insert into notification_integrations (tenant_id, id, channel, name, provider_key, created_at, updated_at)
    select ${tenantId}, lpad(n::text, 26, '0'), 'email', 'i' || n, 'development', now(), now()
    from generate_series(1, ${integrationsMax - 1}) n`;
  // Open the connections first; otherwise the concurrent calls would start one by one.
  await Promise.all(Array.from({ length: 8 }, () => db.sql`select pg_sleep(0.05)`));
  const created = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) => createIntegration({ tenantId }, { name: `n${i}` })),
  );
  assert.equal(created.filter(({ status }) => status === "fulfilled").length, 1);
});
