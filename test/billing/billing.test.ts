import assert from "node:assert/strict";
import { test } from "node:test";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  Effective,
  PreviewSubscriptionRequestSchema,
  type PreviewSubscriptionResponse,
  SetSubscriptionRequestSchema,
} from "../../gen/service/api/billing_subscription_pb.ts";
import {
  EntitlementSource_Kind,
  GetEntitlementsRequestSchema,
  type GetEntitlementsResponse,
  IssueEntitlementSnapshotRequestSchema,
} from "../../gen/service/api/entitlement_pb.ts";
import type { Invoice } from "../../gen/service/api/invoice_pb.ts";
import { GetUsageRequestSchema, type GetUsageResponse, Meter_Aggregation } from "../../gen/service/api/meter_pb.ts";
import {
  CreatePlanVersionRequestSchema,
  type CreatePlanVersionResponse,
  PlanTerms_Interval,
  Price_Model,
} from "../../gen/service/api/plan_pb.ts";
import type { UsageSource } from "../../src/modules/usage-source.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { failsWith, freshTenant, testDatabase } from "../harness/context.ts";
import { fc } from "../harness/random.ts";
import { sized } from "../harness/run-size.ts";
import { billingCalls, flat, monthly, msOf } from "./billing-calls.ts";
import { billingFixture } from "./billing-fixture.ts";

const db = await testDatabase();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The rows that a source of usage counts, as areas do: by the time of their ids. */
const rows: { tenantId: TenantId; atMs: number }[] = [];
const source: UsageSource = {
  meterKey: "service.routes",
  kind: "count",
  async measure(_sql, { from, until, tenantId: only }) {
    const counts = new Map<TenantId, number>();
    for (const { tenantId, atMs } of rows.filter((row) => only === undefined || row.tenantId === only)) {
      if (atMs >= from.getTime() && atMs < until.getTime()) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    }
    return Array.from(counts, ([tenantId, quantity]) => ({ tenantId, quantity }));
  },
};
const fixture = billingFixture(db, [source]);
const { node, newNode, clock, events, call, platformTenantId, never } = fixture;
const { handlers } = node;
const plans = handlers["service.api.PlanService"];
const meters = handlers["service.api.MeterService"];
const subscriptions = handlers["service.api.BillingSubscriptionService"];
const entitlements = handlers["service.api.EntitlementService"];

const { newPlan, newMeter, subscribe, cancel, record, usageOf, previewOf, issuedTo, runJobs } = billingCalls(fixture);

/** What an invoice says about money. */
const moneyOf = ({ currency, lines, total, periodStart, periodEnd }: Invoice) => ({
  ...{ currency, lines, total, periodStart, periodEnd },
});

test("usage that is sent twice counts once: in one call, in later calls and in concurrent ones", async () => {
  const tenantId = freshTenant();
  const meterKey = await newMeter();
  const reports = Array.from({ length: 100 }, (_, n) => ({ meterKey, transactionId: `t${n}`, quantity: 7n }));
  const once = await record(tenantId, [...reports, ...reports.slice(0, 10)]);
  assert.deepEqual([once.recorded, once.duplicates], [100, 10]);
  const more = Array.from({ length: 200 }, (_, n) => ({ meterKey, transactionId: `t${n}`, quantity: 7n }));
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => record(tenantId, n % 2 === 0 ? more : more.toReversed())),
  );
  assert.equal(
    answers.reduce((sum, { recorded }) => sum + recorded, 0),
    100,
  );
  assert.equal((await usageOf(tenantId, meterKey)).usage[0]!.quantity, 1400n);
  assert.deepEqual((await usageOf(freshTenant(), meterKey)).usage, [], "another tenant has none");
});

