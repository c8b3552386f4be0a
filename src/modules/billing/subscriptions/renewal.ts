import type { TenantId } from "../../../platform/access/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import { type NewSnapshot, planGrants } from "../entitlements/index.ts";
import type { Plans, PlanTerms } from "../plans/index.ts";
import { periodStart } from "./domain/period.ts";
import type { Subscription } from "./domain/subscription.ts";
import { subscriptionStore } from "./store.ts";

interface Dependencies {
  readonly plans: Pick<Plans, "findVersion">;
  readonly events: EventRecorder;
  readonly issueFromPlan: (context: EventContext, tenantId: TenantId, input: NewSnapshot) => Promise<void>;
}

const dayMs = 86_400_000;

/** How long entitlements stay fresh after the period in which they were issued. */
const freshAfterPeriodMs = 7 * dayMs;

/** Renews subscriptions and issues their grants. */
export type Renewals = ReturnType<typeof createRenewals>;

export function createRenewals({ plans, events, issueFromPlan }: Dependencies) {
  /** Returns the current grants. A canceled subscription grants nothing and keeps its limits: it never allows more. */
  async function snapshotOf(context: EventContext, subscription: Subscription): Promise<NewSnapshot> {
    const { planKey, planVersion, status, overrides, periodEnd } = subscription;
    const { terms } = await plans.findVersion(context.sql, subscription);
    const plan = { allow: status === "active" ? terms.entitlements : [], limits: terms.limits };
    return {
      ...planGrants(plan, status === "active" ? overrides : { ...overrides, allow: [] }),
      sourceKind: "plan",
      sourceRef: `${planKey}@${planVersion}`,
      freshUntil: new Date(periodEnd.getTime() + freshAfterPeriodMs),
    };
  }

  return {
    snapshotOf,

    /** Issues the grants of a subscription. */
    async issue(context: EventContext, subscription: Subscription): Promise<void> {
      await issueFromPlan(context, subscription.tenantId, await snapshotOf(context, subscription));
    },

    /** Starts a period from an anchor: the first one of a subscription, or one with another length. */
    async startPeriod(context: EventContext, tenantId: TenantId, anchorAt: Date, { currency, interval }: PlanTerms) {
      const endsAt = periodStart(anchorAt, interval, 1);
      await subscriptionStore(context.sql).insertPeriod({
        tenantId,
        startsAt: anchorAt,
        endsAt,
        currency,
        state: "open",
      });
      return { anchorAt, periodNumber: 0, periodStart: anchorAt, periodEnd: endsAt };
    },

    /**
     * Closes the periods of a locked subscription that have ended, and starts the next one with the scheduled change. A
     * canceled subscription gets no next period, unless a plan is scheduled for it.
     */
    async renew(context: EventContext, locked: Subscription): Promise<Subscription> {
      const { sql, nowMs } = context;
      const store = subscriptionStore(sql);
      let current = locked;
      while (current.periodEnd.getTime() <= nowMs) {
        const { tenantId, periodEnd, scheduled } = current;
        await store.setPeriodState(tenantId, current.periodStart, "closed");
        if (current.status === "canceled" && scheduled === null) return current;
        if (scheduled?.planKey === "") {
          await store.endSegment(tenantId, periodEnd);
          current = await store.update({ ...current, status: "canceled", scheduled: null }, new Date(nowMs));
          await events.record(
            context,
            "billing.subscription.canceled",
            current.id,
            { effective: "period_end" },
            tenantId,
          );
          await this.issue(context, current);
          return current;
        }
        current = await store.update(await nextPeriod(context, current), new Date(nowMs));
        const { planKey: plan_key, planVersion: plan_version } = current;
        const data = { plan_key, plan_version, period_start: current.periodStart.toISOString() };
        await events.record(context, "billing.subscription.renewed", current.id, data, tenantId);
        await this.issue(context, current);
      }
      return current;
    },
  };

  async function nextPeriod(context: EventContext, current: Subscription): Promise<Subscription> {
    const store = subscriptionStore(context.sql);
    const { tenantId, periodEnd, scheduled } = current;
    const before = (await plans.findVersion(context.sql, current)).terms;
    const ref = scheduled ?? current;
    const { terms } = await plans.findVersion(context.sql, ref);
    if (scheduled !== null) {
      await store.endSegment(tenantId, periodEnd);
      await store.insertSegment(tenantId, ulid(context.nowMs), { ...ref, startsAt: periodEnd, endsAt: null });
    }
    // Another length starts a new count of periods.
    const isSameLength = terms.interval === before.interval;
    const anchorAt = isSameLength ? current.anchorAt : periodEnd;
    const periodNumber = isSameLength ? current.periodNumber + 1 : 0;
    const endsAt = periodStart(anchorAt, terms.interval, periodNumber + 1);
    await store.insertPeriod({ tenantId, startsAt: periodEnd, endsAt, currency: terms.currency, state: "open" });
    return {
      ...current,
      ...{ planKey: ref.planKey, planVersion: ref.planVersion, status: "active", scheduled: null },
      ...{ anchorAt, periodNumber, periodStart: periodEnd, periodEnd: endsAt },
    };
  }
}
