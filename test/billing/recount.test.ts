import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Effective } from "../../gen/service/api/billing_subscription_pb.ts";
import { Meter_Aggregation } from "../../gen/service/api/meter_pb.ts";
import { PlanTerms_Interval, Price_Model } from "../../gen/service/api/plan_pb.ts";
import { executionUsage } from "../../src/modules/connectors/actions/index.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { ulidFrom } from "../../src/platform/ids/ulid.ts";
import { failsWith, freshTenant, testDatabase } from "../harness/context.ts";
import { seed, sized } from "../harness/run-size.ts";
import { billingCalls } from "./billing-calls.ts";
import { billingFixture } from "./billing-fixture.ts";
import { addMonths, type Plan, type RawUsage, recountTotal, type StatedPrice } from "./invoice-recount.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const db = await testDatabase();
const fixture = billingFixture(db, [executionUsage]);
const { clock } = fixture;
const { newPlan, newMeter, subscribe, cancel, record, issuedTo, runJobs } = billingCalls(fixture);

let state = seed;
/** A random integer from 0 to below a number, from the seed of the run. */
function below(end: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
  return Math.floor((state / 0x8000_0000) * end);
}
const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
const amount = () => BigInt(below(pick([10, 1000, 100_000])));

/** What is known about a tenant from the calls of the test alone. */
interface Customer {
  readonly tenantId: TenantId;
  readonly usage: RawUsage[];
  readonly stays: { plan: Plan; fromMs: number; untilMs: number }[];
  readonly periods: { fromMs: number; untilMs: number; currency: string }[];
  anchorMs: number;
  periodNumber: number;
  isActive: boolean;
  /** What the next period starts with: a plan, or null for the end of the subscription. */
  next: Plan | null | undefined;
}

const aggregations = {
  sum: Meter_Aggregation.SUM,
  count: Meter_Aggregation.COUNT,
  max: Meter_Aggregation.MAX,
  last: Meter_Aggregation.LAST,
  unique: Meter_Aggregation.UNIQUE_COUNT,
} as const;
type Reported = keyof typeof aggregations;
const meters = new Map<string, Reported>();

const models = {
  flat: Price_Model.FLAT,
  per_unit: Price_Model.PER_UNIT,
  package: Price_Model.PACKAGE,
  graduated: Price_Model.GRADUATED,
  volume: Price_Model.VOLUME,
} as const;

async function createMeters(): Promise<void> {
  for (const aggregation of Object.keys(aggregations) as Reported[]) {
    const options = aggregation === "unique" ? { valuePath: "user" } : {};
    meters.set(await newMeter(aggregations[aggregation], options), aggregation);
  }
}

async function createPlan(currency: string, months: 1 | 12): Promise<Plan> {
  const tier = (upTo: bigint) => ({ upTo, amount: amount(), perUnits: BigInt(1 + below(20)), flatAmount: amount() });
  const prices = Array.from({ length: 2 + below(4) }, (_, nth): StatedPrice => {
    const model = nth === 0 ? "per_unit" : pick(Object.keys(models) as (keyof typeof models)[]);
    const isFlat = model === "flat";
    const meterKey =
      nth === 0 ? "service.executions" : pick([...meters.keys(), "service.executions", "service.storage"]);
    return {
      ...{ model, amount: amount() + 1n, perUnits: BigInt(1 + below(50)), meterKey: isFlat ? "" : meterKey },
      included: isFlat ? 0n : BigInt(below(20)),
      tiers: model === "graduated" || model === "volume" ? [tier(3n), tier(BigInt(4 + below(90))), tier(0n)] : [],
    };
  });
  const key = await newPlan({
    ...{ currency, interval: months === 12 ? PlanTerms_Interval.YEAR : PlanTerms_Interval.MONTH },
    prices: prices.map(({ model, ...price }, nth) => ({
      ...{ ...price, key: `p${nth}`, name: "Price", model: models[model], tiers: [...price.tiers] },
    })),
  });
  return { key, currency, months, prices };
}

/** Starts the periods that the clock has reached. */
function renew(customer: Customer): void {
  for (;;) {
    const period = customer.periods.at(-1);
    if (period === undefined || period.untilMs > clock.nowMs) return;
    const { next } = customer;
    customer.next = undefined;
    if (!customer.isActive && next === undefined) return;
    if (next === null) {
      endStay(customer, period.untilMs);
      return;
    }
    const before = customer.stays.at(-1)!.plan;
    const plan = next ?? before;
    if (next !== undefined) startStay(customer, plan, period.untilMs);
    const isSameLength = plan.months === before.months;
    if (!isSameLength) customer.anchorMs = period.untilMs;
    customer.periodNumber = isSameLength ? customer.periodNumber + 1 : 0;
    startPeriod(customer, period.untilMs, plan);
  }
}

