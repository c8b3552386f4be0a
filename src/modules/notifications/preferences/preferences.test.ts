import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeleteNotificationWorkflowRequestSchema,
  UpsertNotificationWorkflowRequestSchema,
  UpsertNotificationWorkflowUserRequestSchema,
} from "../../../../gen/service/api/notification_workflow_pb.ts";
import {
  PreviewPreferencesRequestSchema,
  UpsertPreferenceRequestSchema,
  UpsertSubscriberRequestSchema,
} from "../../../../gen/service/api/subscriber_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import { fc } from "../../../../test/harness/random.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createSubscribers } from "../subscribers/index.ts";
import type { PreferenceSettings } from "./domain/settings.ts";
import { createPreferences, type ResolveInput } from "./index.ts";
import { fromSettings } from "./settings-message.ts";
import { resolveInput, testConditions } from "./testing/arbitrary.ts";
import { referenceResolution } from "./testing/reference-resolver.ts";

const db = await testDatabase();
const events = recordedEvents();
const subscribers = createSubscribers({ events, checkConnection: async () => {} });
const { changes, standing } = announcedChanges();
const noPartials = () => undefined;
const partials = {
  libraryOf: () => ({ handlebars: noPartials, liquid: noPartials }),
  requirePartials: async () => {},
};
const preferences = createPreferences({
  partials,
  db,
  changes,
  events,
  subscribers,
  checkTemplate: () => undefined,
  hasLayout: async () => true,
  allowUnknownWorkflows: true,
});
const { handlers } = preferences;

async function newSubscriber(choice: ContextChoice, profile: object = {}): Promise<string> {
  const message = { externalId: "ada", ...profile };
  const created = await perform(
    db,
    choice,
    subscribers.handlers.upsertSubscriber,
    UpsertSubscriberRequestSchema,
    message,
  );
  return created.subscriber!.id;
}
const setRow = (choice: ContextChoice, subscriberId: string, keys: object, settings: PreferenceSettings) =>
  perform(db, choice, handlers.subscribers.upsertPreference, UpsertPreferenceRequestSchema, {
    subscriberId,
    ...keys,
    ...(fromSettings(settings) as object),
  });
const putWorkflow = (choice: ContextChoice, request: object) =>
  perform(db, choice, handlers.workflows.upsertNotificationWorkflow, UpsertNotificationWorkflowRequestSchema, {
    workflowKey: "w",
    ...request,
  });
const putUser = (choice: ContextChoice, userId: string, settings: PreferenceSettings) =>
  perform(db, choice, handlers.workflows.upsertNotificationWorkflowUser, UpsertNotificationWorkflowUserRequestSchema, {
    workflowKey: "w",
    userId,
    preferences: fromSettings(settings) as object,
  });

/** Stores the layers of an input; returns the subscriber's id. */
async function storeInput(choice: ContextChoice, { workflow, layers, subscriber }: ResolveInput): Promise<string> {
  const { timezone, data } = subscriber;
  const id = await newSubscriber(choice, { timezone, data, firstName: subscriber.firstName });
  if (!subscriber.active) await db.sql`update notification_subscribers set active = false where id = ${id}`;
  await putWorkflow(choice, { preferences: workflow?.preferences && fromSettings(workflow.preferences) });
  if (layers.user !== undefined) await putUser(choice, "u", layers.user);
  for (const { settings, workflowKey, topicKey, contextKeys } of layers.own) {
    await setRow(choice, id, { workflowKey, topicKey, contextKeys: [...contextKeys] }, settings);
  }
  return id;
}

