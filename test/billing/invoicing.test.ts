import assert from "node:assert/strict";
import { test } from "node:test";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { BillingSubscription_Status, Effective } from "../../gen/service/api/billing_subscription_pb.ts";
import { Meter_Aggregation } from "../../gen/service/api/meter_pb.ts";
import { Price_Model } from "../../gen/service/api/plan_pb.ts";
import type { TenantUsage, UsageSource } from "../../src/modules/usage-source.ts";
import { failsWith, freshTenant, testDatabase } from "../harness/context.ts";
import { billingCalls, flat, msOf } from "./billing-calls.ts";
import { billingFixture } from "./billing-fixture.ts";

const db = await testDatabase();
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** What the service has done for tenants, and when. */
let done: (TenantUsage & { readonly atMs: number })[] = [];
const source: UsageSource = {
  meterKey: "service.deliveries",
  kind: "count",
  measure: async (_sql, { from, until }) => done.filter(({ atMs }) => atMs >= from.getTime() && atMs < until.getTime()),
};
const fixture = billingFixture(db, [source]);
const { node, clock, never } = fixture;
const { newPlan, newMeter, subscribe, cancel, record, previewOf, issuedTo, runJobs, usageOf } = billingCalls(fixture);

test("a canceled subscription starts again with the plan that is scheduled for the end of its period", async () => {
  const tenantId = freshTenant();
  const next = await newPlan({ prices: [flat(700n)], limits: { route: 7n } });
  await subscribe(tenantId, await newPlan({ prices: [flat(100n)] }));
  await cancel(tenantId);
  const scheduled = await subscribe(tenantId, next, { effective: Effective.PERIOD_END });
  assert.equal(scheduled.status, BillingSubscription_Status.CANCELED);
  assert.equal(scheduled.scheduled!.planKey, next);
  clock.nowMs = msOf(scheduled.periodEnd) + 1;
  await runJobs();
  const { total, periodStart } = await previewOf(tenantId);
  assert.deepEqual([total, msOf(periodStart)], [700n, msOf(scheduled.periodEnd)]);
  assert.deepEqual(await node.readLimits(tenantId), { route: 7 });
});

test("an invoice that cannot be issued does not keep other tenants from getting theirs", async () => {
  const [large, other] = [freshTenant(), freshTenant()];
  const meterKey = await newMeter();
  const price = { key: "usage", name: "Usage", model: Price_Model.PER_UNIT, amount: 1_000_000n, meterKey };
  const planKey = await newPlan({ prices: [price] });
  const { periodEnd } = await subscribe(large, planKey);
  const quantity = 1_000_000_000_000_000n;
  await record(large, [{ meterKey, transactionId: "huge", quantity }]);
  await assert.rejects(previewOf(large), failsWith("FAILED_PRECONDITION", /too large/));
  // It ends later, so that it comes after the other one.
  clock.nowMs += 1000;
  await subscribe(other, planKey);
  await record(other, [{ meterKey, transactionId: "small", quantity: 2n }]);
  clock.nowMs = msOf(periodEnd) + 2 * hourMs;
  await runJobs();
  assert.deepEqual(
    (await issuedTo(other)).map(({ total }) => total),
    [2_000_000n],
  );
  assert.deepEqual(await issuedTo(large), []);
});

test("invoices are previewed at the same time with as few connections as calls", async () => {
  const few = await testDatabase(1);
  const alone = billingFixture(few);
  const calls = billingCalls(alone);
  const tenantId = freshTenant();
  await calls.subscribe(tenantId, await calls.newPlan({ prices: [flat(100n)] }));
  const previews = await Promise.all([calls.previewOf(tenantId), calls.previewOf(tenantId)]);
  assert.deepEqual(
    previews.map(({ total }) => total),
    [100n, 100n],
  );
});

test("a period with many changes of its plan is charged like their usage, and their number is bounded", async () => {
  const tenantId = freshTenant();
  const sums = await newMeter();
  const uniques = await newMeter(Meter_Aggregation.UNIQUE_COUNT, { valuePath: "user" });
  const priceOf = (meterKey: string) => ({ key: meterKey, name: "Usage", model: Price_Model.PER_UNIT, meterKey });
  const deliveries = { ...priceOf("service.deliveries"), amount: 1n };
  const plans = [
    await newPlan({ prices: [{ ...priceOf(sums), amount: 1n }, deliveries] }),
    await newPlan({
      prices: [
        { ...priceOf(sums), amount: 10n },
        { ...priceOf(uniques), amount: 1000n },
      ],
    }),
  ];
  const startMs = clock.nowMs;
  for (let n = 0; n < 100; n++) {
    await subscribe(tenantId, plans[n % 2]!);
    const events = [1, 2].map((user) => ({
      ...{ meterKey: uniques, transactionId: `${n} ${user}`, properties: { user: "same" } },
    }));
    await record(tenantId, [{ meterKey: sums, transactionId: `${n}`, quantity: 2n }, ...events]);
    clock.nowMs += 1000;
  }
  // Half of the segments have the price 1 and half have 10, and each of the latter counts its user once.
  assert.equal((await previewOf(tenantId)).total, 50n * 2n + 50n * 20n + 50n * 1000n);
  await assert.rejects(subscribe(tenantId, plans[0]!), failsWith("FAILED_PRECONDITION", /EFFECTIVE_PERIOD_END/));
  await subscribe(tenantId, plans[0]!, { effective: Effective.PERIOD_END });
  clock.nowMs = startMs;
});

test("usage of a window that is gone when the window is counted again is not charged", async () => {
  const [tenantId, other] = [freshTenant(), freshTenant()];
  await node.collector.collect(clock.nowMs, never);
  const atMs = clock.nowMs;
  done = [
    { tenantId, quantity: 5, atMs },
    { tenantId: other, quantity: 3, atMs },
  ];
  clock.nowMs += 7 * minuteMs;
  await node.collector.collect(clock.nowMs, never);
  const quantity = async (of: typeof tenantId) => (await usageOf(of, "service.deliveries")).usage[0]?.quantity ?? 0n;
  assert.deepEqual([await quantity(tenantId), await quantity(other)], [5n, 3n]);
  done = done.filter((each) => each.tenantId === other);
  clock.nowMs += 30 * minuteMs;
  await node.collector.collect(clock.nowMs, never);
  assert.deepEqual([await quantity(tenantId), await quantity(other)], [0n, 3n]);
});

test("a change of the plan by a node whose clock was set back charges no time twice", async () => {
  const tenantId = freshTenant();
  const meterKey = await newMeter();
  const unitPrice = { key: "usage", name: "Usage", model: Price_Model.PER_UNIT, amount: 1n, meterKey };
  const plans = [await newPlan({ prices: [unitPrice] }), await newPlan({ prices: [unitPrice] })];
  const startMs = clock.nowMs;
  await subscribe(tenantId, plans[0]!);
  clock.nowMs = startMs + 10 * hourMs;
  await subscribe(tenantId, plans[1]!);
  await record(tenantId, [
    { meterKey, transactionId: "one", quantity: 10n, at: timestampFromMs(startMs + 7 * hourMs) },
  ]);
  clock.nowMs = startMs + 5 * hourMs;
  await subscribe(tenantId, plans[0]!);
  clock.nowMs = startMs + 11 * hourMs;
  assert.equal((await previewOf(tenantId)).total, 10n);
  clock.nowMs = startMs;
});