test("a transaction id that is used again with another content is a conflict, and nothing of its call is recorded", async () => {
  const tenantId = freshTenant();
  const meterKey = await newMeter(Meter_Aggregation.SUM, { groupBy: ["region"] });
  const at = timestampFromMs(clock.nowMs);
  const first = { meterKey, transactionId: "t1", quantity: 7n, properties: { region: "eu" }, at };
  const repeated = { ...first, properties: { ...first.properties, note: "not of the meter" } };
  const other = { ...first, transactionId: "t2" };
  await record(tenantId, [first]);
  const conflicts = [
    { ...first, quantity: 8n },
    { ...first, properties: { region: "us" } },
    { ...first, at: timestampFromMs(clock.nowMs - 1) },
    { ...first, at: timestampFromMs(clock.nowMs + dayMs) },
  ];
  for (const conflict of conflicts) {
    const isConflict = failsWith("TRANSACTION_ID_REUSED", /events\[1\]\.transaction_id/);
    await assert.rejects(record(tenantId, [other, conflict]), isConflict);
    await assert.rejects(record(freshTenant(), [first, conflict]), isConflict, "in one call");
  }
  clock.nowMs += 1000;
  const { recorded, duplicates } = await record(tenantId, [repeated, { ...first, at: undefined } as never, other]);
  assert.deepEqual([recorded, duplicates], [1, 2]);
  const calls = await Promise.allSettled(
    [3n, 4n].map((quantity) => record(tenantId, [{ ...other, transactionId: "t3", quantity }])),
  );
  assert.deepEqual(calls.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assert.equal((await usageOf(tenantId, meterKey)).usage[0]!.events, 3n);
  clock.nowMs -= 1000;
});

test("meters aggregate as they say, by integers only, and break usage down by properties", async () => {
  const tenantId = freshTenant();
  const cases: readonly [Meter_Aggregation, bigint][] = [
    [Meter_Aggregation.SUM, 60n],
    [Meter_Aggregation.COUNT, 4n],
    [Meter_Aggregation.MAX, 30n],
    [Meter_Aggregation.LAST, 10n],
    [Meter_Aggregation.UNIQUE_COUNT, 3n],
  ];
  for (const [aggregation, quantity] of cases) {
    const meterKey = await newMeter(aggregation, { valuePath: "size", groupBy: ["region"] });
    const reports = [10, 20, 30, 10].map((size, n) => ({
      ...{ meterKey, transactionId: `t${n}`, at: timestampFromMs(clock.nowMs - 4000 + n * 1000) },
      properties: { size: String(size), region: n < 2 ? "eu" : "us" },
    }));
    // The sum of 10, 20, 30 and 10 is 70; the last one is reported as 0 for the sum.
    if (aggregation === Meter_Aggregation.SUM) reports[3]!.properties.size = "0";
    await record(tenantId, reports);
    const [usage] = (await usageOf(tenantId, meterKey)).usage;
    assert.equal(usage!.quantity, quantity, `aggregation ${aggregation}`);
    assert.deepEqual(usage!.groups.map(({ properties }) => properties.region).sort(), ["eu", "us"]);
  }
  const meterKey = await newMeter(Meter_Aggregation.SUM, { valuePath: "size" });
  for (const size of ["1.5", "-1", "1e3", "", "99999999999999999"]) {
    const report = { meterKey, transactionId: "x", properties: { size } };
    await assert.rejects(record(tenantId, [report]), failsWith("INVALID_ARGUMENT", /integer/), size);
  }
});

test("usage of the service's own meters, of archived and of unknown meters is rejected as a whole", async () => {
  const tenantId = freshTenant();
  const meterKey = await newMeter();
  for (const bad of ["service.routes", "no-such-meter"]) {
    const reports = [
      { meterKey, transactionId: "good" },
      { meterKey: bad, transactionId: "bad" },
    ];
    await assert.rejects(record(tenantId, reports), failsWith("INVALID_ARGUMENT", /events\[1\]\.meter_key/));
  }
  assert.deepEqual((await usageOf(tenantId, meterKey)).usage, []);
});

test("versions of plans never change, and a subscription keeps its version", async () => {
  const tenantId = freshTenant();
  const planKey = await newPlan({ prices: [flat(1000n)] });
  await subscribe(tenantId, planKey);
  const { version } = await call<typeof CreatePlanVersionRequestSchema, CreatePlanVersionResponse>(
    ...[platformTenantId, plans.createPlanVersion, CreatePlanVersionRequestSchema],
    { planKey, terms: { ...monthly, prices: [flat(9000n)] } },
    true,
  );
  assert.equal(version!.version, 2);
  assert.equal((await previewOf(tenantId)).total, 1000n);
});

test("plans with prices that contradict themselves are rejected with the field", async () => {
  const cases: readonly [string, object][] = [
    ["terms.prices[0].meter_key", { ...flat(1n), meterKey: "service.routes" }],
    ["terms.prices[0].meter_key", { key: "u", model: Price_Model.PER_UNIT }],
    ["terms.prices[0].meter_key", { key: "u", model: Price_Model.PER_UNIT, meterKey: "no-such-meter" }],
    ["terms.prices[0].tiers", { key: "u", model: Price_Model.VOLUME, meterKey: "service.runs", tiers: [] }],
    [
      "terms.prices[0].tiers",
      { key: "u", model: Price_Model.GRADUATED, meterKey: "service.runs", tiers: [{ upTo: 5n }, { upTo: 5n }, {}] },
    ],
  ];
  for (const [field, price] of cases) {
    const escaped = field.replaceAll(/[[\].]/g, "\\$&");
    await assert.rejects(newPlan({ prices: [price as never] }), failsWith("INVALID_ARGUMENT", new RegExp(escaped)));
  }
});

test("a tenant subscribes itself to self-service plans only, and sets no overrides", async () => {
  const tenantId = freshTenant();
  const closed = await newPlan({}, false);
  await assert.rejects(subscribe(tenantId, closed), failsWith("PERMISSION_DENIED"));
  const request = { planKey: await newPlan(), overrides: { allow: ["everything"] } };
  await assert.rejects(
    call(tenantId, subscriptions.setSubscription, SetSubscriptionRequestSchema, request),
    failsWith("PERMISSION_DENIED"),
  );
  const other = { planKey: await newPlan(), tenantId: freshTenant() };
  await assert.rejects(
    call(tenantId, subscriptions.setSubscription, SetSubscriptionRequestSchema, other),
    failsWith("NOT_FOUND"),
  );
});

test("a change within the period is charged in proportion, and its preview says what it costs", async () => {
  const tenantId = freshTenant();
  const startMs = clock.nowMs;
  const small = await newPlan({ prices: [flat(3100n)] });
  const large = await newPlan({ prices: [flat(6200n)] });
  const { periodEnd } = await subscribe(tenantId, small);
  assert.equal(new Date(msOf(periodEnd)).toISOString(), "2026-02-28T12:00:00.000Z", "January 31 plus a month");
  clock.nowMs = startMs + 14 * dayMs;
  const preview = await call<typeof PreviewSubscriptionRequestSchema, PreviewSubscriptionResponse>(
    ...[tenantId, subscriptions.previewSubscription, PreviewSubscriptionRequestSchema, { planKey: large }],
  );
  // The period has 28 days.
  assert.deepEqual([preview.unchanged!.total, preview.changed!.total, preview.difference], [3100n, 4650n, 1550n]);
  assert.equal((await previewOf(tenantId)).total, 3100n, "a preview changes nothing");
  await subscribe(tenantId, large);
  const changed = await previewOf(tenantId);
  assert.equal(changed.total, 4650n);
  assert.deepEqual(
    changed.lines.map(({ planKey, amount }) => [planKey, amount]),
    [
      [small, 1550n],
      [large, 3100n],
    ],
  );
  clock.nowMs = startMs;
});

test("a plan with another currency or length can only start with the next period", async () => {
  const tenantId = freshTenant();
  const startMs = clock.nowMs;
  await subscribe(tenantId, await newPlan({ prices: [flat(100n)] }));
  const yearly = await newPlan({ currency: "USD", interval: PlanTerms_Interval.YEAR, prices: [flat(999n)] });
  await assert.rejects(subscribe(tenantId, yearly), failsWith("FAILED_PRECONDITION", /EFFECTIVE_PERIOD_END/));
  const scheduled = await subscribe(tenantId, yearly, { effective: Effective.PERIOD_END });
  assert.equal(scheduled.scheduled!.planKey, yearly);
  clock.nowMs = msOf(scheduled.periodEnd) + 1;
  await runJobs();
  const draft = await previewOf(tenantId);
  assert.deepEqual([draft.currency, draft.total], ["USD", 999n]);
  assert.equal(msOf(draft.periodEnd) - msOf(draft.periodStart), 365 * dayMs);
  clock.nowMs = startMs;
});

test("the invoice of a period equals its last preview, whatever happened in the period, and is issued once", async () => {
  const startMs = clock.nowMs;
  const meterKey = await newMeter();
  const usage = (model: Price_Model) => ({ key: "usage", name: "Usage", model, meterKey, included: 10n });
  const tiers = [
    { upTo: 50n, amount: 7n, perUnits: 3n },
    { amount: 2n, flatAmount: 100n },
  ];
  const choices = [
    await newPlan({ prices: [flat(1999n)] }),
    await newPlan({ prices: [flat(333n), { ...usage(Price_Model.PER_UNIT), amount: 7n, perUnits: 1000n }] }),
    await newPlan({ prices: [flat(1n), { ...usage(Price_Model.PACKAGE), amount: 50n, perUnits: 9n }] }),
    await newPlan({ prices: [{ ...usage(Price_Model.GRADUATED), tiers }] }),
    await newPlan({ prices: [{ ...usage(Price_Model.VOLUME), tiers }] }),
  ];
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 4 * dayMs }),
    action: fc.constantFrom("usage", "usage", "plan", "cancel"),
    plan: fc.nat({ max: choices.length - 1 }),
    quantity: fc.bigInt({ min: 0n, max: 1000n }),
  });
  const property = fc.asyncProperty(
    fc.nat({ max: choices.length - 1 }),
    fc.array(step, { maxLength: 10 }),
    async (first, steps) => {
      clock.nowMs = startMs;
      const tenantId = freshTenant();
      const { periodEnd } = await subscribe(tenantId, choices[first]!);
      for (const [at, { afterMs, action, plan, quantity }] of steps.entries()) {
        if (clock.nowMs + afterMs >= msOf(periodEnd)) break;
        clock.nowMs += afterMs;
        if (action === "plan") await subscribe(tenantId, choices[plan]!);
        else if (action === "usage") await record(tenantId, [{ meterKey, transactionId: `t${at}`, quantity }]);
        else {
          await cancel(tenantId).catch(failsWith("FAILED_PRECONDITION"));
        }
      }
      const preview = await previewOf(tenantId, startMs);
      assert.equal(
        preview.total,
        preview.lines.reduce((sum, { amount }) => sum + amount, 0n),
      );
      // The collector must have counted the service's own usage before the invoice is issued.
      clock.nowMs = msOf(periodEnd) + 2 * hourMs;
      await runJobs();
      const nodes = [newNode(), newNode(), node];
      await Promise.all(nodes.map((each) => runJobs(each)));
      const issued = (await issuedTo(tenantId)).filter((invoice) => msOf(invoice.periodStart) === startMs);
      assert.equal(issued.length, 1);
      assert.deepEqual(moneyOf(issued[0]!), moneyOf(preview));
    },
  );
  await fc.assert(property, { numRuns: sized(12, 100) });
  clock.nowMs = startMs;
});

