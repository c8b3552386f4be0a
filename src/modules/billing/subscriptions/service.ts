import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { requireFound, type Sql, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { Grants, NewSnapshot } from "../entitlements/index.ts";
import type { Operators } from "../operators.ts";
import type { PlanRef, Plans, PlanVersion } from "../plans/index.ts";
import type { Period, Segment, Subscription } from "./domain/subscription.ts";
import type { Renewals } from "./renewal.ts";
import { subscriptionStore } from "./store.ts";

/** When a change takes effect. */
export type Effective = "now" | "period_end";

export interface WantedSubscription extends PlanRef {
  readonly effective: Effective;
  /** Undefined leaves the exceptions unchanged. */
  readonly overrides: Grants | undefined;
  readonly expectedVersion: number | undefined;
}

/** The effect of a change on the current period. */
export interface ChangePreview {
  readonly effectiveAt: Date;
  readonly period: Period;
  readonly unchanged: readonly Segment[];
  readonly changed: readonly Segment[];
}

interface Dependencies {
  readonly plans: Plans;
  readonly operators: Operators;
  readonly events: EventRecorder;
  readonly renewals: Renewals;
}

/** The largest number of segments of a period. */
const segmentsMax = 100;

const noGrants: Grants = { allow: [], deny: [], limits: {} };

export type SubscriptionService = ReturnType<typeof createSubscriptionService>;

export function createSubscriptionService({ plans, operators, events, renewals }: Dependencies) {
  /** The version that a caller may subscribe a tenant to. */
  async function requireVersion(context: Context, ref: PlanRef): Promise<PlanVersion> {
    const plan = await plans.requirePlan(context.sql, ref.planKey);
    if (plan.status === "archived") {
      throw fail("FAILED_PRECONDITION", { public: `The plan ${plan.key} is archived: nobody can subscribe to it.` });
    }
    if (!plan.selfService) operators.require(context, `subscribe a tenant to the plan ${plan.key}`);
    return plans.findVersion(context.sql, ref);
  }

  async function requireSubscription(sql: Sql, tenantId: TenantId): Promise<Subscription> {
    return requireFound(await subscriptionStore(sql).find(tenantId), "subscription");
  }

  async function recordChange(context: Context, type: "created" | "changed", { id, tenantId, ...rest }: Subscription) {
    const data = {
      ...{ plan_key: rest.planKey, plan_version: rest.planVersion },
      ...(rest.scheduled && { scheduled_plan_key: rest.scheduled.planKey }),
    };
    await events.record(context, `billing.subscription.${type}`, id, data, tenantId);
  }

  /** Starts a subscription, or restarts a canceled one after its period has ended. */
  async function start(
    context: Context,
    tenantId: TenantId,
    ended: Subscription | undefined,
    { planKey, version, terms }: PlanVersion,
    overrides: Grants,
  ): Promise<Subscription> {
    const { sql, nowMs } = context;
    const store = subscriptionStore(sql);
    const now = new Date(nowMs);
    const subscription = {
      ...({
        tenantId,
        id: ended?.id ?? ulid(nowMs),
        planKey,
        planVersion: version,
        status: "active",
        overrides,
      } as const),
      ...(await renewals.startPeriod(context, tenantId, now, terms)),
      ...{ scheduled: null, ...newStamps(nowMs) },
    };
    const stored = await (ended === undefined ? store.insert(subscription) : store.update(subscription, now));
    await store.insertSegment(tenantId, ulid(nowMs), { planKey, planVersion: version, startsAt: now, endsAt: null });
    return stored;
  }

  /** Changes the plan of a subscription now, for the rest of the period. */
  async function changeNow(context: Context, current: Subscription, version: PlanVersion, overrides: Grants) {
    const { sql, nowMs } = context;
    const store = subscriptionStore(sql);
    const now = new Date(nowMs);
    await requireSameMoney(sql, current, version);
    const ref = { planKey: version.planKey, planVersion: version.version };
    const isSamePlan = current.planKey === ref.planKey && current.planVersion === ref.planVersion;
    if (!isSamePlan || current.status === "canceled") {
      await requireFewChanges(sql, current);
      const startsAt = await store.nextSegmentStart(current.tenantId, now);
      await store.endSegment(current.tenantId, startsAt);
      await store.insertSegment(current.tenantId, ulid(nowMs), { ...ref, startsAt, endsAt: null });
    }
    return store.update({ ...current, ...ref, status: "active", overrides, scheduled: null }, now);
  }

  /** Every change adds lines to the invoice, so their number is bounded. */
  async function requireFewChanges(sql: Sql, { tenantId, periodStart, periodEnd }: Subscription): Promise<void> {
    const segments = await subscriptionStore(sql).findSegments(tenantId, { startsAt: periodStart, endsAt: periodEnd });
    if (segments.length < segmentsMax) return;
    throw fail("FAILED_PRECONDITION", {
      public: `The plan was changed ${segmentsMax - 1} times in this period, which is the maximum. Change it at the end of the period: EFFECTIVE_PERIOD_END.`,
    });
  }

  /** A period has one currency and one length. */
  async function requireSameMoney(sql: Sql, current: Subscription, { terms }: PlanVersion): Promise<void> {
    const before = (await plans.findVersion(sql, current)).terms;
    if (terms.currency === before.currency && terms.interval === before.interval) return;
    throw fail("FAILED_PRECONDITION", {
      public:
        "The plan has another currency or another length of periods. Change to it at the end of the period: EFFECTIVE_PERIOD_END.",
    });
  }

  return {
    requireSubscription,

    async setSubscription(context: Context, tenantName: string, wanted: WantedSubscription): Promise<Subscription> {
      const { sql } = context;
      const tenantId = await operators.requireTenant(context, tenantName);
      if (wanted.overrides !== undefined) operators.require(context, "set overrides");
      const version = await requireVersion(context, wanted);
      const store = subscriptionStore(sql);
      const locked = await store.lock(tenantId);
      if (wanted.expectedVersion !== undefined && locked?.recordVersion !== wanted.expectedVersion) {
        throw updateRefusal(locked, "subscription");
      }
      const current = locked && (await renewals.renew(context, locked));
      const overrides = wanted.overrides ?? current?.overrides ?? noGrants;
      if (current === undefined || current.periodEnd.getTime() <= context.nowMs) {
        const started = await start(context, tenantId, current, version, overrides);
        await recordChange(context, "created", started);
        await renewals.issue(context, started);
        return started;
      }
      const changed =
        wanted.effective === "now"
          ? await changeNow(context, current, version, overrides)
          : await store.update(
              {
                ...current,
                overrides,
                scheduled: { planKey: version.planKey, planVersion: version.version },
              },
              new Date(context.nowMs),
            );
      await recordChange(context, "changed", changed);
      await renewals.issue(context, changed);
      return changed;
    },

    async cancelSubscription(context: Context, tenantName: string, effective: Effective): Promise<Subscription> {
      const { sql, nowMs } = context;
      const tenantId = await operators.requireTenant(context, tenantName);
      const store = subscriptionStore(sql);
      const locked = requireFound(await store.lock(tenantId), "subscription");
      const current = await renewals.renew(context, locked);
      if (current.status === "canceled") {
        throw fail("FAILED_PRECONDITION", { public: "The subscription is canceled already." });
      }
      const now = new Date(nowMs);
      if (effective === "period_end") {
        const changed = await store.update({ ...current, scheduled: { planKey: "", planVersion: 0 } }, now);
        await recordChange(context, "changed", changed);
        return changed;
      }
      await store.endSegment(tenantId, await store.nextSegmentStart(tenantId, now));
      const canceled = await store.update({ ...current, status: "canceled", scheduled: null }, now);
      await events.record(context, "billing.subscription.canceled", canceled.id, { effective: "now" }, tenantId);
      await renewals.issue(context, canceled);
      return canceled;
    },

    /** Previews the effect of a change on the current period. */
    async previewChange(context: Context, tenantName: string, ref: PlanRef, effective: Effective) {
      const { sql, nowMs } = context;
      const tenantId = await operators.requireTenant(context, tenantName);
      const version = await requireVersion(context, ref);
      const current = await requireSubscription(sql, tenantId);
      const period = await subscriptionStore(sql).findPeriod(tenantId, current.periodStart);
      if (period === undefined || period.endsAt.getTime() <= nowMs) {
        throw invalid("effective", "period", "cannot be previewed, because the current period has ended");
      }
      const unchanged = await subscriptionStore(sql).findSegments(tenantId, period);
      if (effective === "period_end") {
        return { tenantId, effectiveAt: period.endsAt, period, unchanged, changed: unchanged };
      }
      await requireSameMoney(sql, current, version);
      const now = new Date(nowMs);
      const added = { planKey: version.planKey, planVersion: version.version, startsAt: now, endsAt: null };
      const changed = [...unchanged.map((segment) => ({ ...segment, endsAt: segment.endsAt ?? now })), added];
      return { tenantId, effectiveAt: now, period, unchanged, changed };
    },

    /** Returns the grants of a tenant's subscription; undefined without one. */
    async planSnapshot(context: EventContext, tenantId: TenantId): Promise<NewSnapshot | undefined> {
      const found = await subscriptionStore(context.sql).find(tenantId);
      return found && renewals.snapshotOf(context, found);
    },
  };
}