function startPeriod(customer: Customer, fromMs: number, { months, currency }: Plan): void {
  const untilMs = addMonths(customer.anchorMs, months * (customer.periodNumber + 1));
  customer.periods.push({ fromMs, untilMs, currency });
}

function endStay(customer: Customer, atMs: number): void {
  if (customer.isActive) customer.stays.at(-1)!.untilMs = atMs;
  customer.isActive = false;
}

function startStay(customer: Customer, plan: Plan, fromMs: number): void {
  endStay(customer, fromMs);
  customer.stays.push({ plan, fromMs, untilMs: Number.MAX_SAFE_INTEGER });
  customer.isActive = true;
}

async function changePlan(customer: Customer, plan: Plan, effective: Effective): Promise<void> {
  const period = customer.periods.at(-1);
  const call = () => subscribe(customer.tenantId, plan.key, { effective });
  if (period === undefined || period.untilMs <= clock.nowMs) {
    customer.anchorMs = clock.nowMs;
    customer.periodNumber = 0;
    startStay(customer, plan, clock.nowMs);
    startPeriod(customer, clock.nowMs, plan);
    await call();
    return;
  }
  if (effective === Effective.PERIOD_END) {
    customer.next = plan;
    await call();
    return;
  }
  const before = customer.stays.at(-1)!.plan;
  if (plan.currency !== before.currency || plan.months !== before.months) {
    await assert.rejects(call, failsWith("FAILED_PRECONDITION"));
    return;
  }
  customer.next = undefined;
  if (plan !== before || !customer.isActive) startStay(customer, plan, clock.nowMs);
  await call();
}

async function endPlan(customer: Customer, effective: Effective): Promise<void> {
  if (!customer.isActive) return;
  if (effective === Effective.PERIOD_END) customer.next = null;
  else {
    endStay(customer, clock.nowMs);
    customer.next = undefined;
  }
  await cancel(customer.tenantId, { effective });
}

let serial = 0;

/** Reports usage of now and of earlier, and some of it twice. */
async function reportUsage({ tenantId, usage }: Customer): Promise<void> {
  const used = Array.from({ length: 1 + below(4) }, () => {
    const [meterKey, aggregation] = pick([...meters]);
    const value = String(below(aggregation === "unique" ? 5 : 100));
    const quantity = aggregation === "unique" ? 1n : BigInt(value);
    const atMs = clock.nowMs - pick([0, 1, below(hourMs), below(20 * dayMs)]);
    return { meterKey, aggregation, atMs, quantity, value, transactionId: `t${String(serial++).padStart(9, "0")}` };
  });
  const events = used.map(({ meterKey, transactionId, atMs, aggregation, quantity, value }) => ({
    ...{ meterKey, transactionId, at: timestampFromMs(atMs) },
    ...(aggregation === "unique" ? { properties: { user: value } } : { quantity }),
  }));
  const { rejected } = await record(tenantId, [...events, events[0]!]);
  await record(tenantId, events);
  const lost = new Set(rejected.map(({ transactionId }) => transactionId));
  usage.push(...used.filter(({ transactionId }) => !lost.has(transactionId)));
}

/** Stores rows of executions that began in the last ten minutes, as calls that take long do. */
async function execute({ tenantId, stays }: Customer): Promise<void> {
  const times = Array.from({ length: 1 + below(5) }, () => clock.nowMs - pick([0, 0, 1, below(10 * minuteMs)]));
  const changes = stays.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]);
  const recent = changes.filter((atMs) => atMs > clock.nowMs - 10 * minuteMs && atMs <= clock.nowMs);
  times.push(...recent.flatMap((atMs) => [atMs - 1, atMs]));
  await db.sql`
    insert into connector_executions (tenant_id, id, action_key, provider_key, manifest_version, connection_id, status, request,
      idempotency_key, origin, origin_id, safety, claim_principal, claim_key, started_at)
    select ${tenantId}, id, 'a', 'p', '1', '', 'succeeded', '{}', '', 'api', '', 'read', '', '', at
    from unnest(${times.map((atMs) => ulidFrom(atMs, randomBytes(16)))}::text[],
      ${times.map((atMs) => new Date(atMs).toISOString())}::timestamptz[]) as made(id, at)`;
}