test("usage of an invoiced period is rejected, unless it was recorded before; a closed period still takes late usage", async () => {
  const startMs = clock.nowMs;
  const tenantId = freshTenant();
  const meterKey = await newMeter();
  const unitPrice = { key: "usage", name: "Usage", model: Price_Model.PER_UNIT, amount: 5n, meterKey };
  const { periodEnd } = await subscribe(tenantId, await newPlan({ prices: [unitPrice] }));
  const early = { meterKey, transactionId: "early", quantity: 2n, at: timestampFromMs(startMs + 1000) };
  await record(tenantId, [early]);
  clock.nowMs = msOf(periodEnd) + 60_000;
  await runJobs();
  const late = { ...early, transactionId: "late", quantity: 3n };
  assert.equal((await record(tenantId, [late])).recorded, 1);
  assert.deepEqual(await issuedTo(tenantId), [], "usage can still be late");
  clock.nowMs = msOf(periodEnd) + 2 * hourMs;
  await runJobs();
  assert.equal((await issuedTo(tenantId))[0]!.total, 25n);
  const { recorded, duplicates, rejected } = await record(tenantId, [
    early,
    late,
    { ...early, transactionId: "later" },
  ]);
  assert.deepEqual([recorded, duplicates], [0, 2]);
  assert.deepEqual(
    rejected.map(({ transactionId, reason }) => [transactionId, reason]),
    [["later", "period_invoiced"]],
  );
  const issued = events.recorded.filter(
    ({ type, tenantId: of }) => type === "billing.invoice.issued" && of !== undefined,
  );
  assert.ok(issued.some(({ data }) => data.total === "25" && data.currency === "EUR"));
  clock.nowMs = startMs;
});

