import assert from "node:assert/strict";
import { before, test } from "node:test";
import { install, type Json, type Market, publish, startMarket, type Tenant } from "./market-fixture.ts";
import { rulesPack, workflowDocument, workflowPack } from "./sample-packs.ts";

let market: Market;
before(async () => {
  market = await startMarket();
});

const partner = "partner-webhook";

/** A tenant with the pack of a connector; returns the id of the installation. */
async function withPartner(): Promise<{ readonly tenant: Tenant; readonly id: string }> {
  const tenant = await market.newTenant();
  const { id } = await install(tenant, `switchyard/${partner}`);
  return { tenant, id };
}

async function connect(tenant: Tenant): Promise<string> {
  const { id } = await tenant.ok("POST", "/api/v2/connector/connections", {
    ...{ name: "Partner", provider_key: partner, settings: { base_url: "https://partner.example.com" } },
    credentials: { api_key: "key-of-the-partner" },
  });
  return id;
}

const subscribe = (tenant: Tenant, connectionId: string, target: object) =>
  tenant.ok("POST", "/api/v2/connector/trigger-subscriptions", {
    ...{ name: "Partner events", trigger_key: `${partner}.event.received`, connection_id: connectionId, target },
    signing_secret: "secret-of-the-partner",
  });

async function publishFlow(tenant: Tenant, key: string, steps: readonly object[]): Promise<void> {
  await tenant.ok("POST", "/api/workflow-definitions", { document: { ...workflowDocument(key, ""), steps } });
  await tenant.ok("POST", `/api/workflow-definitions/${key}/publish`, {});
}

const sendStep = (connection: string) => ({
  ...{ id: "send", action: { action: `${partner}.event.send`, connection } },
  with: { type: "order", data: {} },
});

async function usedBy(tenant: Tenant, installation: string): Promise<Json> {
  const path = `/api/v2/marketplace/installations/${installation}/uninstall`;
  return (await tenant.refused("IN_USE", "POST", path, {})).used_by;
}

test("a connector stays while a workflow has a step with one of its actions", async () => {
  const { tenant, id } = await withPartner();
  await publishFlow(tenant, "sends.first", [sendStep("=input.connection")]);
  const undo = { ...sendStep("=input.connection"), id: undefined };
  await publishFlow(tenant, "sends.undo", [{ id: "one", transform: {}, compensate: undo }]);
  assert.deepEqual(await usedBy(tenant, id), [
    { what: "workflow definition", name: "sends.first" },
    { what: "workflow definition", name: "sends.undo" },
  ]);
  for (const key of ["sends.first", "sends.undo"]) {
    await tenant.ok("POST", `/api/workflow-definitions/${key}/archive`, {});
  }
  await tenant.ok("POST", `/api/v2/marketplace/installations/${id}/uninstall`, {});
});

test("a connector stays while a recipient gets its items by one of its actions", async () => {
  const { tenant, id } = await withPartner();
  const pool = await tenant.ok("POST", "/api/pools", { name: "Partners" });
  const action = { key: `${partner}.event.send`, connection_id: "later", input: { type: "a", data: {} } };
  await tenant.ok("POST", `/api/pools/${pool.id}/recipients`, {
    ...{ name: "Partner", delivery: { mode: "MODE_PUSH", action } },
  });
  assert.deepEqual(await usedBy(tenant, id), [{ what: "recipient", name: "Partner" }]);
});

test("packs stay while a trigger subscription uses their connector, workflow or pool, and it is named", async () => {
  const { tenant, id } = await withPartner();
  const publisher = market.newPublisher();
  await publish(tenant, publisher, workflowPack(publisher, "one"), rulesPack(publisher, 1));
  const flow = await install(tenant, `${publisher.name}/sample-workflow`);
  const rules = await install(tenant, `${publisher.name}/sample-rules`);
  const connection = await connect(tenant);
  const made = [
    await subscribe(tenant, connection, { workflow: { definition: "sample.flow" } }),
    await subscribe(tenant, connection, { route: { pool: "Sample pool" } }),
  ];
  const use = { what: "trigger subscription", name: "Partner events" };
  assert.deepEqual(await usedBy(tenant, flow.id), [use]);
  assert.deepEqual(await usedBy(tenant, rules.id), [use]);
  const uses = await usedBy(tenant, id);
  assert.deepEqual(
    uses.filter(({ what }: Json) => what === "trigger subscription"),
    [use, use],
  );
  for (const each of made) await tenant.ok("DELETE", `/api/v2/connector/trigger-subscriptions/${each.id}`);
  await tenant.ok("POST", `/api/v2/marketplace/installations/${flow.id}/uninstall`, {});
});

test("an exported workflow names the connections of its action steps as slots of their provider", async () => {
  const { tenant } = await withPartner();
  const connection = await connect(tenant);
  await publishFlow(tenant, "my.sender", [
    sendStep(connection),
    { id: "text", transform: { action: { connection: "kept" }, route: { pool: "kept" } } },
    { id: "undone", transform: {}, compensate: { ...sendStep(connection), id: undefined } },
    { ...sendStep("=input.connection"), id: "given" },
  ]);
  const head = { publisher: "acme", name: "exported", version: "1.0.0", title: "Exported" };
  const { pack } = await tenant.ok("POST", "/api/v2/marketplace/packs:export", {
    ...{ ...head, records: [{ kind: "workflow_definition", record: "my.sender" }] },
  });
  assert.deepEqual(pack.slots, [
    { name: "connection", kind: "connection", title: "Connection", provider_key: partner },
  ]);
  const [first, text, undone, given] = pack.contents[0].content.steps;
  assert.equal(first.action.connection, "[[slot.connection]]");
  assert.deepEqual(text.transform, { action: { connection: "kept" }, route: { pool: "kept" } });
  assert.equal(undone.compensate.action.connection, "[[slot.connection]]");
  assert.equal(given.action.connection, "=input.connection");
  assert.ok(!JSON.stringify(pack).includes(connection));
});
