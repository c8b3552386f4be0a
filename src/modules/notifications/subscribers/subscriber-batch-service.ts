import { Failure } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import { isEmail } from "../../../platform/validation/index.ts";
import type { EventEntry, EventRecorder } from "../../operations/index.ts";
import { type BatchPlan, planBatch } from "./domain/batch.ts";
import type { Subscriber, SubscriberId, SubscriberUpsert } from "./domain/subscriber.ts";
import { subscriberBatchStore } from "./subscriber-batch-store.ts";
import type { UpsertContext } from "./subscriber-service.ts";
import { suppressionStore } from "./suppressions/suppression-store.ts";

/** The result of one item of a batch. */
export interface BatchResult {
  readonly plan: BatchPlan;
  /** "" for an item that failed. */
  readonly id: SubscriberId | "";
}

/** How a batch treats new and deleted subscribers. */
interface BatchOptions {
  /** The ids of new subscribers, by external id. */
  readonly newIds?: ReadonlyMap<string, SubscriberId>;
  /** Whether deleted subscribers stay as they are. */
  readonly keepDeleted?: boolean;
}

export type SubscriberBatchService = ReturnType<typeof createSubscriberBatchService>;

export function createSubscriberBatchService(events: EventRecorder) {
  /** Carries out a batch in the caller's transaction, with a fixed number of statements. */
  async function upsertMany(
    context: UpsertContext,
    items: readonly SubscriberUpsert[],
    { newIds, keepDeleted = false }: BatchOptions = {},
  ): Promise<BatchResult[]> {
    const { sql, tenantId, nowMs, principal } = context;
    const store = subscriberBatchStore(sql);
    const now = new Date(nowMs);
    const externalIds = [...new Set(items.map(({ externalId }) => externalId))];
    const stored = byExternalId(await store.lockByExternalIds(tenantId, externalIds));
    const plans = planBatch(items, stored, isEmail, keepDeleted);
    const idOf = (externalId: string) => newIds?.get(externalId) ?? (ulid(nowMs) as SubscriberId);
    const results = plans.map(
      (plan, at): BatchResult => ({
        plan,
        id: "current" in plan ? plan.current.id : plan.outcome === "created" ? idOf(items[at]!.externalId) : "",
      }),
    );
    const created = results.flatMap(({ plan, id }, at) =>
      plan.outcome === "created" && id !== "" ? [{ id, externalId: items[at]!.externalId, profile: plan.profile }] : [],
    );
    const changes = plans.flatMap((plan) => ("change" in plan ? [{ id: plan.current.id, change: plan.change }] : []));
    const inserted = created.length === 0 ? new Set<string>() : await store.insert(tenantId, created, now);
    if (changes.length > 0) await store.merge(tenantId, changes, now);
    const isLate = ({ plan }: BatchResult, at: number) =>
      plan.outcome === "created" && !inserted.has(items[at]!.externalId);
    const late = results.flatMap((result, at) => (isLate(result, at) ? [at] : []));
    const entries = results.flatMap((result, at) => (isLate(result, at) ? [] : eventsOf(tenantId, items[at]!, result)));
    await events.recordMany(sql, entries, nowMs, principal?.subject);
    if (late.length === 0) return results;
    // Another call has created them in the meantime. Subscribers are never deleted, so they are found now.
    const again = await upsertMany(
      context,
      late.map((at) => items[at]!),
      { keepDeleted },
    );
    return results.map((result, at) => again[late.indexOf(at)] ?? result);
  }

  return {
    upsertMany,

    /**
     * The subscribers as a batch that keeps deleted ones would leave them, by external id; new ones have the ids that they
     * would get. Nothing is written. Items that would fail are reported instead.
     */
    async previewMany(
      { sql, tenantId, nowMs }: { readonly sql: Sql; readonly tenantId: TenantId; readonly nowMs: number },
      items: readonly SubscriberUpsert[],
    ): Promise<Map<string, Subscriber | Extract<BatchPlan, { outcome: "failed" }>["failure"]>> {
      const externalIds = items.map(({ externalId }) => externalId);
      const stored = byExternalId(await subscriberBatchStore(sql).findByExternalIds(tenantId, externalIds));
      const plans = planBatch(items, stored, isEmail, true);
      const previews = plans.map((plan, at) => previewOf(plan, externalIds[at]!, tenantId, nowMs));
      const subscribers = previews.filter((each): each is Subscriber => !(each instanceof Failure));
      const suppressions = suppressionStore(sql);
      const [emails, phones] = await Promise.all([
        suppressions.findTimes(tenantId, "email", addressesIn(subscribers, "email")),
        suppressions.findTimes(tenantId, "sms", addressesIn(subscribers, "phone")),
      ]);
      const withTimes = (preview: Subscriber): Subscriber => ({
        ...preview,
        emailSuppressedAt: emails.get(preview.email) ?? null,
        phoneSuppressedAt: phones.get(preview.phone) ?? null,
      });
      return new Map(
        previews.map((each, at) => [externalIds[at]!, each instanceof Failure ? each : withTimes(each)] as const),
      );
    },
  };
}

function addressesIn(subscribers: readonly Subscriber[], field: "email" | "phone"): string[] {
  return [...new Set(subscribers.map((subscriber) => subscriber[field]))].filter((address) => address !== "");
}

/** The subscriber without the suppressions of new addresses. */
function previewOf(plan: BatchPlan, externalId: string, tenantId: TenantId, nowMs: number) {
  switch (plan.outcome) {
    case "failed":
      return plan.failure;
    case "created":
      return {
        ...plan.profile,
        ...newStamps(nowMs),
        ...{ tenantId, externalId, id: ulid(nowMs) as SubscriberId, active: true },
        ...{ emailSuppressedAt: null, phoneSuppressedAt: null },
      };
    case "updated":
      return { ...plan.current, ...plan.change };
    case "reactivated":
    case "unchanged":
      return plan.current;
  }
}

function eventsOf(
  tenantId: TenantId,
  { externalId }: SubscriberUpsert,
  { plan, id: subject }: BatchResult,
): EventEntry[] {
  const external_id = externalId;
  if (plan.outcome === "created") return [{ tenantId, type: "subscriber.created", subject, data: { external_id } }];
  if (!("change" in plan)) return [];
  return [{ tenantId, type: "subscriber.updated", subject, data: { external_id, fields: plan.fields } }];
}

function byExternalId(subscribers: readonly Subscriber[]): Map<string, Subscriber> {
  return new Map(subscribers.map((subscriber) => [subscriber.externalId, subscriber]));
}