test("the service's own usage counts once, across nodes, crashes and repeats, and late commits are included", async () => {
  const startMs = clock.nowMs;
  clock.nowMs = Date.UTC(2026, 3, 1);
  const tenantId = freshTenant();
  const quantity = async () => {
    const since = timestampFromMs(Date.UTC(2026, 3, 1));
    const until = timestampFromMs(clock.nowMs);
    const { usage } = await call<typeof GetUsageRequestSchema, GetUsageResponse>(
      ...[tenantId, meters.getUsage, GetUsageRequestSchema, { meterKey: "service.routes", since, until }],
    );
    return usage[0]?.quantity ?? 0n;
  };
  await node.collector.collect(clock.nowMs, never);
  for (let n = 0; n < 40; n++) rows.push({ tenantId, atMs: Date.UTC(2026, 3, 1) + n * 60_000 });
  // A node dies after it has counted a window and before the commit.
  const dying = billingFixture(db, [
    {
      ...source,
      async measure(sql, window) {
        await source.measure(sql, window);
        throw new Error("the node dies");
      },
    },
  ]).node;
  clock.nowMs += 41 * 60_000;
  await assert.rejects(dying.collector.collect(clock.nowMs, never), /the node dies/);
  assert.equal(await quantity(), 0n);
  const nodes = [newNode(), newNode(), newNode()];
  await Promise.all([...nodes, ...nodes].map(({ collector }) => collector.collect(clock.nowMs, never)));
  assert.equal(await quantity(), 40n);
  // This call was made in a counted window and committed later, before the window was settled.
  rows.push({ tenantId, atMs: Date.UTC(2026, 3, 1) + 38 * 60_000 });
  clock.nowMs += 20 * 60_000;
  await Promise.all(nodes.map(({ collector }) => collector.collect(clock.nowMs, never)));
  await node.collector.collect(clock.nowMs, never);
  assert.equal(await quantity(), 41n);
  clock.nowMs = startMs;
});

