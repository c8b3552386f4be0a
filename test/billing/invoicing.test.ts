import assert from "node:assert/strict";
import { test } from "node:test";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
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
const dayMs = 24 * hourMs;

/** What the service has done for tenants, and when. */
let done: (TenantUsage & { readonly atMs: number })[] = [];
const source: UsageSource = {
  meterKey: "service.deliveries",
  kind: "count",
  async measure(_sql, { from, until, tenantId }) {
    const found = done.filter(({ atMs }) => atMs >= from.getTime() && atMs < until.getTime());
    const byTenant = Map.groupBy(found, (each) => each.tenantId);
    const all = Array.from(byTenant, ([id, each]) => ({ tenantId: id, quantity: sumOf(each) }));
    return all.filter((each) => tenantId === undefined || each.tenantId === tenantId);
  },
};
const sumOf = (usage: readonly TenantUsage[]) => usage.reduce((sum, { quantity }) => sum + quantity, 0);
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

test("the service's own usage is billed by its time, when a subscription starts, changes, renews and ends within a window", async () => {
  const startMs = clock.nowMs;
  const [tenantId, other] = [freshTenant(), freshTenant()];
  const price = { key: "usage", name: "Usage", model: Price_Model.PER_UNIT, meterKey: "service.deliveries" };
  const plans = [
    await newPlan({ prices: [{ ...price, amount: 13n }] }),
    await newPlan({ prices: [{ ...price, amount: 1000n }] }),
  ];
  // Nothing is collected before the subscriptions start.
  clock.nowMs = startMs + 2 * minuteMs + 123;
  const { periodEnd } = await subscribe(tenantId, plans[0]!);
  await subscribe(other, plans[0]!);
  const [beganMs, renewedMs] = [clock.nowMs, timestampMs(periodEnd!)];
  const [changedMs, canceledMs] = [beganMs + minuteMs, renewedMs + minuteMs];
  clock.nowMs = changedMs;
  await subscribe(tenantId, plans[1]!);
  done = [
    { tenantId, quantity: 1_000_000, atMs: beganMs - 1 },
    { tenantId, quantity: 60, atMs: beganMs },
    { tenantId, quantity: 1, atMs: changedMs - 1 },
    { tenantId, quantity: 2, atMs: changedMs },
    { tenantId, quantity: 3, atMs: renewedMs - 1 },
    { tenantId, quantity: 4, atMs: renewedMs },
    { tenantId, quantity: 5, atMs: canceledMs - 1 },
    { tenantId, quantity: 1_000_000, atMs: canceledMs },
    { tenantId: other, quantity: 7, atMs: beganMs },
    { tenantId: other, quantity: 8, atMs: changedMs },
  ];
  clock.nowMs = canceledMs;
  await cancel(tenantId);
  clock.nowMs = renewedMs + 32 * dayMs;
  await runJobs();
  const totals = async (of: typeof tenantId) => (await issuedTo(of)).map(({ total }) => total).toReversed();
  assert.deepEqual(await totals(tenantId), [61n * 13n + 5n * 1000n, 9n * 1000n]);
  assert.deepEqual(await totals(other), [15n * 13n, 0n]);
  clock.nowMs = startMs;
});

test("a window that was counted before a change in it was committed is divided when it is counted again", async () => {
  const startMs = clock.nowMs;
  const tenantId = freshTenant();
  const price = { key: "usage", name: "Usage", model: Price_Model.PER_UNIT, meterKey: "service.deliveries" };
  clock.nowMs = Date.UTC(2026, 6, 1, 12, 1);
  await subscribe(tenantId, await newPlan({ prices: [{ ...price, amount: 1n }] }));
  const changedMs = clock.nowMs + minuteMs;
  done = [
    { tenantId, quantity: 5, atMs: changedMs - 1 },
    { tenantId, quantity: 7, atMs: changedMs },
  ];
  clock.nowMs += 10 * minuteMs;
  await node.collector.collect(clock.nowMs, never);
  assert.equal((await previewOf(tenantId)).total, 12n);
  clock.nowMs = changedMs;
  await subscribe(tenantId, await newPlan({ prices: [{ ...price, amount: 100n }] }));
  clock.nowMs += 30 * minuteMs;
  await node.collector.collect(clock.nowMs, never);
  assert.equal((await previewOf(tenantId)).total, 5n + 700n);
  clock.nowMs = startMs;
});

test("the storage of a day is billed in every period and segment that has a part of the day", async () => {
  const startMs = clock.nowMs;
  const tenantId = freshTenant();
  const price = { key: "bytes", name: "Bytes", model: Price_Model.PER_UNIT, meterKey: "service.storage" };
  clock.nowMs = Date.UTC(2026, 7, 1, 12);
  const { periodEnd } = await subscribe(tenantId, await newPlan({ prices: [{ ...price, amount: 1n }] }));
  const measurements = [
    [0, 500],
    [10, 20],
    [31, 30],
    [32, 4000],
  ] as const;
  for (const [day, bytes] of measurements) {
    await db.sql`
      insert into billing_service_usage (tenant_id, meter_key, window_start, quantity)
      values (${tenantId}, 'service.storage', ${new Date(Date.UTC(2026, 7, 1 + day))}, ${bytes})`;
  }
  clock.nowMs += 2 * dayMs;
  await subscribe(tenantId, await newPlan({ prices: [{ ...price, amount: 100n }] }));
  clock.nowMs = timestampMs(periodEnd!) + 6 * hourMs;
  await cancel(tenantId);
  assert.equal(
    (await previewOf(tenantId, Date.UTC(2026, 7, 1, 12))).total,
    500n + 3000n,
    "from August 1 to noon of September 1",
  );
  assert.equal((await previewOf(tenantId)).total, 3000n, "the afternoon of September 1");
  clock.nowMs = startMs;
});

test("the invoiced period of a canceled subscription stays invoiced when the tenant subscribes again", async () => {
  const startMs = clock.nowMs;
  const tenantId = freshTenant();
  const meterKey = await newMeter();
  const planKey = await newPlan({ prices: [flat(100n)] });
  const { periodEnd } = await subscribe(tenantId, planKey);
  const at = timestampFromMs(clock.nowMs);
  await cancel(tenantId);
  clock.nowMs = msOf(periodEnd) + 2 * hourMs;
  await runJobs();
  await subscribe(tenantId, planKey);
  const { rejected } = await record(tenantId, [{ meterKey, transactionId: "late", at }]);
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    ["period_invoiced"],
  );
  const [closed] = await db.sql`select from billing_periods where tenant_id = ${tenantId} and state = 'closed'`;
  assert.equal(closed, undefined);
  clock.nowMs = startMs;
});
