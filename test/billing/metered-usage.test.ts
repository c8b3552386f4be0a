import assert from "node:assert/strict";
import { before, test } from "node:test";
import { storageUsage } from "../../src/modules/billing/meters/index.ts";
import { executionUsage } from "../../src/modules/connectors/actions/index.ts";
import { deliveryUsage } from "../../src/modules/notifications/dispatch/index.ts";
import { decisionUsage } from "../../src/modules/routing/routing/index.ts";
import type { UsageSource } from "../../src/modules/usage-source.ts";
import { runUsage } from "../../src/modules/workflows/runs/index.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { type Database, openDatabase } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { avoidMidnight } from "../harness/midnight.ts";
import { callOperation } from "../harness/wire.ts";
import { must, operationNamed } from "../matrix/calls.ts";
import { atRest, callerFor, createMatrixFixture, type MatrixFixture, requestFor } from "../matrix/fixture.ts";

let fixture: MatrixFixture;
let db: Database;
before(async () => {
  fixture = await createMatrixFixture({ "notification.outbox.enabled": "true" });
  db = openDatabase(fixture.service.databaseUrl, { maxConnections: 2 });
  afterFile(() => db.close());
});

const aroundNow = () => ({ from: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 3_600_000) });

/** The usage of a tenant in the hours around now. */
async function measured(source: UsageSource, tenantId: string): Promise<number> {
  const usage = await source.measure(db.sql, aroundNow());
  return usage.find((each) => each.tenantId === tenantId)?.quantity ?? 0;
}

const sources: readonly [source: UsageSource, operation: string][] = [
  [decisionUsage, "RoutingService/Route"],
  [deliveryUsage, "NotificationService/TriggerNotification"],
  [runUsage, "WorkflowRunService/StartWorkflowRun"],
  [executionUsage, "ConnectorActionService/ExecuteAction"],
];
for (const [source, name] of sources) {
  test(`${source.meterKey} counts the calls of ${name} of a tenant, once each, and no others`, async () => {
    const { own, foreign } = fixture;
    const operation = operationNamed(name);
    const [first, second, repeated] = [
      await requestFor(operation, own),
      await requestFor(operation, own),
      await requestFor(operation, own),
    ];
    await atRest(fixture.sql);
    const before = await measured(source, own.tenantId);
    const foreignBefore = await measured(source, foreign.tenantId);
    await must(operation, own, first);
    await atRest(fixture.sql);
    // A trigger sends on several channels.
    const perCall = (await measured(source, own.tenantId)) - before;
    assert.ok(perCall >= 1);
    await must(operation, own, second);
    for (let n = 0; n < 3; n++) {
      const headers = { "idempotency-key": "sent-again" };
      const outcome = await callOperation("REST", operation, callerFor(own, operation), repeated, headers);
      assert.equal(outcome.code, "OK", outcome.text);
    }
    await atRest(fixture.sql);
    assert.equal((await measured(source, own.tenantId)) - before, 3 * perCall);
    assert.equal(await measured(source, foreign.tenantId), foreignBefore);
    const alone = await source.measure(db.sql, { ...aroundNow(), tenantId: own.tenantId as TenantId });
    assert.deepEqual(
      alone.map(({ tenantId, quantity }) => [tenantId, quantity]),
      [[own.tenantId, before + 3 * perCall]],
    );
    const past = { from: new Date(0), until: new Date(Date.now() - 3_600_000) };
    assert.equal((await source.measure(db.sql, past)).length, 0);
  });
}

test("service.storage divides the size of the tables among the tenants", async () => {
  const { own } = fixture;
  const usage = await storageUsage.measure(db.sql, { from: new Date(0), until: new Date() });
  for (const { quantity } of usage) assert.ok(Number.isSafeInteger(quantity) && quantity >= 0);
  assert.ok(usage.find(({ tenantId }) => tenantId === own.tenantId)!.quantity > 0);
});

test("the limits of a plan are quotas, and a quota of the tenant itself takes precedence", async () => {
  await avoidMidnight();
  const { platform, own } = fixture;
  const key = `limited-${Date.now()}`;
  const terms = { currency: "EUR", interval: "INTERVAL_MONTH", limits: { "notification.trigger": "1" } };
  await must("PlanService/CreatePlan", platform, { key, name: key, terms });
  const tenant = { tenant_id: own.tenantId };
  await must("BillingSubscriptionService/SetSubscription", platform, { ...tenant, plan_key: key });
  const trigger = operationNamed("NotificationService/TriggerNotification");
  const codes: string[] = [];
  for (let n = 0; n < 3; n++) {
    codes.push((await callOperation("REST", trigger, own.admin, await requestFor(trigger, own))).code);
  }
  assert.equal(codes.at(-1), "QUOTA_EXCEEDED", codes.join());
  const quota = await must("TenantService/GetTenantQuota", own, { ...tenant, operation: "notification.trigger" });
  assert.equal(quota.body.data.limit, 1);
  const quotas = { "notification.trigger": { limit_per_day: "1000" } };
  await must("TenantService/UpdateTenant", platform, { ...tenant, quotas });
  assert.equal((await callOperation("REST", trigger, own.admin, await requestFor(trigger, own))).code, "OK");
});

test("an explicit deny also stops the calls of services on the internal plane", async () => {
  const { platform, own } = fixture;
  const tenant = { tenant_id: own.tenantId };
  const source = { kind: "KIND_OPERATOR" };
  await must("EntitlementService/IssueEntitlementSnapshot", platform, {
    ...{ ...tenant, source, deny: ["connector.execute"] },
  });
  const operation = operationNamed("ConnectorActionService/ExecuteAction");
  const outcome = await callOperation("REST", operation, own.admin, await requestFor(operation, own));
  assert.equal(outcome.code, "ENTITLEMENT_DENIED", outcome.text);
  const internal = await callOperation("REST", operation, own.service, await requestFor(operation, own));
  assert.equal(internal.code, "ENTITLEMENT_DENIED", "a service token on the internal plane is checked too");
});