test("a subscription grants what its plan and its overrides say, and a denied item is never allowed", async () => {
  const tenantId = freshTenant();
  const planKey = await newPlan({ entitlements: ["a", "b"], limits: { route: 100n, "workflow.run": 5n } });
  const overrides = { allow: ["c"], deny: ["a"], limits: { route: 200n } };
  await subscribe(tenantId, planKey, { overrides });
  const current = async () => {
    const response = await call<typeof GetEntitlementsRequestSchema, GetEntitlementsResponse>(
      ...[tenantId, entitlements.getEntitlements, GetEntitlementsRequestSchema, {}],
    );
    return response.snapshot!;
  };
  const granted = await current();
  assert.deepEqual([granted.allow, granted.deny], [["b", "c"], ["a"]]);
  assert.deepEqual(granted.limits, { route: 200n, "workflow.run": 5n });
  assert.equal(granted.source!.ref, `${planKey}@1`);
  assert.deepEqual(await node.readLimits(tenantId), { route: 200, "workflow.run": 5 });
  await cancel(tenantId);
  assert.deepEqual([(await current()).allow, (await current()).deny], [[], ["a"]]);
  assert.deepEqual(await node.readLimits(tenantId), { route: 200, "workflow.run": 5 }, "a cancellation lifts no limit");
});

test("entitlements that an operator controls are not replaced by a change of the plan, until the operator returns them", async () => {
  const tenantId = freshTenant();
  await subscribe(tenantId, await newPlan({ entitlements: ["a"] }));
  const issue = (request: object) =>
    call(
      ...([tenantId, entitlements.issueEntitlementSnapshot, IssueEntitlementSnapshotRequestSchema] as const),
      request as never,
      true,
    );
  const kindOf = async () => {
    const [row] = await db.sql<{ kind: string; deny: string[] }[]>`
      select source_kind as kind, deny from entitlement_snapshots where tenant_id = ${tenantId} order by version desc limit 1`;
    return [row!.kind, row!.deny];
  };
  await issue({ source: { kind: EntitlementSource_Kind.OPERATOR }, deny: ["a"] });
  await subscribe(tenantId, await newPlan({ entitlements: ["a", "b"] }));
  assert.deepEqual(await kindOf(), ["operator", ["a"]]);
  await issue({ source: { kind: EntitlementSource_Kind.PLAN } });
  assert.deepEqual(await kindOf(), ["plan", []]);
});

test("evidence is one row per minute for equal calls on all nodes", async () => {
  const tenantId = ulid(Date.now()) as TenantId;
  const nodes = [newNode(), newNode()];
  const evidence = {
    tenantId,
    item: "i",
    operation: "o",
    mode: "report",
    verdict: "grace",
    reason: "missing",
  } as const;
  for (const { evidence: log } of nodes) {
    for (let n = 0; n < 1000; n++) log.add({ ...evidence, snapshotVersion: 1 }, 60_000 + n);
    log.add({ ...evidence, snapshotVersion: 2 }, 120_000);
  }
  await Promise.all(nodes.map(({ evidence: log }) => log.flush()));
  const stored = await db.sql<{ count: number; minute: Date; version: number }[]>`
    select count, minute, snapshot_version as version from entitlement_evidence where tenant_id = ${tenantId} order by minute`;
  assert.deepEqual(
    stored.map(({ count, minute, version }) => [count, minute.getTime(), version]),
    [
      [2000, 60_000, 1],
      [2, 120_000, 2],
    ],
  );
});