test("a preview can be of any time, so that quiet hours can be tried", async () => {
  // The current time is in the quiet hours.
  const choice = { tenantId: freshTenant(), nowMs: Date.parse("2026-03-02T22:30:00Z") };
  const id = await newSubscriber(choice, { timezone: "Europe/Berlin" });
  await setRow(
    choice,
    id,
    {},
    {
      ...{ all: undefined, readOnly: false, condition: "", channels: {} },
      schedule: { mode: "skip", timezone: "", ranges: [{ days: ["mon"], start: "22:00", end: "07:00" }] },
    },
  );
  const reasonAt = async (at?: string) => {
    const { channels } = await perform(
      ...([db, choice, handlers.subscribers.previewPreferences, PreviewPreferencesRequestSchema] as const),
      { subscriberId: id, workflowKey: "w", at: at === undefined ? undefined : timestampFromDate(new Date(at)) },
    );
    return channels[0]!.reasonCode;
  };
  assert.equal(await reasonAt(), "denied_quiet_hours");
  assert.equal(await reasonAt("2026-03-02T20:59:59Z"), "allowed_default");
  assert.equal(await reasonAt("2026-03-09T21:00:00Z"), "denied_quiet_hours");
});

test("stored preferences are previewed as they are decided, and as the reference resolver decides", async () => {
  const sets = fc.sample(resolveInput, { numRuns: 500 });
  for (const given of sets) {
    // A setting for one user applies to no other.
    const user = given.userId === "u" ? given.layers.user : undefined;
    const input = { ...given, layers: { ...given.layers, user } };
    const tenantId = freshTenant();
    const choice = { tenantId, nowMs: input.nowMs };
    const id = await storeInput(choice, given);
    const { userId, topicKey, contextKeys, channels, payload } = input;
    // A request cannot express an empty list of channels.
    if (channels?.length === 0) continue;
    const { workflowKey } = input.layers;
    const previewed = await perform(
      db,
      choice,
      handlers.subscribers.previewPreferences,
      PreviewPreferencesRequestSchema,
      {
        subscriberId: id,
        workflowKey,
        userId,
        topicKey,
        contextKeys: [...contextKeys],
        channels: [...(channels ?? [])],
        payloadContext: payload as never,
      },
    );
    const production = preferences.resolve({
      ...input,
      workflow: await preferences.workflow(tenantId, workflowKey),
      layers: (await preferences.readLayers(db.sql, tenantId, { workflowKey, userId }, [id])).of(id),
      subscriber: (await subscribers.find(db.sql, tenantId, id))!,
    });
    assert.equal(previewed.resolverVersion, preferences.resolverVersion);
    const otherWorkflow = { ...input, workflow: undefined, layers: { ...input.layers, user: undefined } };
    const stored = workflowKey === "w" ? input : otherWorkflow;
    for (const { channel, allowed, reasonCode, winningLayer } of previewed.channels) {
      const decision = { allowed, reasonCode, winningLayer };
      assert.deepEqual(decision, production.get(channel as never));
      assert.deepEqual(decision, referenceResolution(stored, channel as never, testConditions));
    }
  }
});

const off: PreferenceSettings = { all: false, channels: {}, readOnly: false, condition: "" };

test("the layers of many subscribers are read in one call, each with its own rows and none of another tenant", async () => {
  const tenantId = freshTenant();
  const choice = { tenantId };
  await putWorkflow(choice, {});
  await putUser(choice, "u", off);
  const [ada, ben, eve] = await Promise.all(
    ["ada", "ben", "eve"].map((externalId) => newSubscriber(choice, { externalId })),
  );
  await setRow(choice, ada!, {}, off);
  await setRow(choice, ada!, { workflowKey: "w" }, off);
  await setRow(choice, ada!, { workflowKey: "v" }, off);
  await setRow(choice, ben!, { workflowKey: "w", topicKey: "t", contextKeys: ["a"] }, off);
  await setRow(choice, ben!, { workflowKey: "w", topicKey: "s" }, off);
  const ids = [ada!, ben!, eve!];
  const ownOf = async (
    filter: { workflowKey: string; userId: string; topicKey?: string },
    tenant: TenantId = tenantId,
  ) => {
    const layers = await preferences.readLayers(db.sql, tenant, filter, ids);
    return ids.map((id) =>
      layers
        .of(id)
        .own.map(({ layer, topicKey }) => `${layer}${topicKey}`)
        .sort(),
    );
  };
  assert.deepEqual(await ownOf({ workflowKey: "w", userId: "" }), [["3", "4"], ["5s", "5t"], []]);
  assert.deepEqual(await ownOf({ workflowKey: "w", userId: "", topicKey: "t" }), [["3", "4"], ["5t"], []]);
  assert.deepEqual(await ownOf({ workflowKey: "w", userId: "", topicKey: "" }), [["3", "4"], [], []]);
  assert.deepEqual(await ownOf({ workflowKey: "w", userId: "u" }, freshTenant()), [[], [], []]);
  const user = async (userId: string) =>
    (await preferences.readLayers(db.sql, tenantId, { workflowKey: "w", userId }, ids)).of(eve!).user;
  assert.deepEqual(await user("u"), off);
  assert.equal(await user("other"), undefined);
  assert.equal(await user(""), undefined);
});