/** What the service has stored of a tenant: rows of executions, and measurements of its storage. */
async function storedUsage(tenantId: TenantId): Promise<RawUsage[]> {
  const executions = await db.sql<{ at: Date }[]>`
    select started_at as at from connector_executions where tenant_id = ${tenantId}`;
  const sizes = await db.sql<{ day: Date; bytes: number }[]>`
    select window_start as day, quantity as bytes from billing_service_usage
    where tenant_id = ${tenantId} and meter_key = 'service.storage'`;
  return [
    ...executions.map(({ at }) => ({
      ...({ meterKey: "service.executions", aggregation: "sum", value: "" } as const),
      ...{ atMs: at.getTime(), quantity: 1n },
    })),
    ...sizes.map(({ day, bytes }) => ({
      ...({ meterKey: "service.storage", aggregation: "gauge", value: "" } as const),
      ...{ atMs: day.getTime(), lengthMs: dayMs, quantity: BigInt(bytes) },
    })),
  ];
}

/** Moves the clock by a step, or close to the next end of a period. Returns the customer to act for. */
function moveClock(customers: readonly Customer[], stepMs: number): Customer {
  const ending = customers
    .map((customer) => ({ customer, endMs: customer.periods.at(-1)?.untilMs ?? 0 }))
    .filter(({ endMs }) => endMs > clock.nowMs)
    .toSorted((a, b) => a.endMs - b.endMs)[0];
  if (ending !== undefined && ending.endMs - clock.nowMs < 10 * stepMs && below(3) === 0) {
    clock.nowMs = Math.max(clock.nowMs, ending.endMs - 3 * minuteMs + below(6 * minuteMs));
    return ending.customer;
  }
  clock.nowMs += below(below(5) === 0 ? 5 * minuteMs : 2 * stepMs);
  return pick(customers);
}

async function act(customer: Customer, plans: readonly Plan[]): Promise<void> {
  const effective = below(3) === 0 ? Effective.PERIOD_END : Effective.NOW;
  const choice = customer.periods.length === 0 ? 0 : below(20);
  if (choice < 4) await changePlan(customer, pick(plans), effective);
  else if (choice === 4) await endPlan(customer, effective);
  else if (choice < 12) await reportUsage(customer);
  if (choice < 4 || choice >= 12) {
    clock.nowMs += below(3 * minuteMs);
    await execute(customer);
  }
}

test("invoices equal an independent recount of the rows to the cent, for random plans, changes and usage", async () => {
  await createMeters();
  const plans: Plan[] = [];
  for (let n = 0; n < 14; n++) plans.push(await createPlan(n < 11 ? "EUR" : "USD", n === 13 ? 12 : 1));
  const customers = Array.from({ length: sized(14, 450) }, (): Customer => {
    return {
      ...{ tenantId: freshTenant(), usage: [], stays: [], periods: [] },
      ...{ anchorMs: 0, periodNumber: 0, isActive: false, next: undefined },
    };
  });
  const ids = customers.map(({ tenantId }) => tenantId);
  await db.sql`
    insert into tenants (id, name, slug, status, created_at, updated_at)
    select id, id, lower(id), 'active', now(), now() from unnest(${ids}::text[]) as made(id)`;

  const endMs = clock.nowMs + 100 * dayMs;
  const stepMs = (5 * dayMs) / customers.length;
  while (clock.nowMs < endMs) {
    const customer = moveClock(customers, stepMs);
    renew(customer);
    await act(customer, plans);
    if (below(12) === 0) await runJobs();
  }
  clock.nowMs += 2 * hourMs;
  await runJobs();

  let compared = 0;
  for (const customer of customers) {
    renew(customer);
    const usage = [...customer.usage, ...(await storedUsage(customer.tenantId))];
    const due = customer.periods.filter(({ untilMs }) => untilMs <= clock.nowMs - hourMs);
    const issued = (await issuedTo(customer.tenantId))
      .map(({ periodStart, periodEnd, ...rest }) => ({
        ...{ ...rest, fromMs: timestampMs(periodStart!), untilMs: timestampMs(periodEnd!) },
      }))
      .toSorted((a, b) => a.fromMs - b.fromMs);
    assert.deepEqual(
      issued.map(({ fromMs, untilMs, currency, total }) => ({ fromMs, untilMs, currency, total })),
      due.map((period) => ({ ...period, total: recountTotal(period, customer.stays, usage) })),
    );
    compared += issued.length;
  }
  console.log(`${compared} invoices, 0 cents apart`);
  assert.ok(compared >= sized(20, 1000), `${compared} invoices`);
});
