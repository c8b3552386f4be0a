import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { requireFound, type Sql, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import { isEmail } from "../../../platform/validation/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import {
  changedValues,
  checkProfile,
  emptyProfile,
  fieldNamesOf,
  type Profile,
  type ProfileChange,
  type Subscriber,
  type SubscriberId,
  type SubscriberUpsert,
} from "./domain/subscriber.ts";
import { subscriberStore } from "./subscriber-store.ts";
import { suppressionStore } from "./suppressions/suppression-store.ts";

export type UpsertContext = Omit<EventContext, "afterCommit">;

/** Is told of a subscriber. */
export type SubscriberListener = (subscriber: { readonly tenantId: TenantId; readonly id: string }) => void;

/** How an upsert treats new and deleted subscribers. */
export interface UpsertOptions {
  readonly newId?: SubscriberId;
  /** Whether a deleted subscriber stays deleted. */
  readonly keepDeleted?: boolean;
}

export type SubscriberService = ReturnType<typeof createSubscriberService>;

export function createSubscriberService(events: EventRecorder, onDeactivated: SubscriberListener = () => {}) {
  async function getSubscriber({ sql, tenantId }: Context, id: string): Promise<Subscriber> {
    return requireFound(await subscriberStore(sql).find(tenantId, id), "subscriber");
  }

  /** Creates a subscriber; undefined when another call has created it. */
  async function create(context: UpsertContext, { externalId, ...given }: SubscriberUpsert, id: SubscriberId) {
    const { sql, tenantId, nowMs } = context;
    const profile = newProfile(given);
    const created = await subscriberStore(sql).insert(tenantId, { id, externalId }, profile, new Date(nowMs));
    if (created !== undefined) await events.record(context, "subscriber.created", id, { external_id: externalId });
    return created;
  }

  return {
    getSubscriber,

    /**
     * Creates a subscriber, or sets the given fields of the existing one with this external id. A deleted subscriber
     * becomes active again, unless `keepDeleted` is set. If nothing changes, nothing is written, so every trigger can
     * include the profile. A new subscriber gets `newId` if it is given.
     */
    async upsertSubscriber(
      context: UpsertContext,
      profile: SubscriberUpsert,
      { newId, keepDeleted = false }: UpsertOptions = {},
    ): Promise<Subscriber> {
      const { sql, tenantId, nowMs } = context;
      const store = subscriberStore(sql);
      const existing = await store.findByExternalId(tenantId, profile.externalId);
      const id = newId ?? (ulid(nowMs) as SubscriberId);
      const created = existing === undefined ? await create(context, profile, id) : undefined;
      if (created !== undefined) return created;
      const current = existing ?? (await store.findByExternalId(tenantId, profile.externalId))!;
      const change = changedValues(current, profile);
      // Stored values were checked when they were stored.
      checkProfile(change, isEmail);
      const fields = [...fieldNamesOf(change), ...(current.active || keepDeleted ? [] : ["active"])];
      if (fields.length === 0) return current;
      const changed = await store.merge(tenantId, current.id, change, !keepDeleted, new Date(nowMs));
      await events.record(context, "subscriber.updated", changed.id, { external_id: changed.externalId, fields });
      return changed;
    },

    /**
     * The subscriber as an upsert that keeps deleted subscribers would leave it, with the id that a new one would get.
     * Nothing is written; throws when a field is invalid.
     */
    async previewUpsert({ sql, tenantId, nowMs }: UpsertContext, { externalId, ...given }: SubscriberUpsert) {
      const current = await subscriberStore(sql).findByExternalId(tenantId, externalId);
      if (current !== undefined) {
        const change = changedValues(current, given);
        checkProfile(change, isEmail);
        const next = { ...current, ...change };
        return { ...next, ...(await suppressedTimes(sql, tenantId, next)) };
      }
      const profile = newProfile(given);
      return {
        ...profile,
        ...newStamps(nowMs),
        tenantId,
        id: ulid(nowMs) as SubscriberId,
        externalId,
        active: true,
        ...(await suppressedTimes(sql, tenantId, profile)),
      };
    },

    /** Replaces the whole profile. The active state stays unchanged. */
    async updateSubscriber(context: Context, id: string, profile: Profile, expectedVersion: number | undefined) {
      const { sql, tenantId, nowMs } = context;
      checkProfile(profile, isEmail);
      const store = subscriberStore(sql);
      const current = requireFound(await store.lock(tenantId, id), "subscriber");
      const changed = await store.replace(tenantId, id, profile, expectedVersion, new Date(nowMs));
      if (changed === undefined) throw updateRefusal(current, "subscriber");
      const fields = fieldNamesOf(changedValues(current, profile));
      await events.record(context, "subscriber.updated", id, { external_id: changed.externalId, fields });
      return changed;
    },

    async deleteSubscriber(context: Context, id: string): Promise<Subscriber> {
      const { sql, tenantId, nowMs } = context;
      const deactivated = await subscriberStore(sql).deactivate(tenantId, id, new Date(nowMs));
      // Deleting an inactive subscriber changes nothing.
      if (deactivated === undefined) return getSubscriber(context, id);
      await events.record(context, "subscriber.deactivated", id, { external_id: deactivated.externalId });
      context.afterCommit(() => onDeactivated(deactivated));
      return deactivated;
    },
  };
}

/** Since when the addresses of a profile are suppressed. */
async function suppressedTimes(sql: Sql, tenantId: TenantId, { email, phone }: Pick<Profile, "email" | "phone">) {
  const store = suppressionStore(sql);
  const [emailSuppressedAt, phoneSuppressedAt] = await Promise.all([
    store.findTime(tenantId, "email", email),
    store.findTime(tenantId, "sms", phone),
  ]);
  return { emailSuppressedAt, phoneSuppressedAt };
}

/** The profile of a new subscriber; throws when a field is invalid. */
function newProfile(given: ProfileChange): Profile {
  const profile = { ...emptyProfile, ...changedValues(emptyProfile, given) };
  checkProfile(profile, isEmail);
  return profile;
}