test("rows are distinguished by context keys of the maximum length", async () => {
  const choice = { tenantId: freshTenant() };
  const ada = await newSubscriber(choice);
  const contextKeys = Array.from({ length: 50 }, (_, i) =>
    `${i}`.padEnd(128, "\u{1F511}".repeat(2) + randomBytes(40).toString("hex")),
  );
  const keys = { workflowKey: "w", topicKey: "t", contextKeys };
  const { preference } = await setRow(choice, ada, keys, off);
  const { preference: again } = await setRow(choice, ada, { ...keys, contextKeys: contextKeys.toReversed() }, off);
  assert.deepEqual([again!.id, again!.recordVersion], [preference!.id, 2n]);
  const { preference: other } = await setRow(choice, ada, { ...keys, contextKeys: contextKeys.slice(1) }, off);
  assert.notEqual(other!.id, preference!.id);
});

test("a workflow is cached until its tenant changes, and never while changes may be missed", async () => {
  const tenantId = freshTenant();
  await putWorkflow({ tenantId }, { name: "one" });
  assert.equal((await preferences.workflow(tenantId, "w"))?.name, "one");
  assert.equal(await preferences.workflow(tenantId, "none"), undefined);
  assert.ok(!(preferences.workflow(tenantId, "w") instanceof Promise));
  assert.ok(!(preferences.workflow(tenantId, "none") instanceof Promise));
  await putWorkflow({ tenantId }, { name: "two" });
  assert.equal((await preferences.workflow(tenantId, "w"))?.name, "two");
  await db.sql`update notification_workflows set name = 'three' where tenant_id = ${tenantId}`;
  assert.equal((await preferences.workflow(tenantId, "w"))?.name, "two");
  standing.fresh = false;
  assert.equal((await preferences.workflow(tenantId, "w"))?.name, "three");
  standing.fresh = true;
  await perform(
    db,
    { tenantId },
    handlers.workflows.deleteNotificationWorkflow,
    DeleteNotificationWorkflowRequestSchema,
    {
      workflowKey: "w",
    },
  );
  assert.equal(await preferences.workflow(tenantId, "w"), undefined);
});

test("the workflows that use a layout are listed in key order, up to the limit", async () => {
  const tenantId = freshTenant();
  const named = (layoutId: string) => ({ channels: { email: { body: "x" }, inApp: { body: "x", layoutId } } });
  for (const [workflowKey, layoutId] of [
    ["c", "l1"],
    ["a", "l1"],
    ["b", "l2"],
    ["d", "l1"],
  ]) {
    await putWorkflow({ tenantId }, { workflowKey, ...named(layoutId!) });
  }
  assert.deepEqual(await preferences.layoutUses(db.sql, tenantId, "l1", 10), ["a", "c", "d"]);
  assert.deepEqual(await preferences.layoutUses(db.sql, tenantId, "l1", 2), ["a", "c"]);
  assert.deepEqual(await preferences.layoutUses(db.sql, freshTenant(), "l1", 10), []);
});

test("the keys that belong to notification workflows of a tenant are found", async () => {
  const tenantId = freshTenant();
  for (const workflowKey of ["a", "b"]) await putWorkflow({ tenantId }, { workflowKey });
  assert.deepEqual(await preferences.findWorkflows(db.sql, tenantId, ["a", "b", "c"]), new Set(["a", "b"]));
  assert.deepEqual(await preferences.findWorkflows(db.sql, freshTenant(), ["a"]), new Set());
});
