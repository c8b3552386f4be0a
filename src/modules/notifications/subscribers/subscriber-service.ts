import type { Context } from "../../../chain/call.ts";
import { notFound, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import { isEmail } from "../../../platform/validation/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import {
  checkProfile,
  differences,
  emptyProfile,
  namesOf,
  type Profile,
  type ProfileChange,
  type Subscriber,
  type SubscriberId,
} from "./domain/subscriber.ts";
import { subscriberStore } from "./subscriber-store.ts";

/** Where an upsert happens. Readers of the event log are woken after the commit where somebody sees to that. */
export type UpsertContext = Omit<EventContext, "afterCommit"> & Partial<Pick<EventContext, "afterCommit">>;

/** What is known of a subscriber, by what the tenant calls it. */
export interface NamedProfile extends ProfileChange {
  readonly externalId: string;
}

/** The use cases of subscribers. */
export type SubscriberService = ReturnType<typeof createSubscriberService>;

/** Makes the use cases of subscribers. */
export function createSubscriberService(events: EventRecorder) {
  async function getSubscriber({ sql, tenantId }: Context, id: string): Promise<Subscriber> {
    const subscriber = await subscriberStore(sql).find(tenantId, id);
    if (subscriber === undefined) throw notFound("subscriber");
    return subscriber;
  }

  /** Creates a subscriber; undefined when somebody else did. */
  async function create(
    context: EventContext,
    { externalId, ...given }: NamedProfile,
    id: SubscriberId,
  ): Promise<Subscriber | undefined> {
    const { sql, tenantId, nowMs } = context;
    const profile = newProfile(given);
    const created = await subscriberStore(sql).insert(tenantId, { id, externalId }, profile, new Date(nowMs));
    if (created !== undefined) await events.record(context, "subscriber.created", id, { external_id: externalId });
    return created;
  }

  return {
    getSubscriber,

    /**
     * Creates the subscriber that the tenant calls so, or sets the fields that are given of the one that there is.
     * Whoever is spoken of again is wanted again: one that was deleted becomes active. When all is so already,
     * nothing is written, so that every trigger may bring the profile along. A new subscriber gets the id that is given.
     */
    async upsertSubscriber(wanted: UpsertContext, profile: NamedProfile, newId?: SubscriberId): Promise<Subscriber> {
      const context: EventContext = { afterCommit: () => {}, ...wanted };
      const { sql, tenantId, nowMs } = context;
      const store = subscriberStore(sql);
      const known = await store.findByExternalId(tenantId, profile.externalId);
      const id = newId ?? (ulid(nowMs) as SubscriberId);
      const created = known === undefined ? await create(context, profile, id) : undefined;
      if (created !== undefined) return created;
      const current = known ?? (await store.findByExternalId(tenantId, profile.externalId))!;
      const change = differences(current, profile);
      // What is stored was checked when it was.
      checkProfile(change, isEmail);
      const fields = [...namesOf(change), ...(current.active ? [] : ["active"])];
      if (fields.length === 0) return current;
      const changed = await store.merge(tenantId, current.id, change, new Date(nowMs));
      await events.record(context, "subscriber.updated", changed.id, { external_id: changed.externalId, fields });
      return changed;
    },

    /**
     * The subscriber as an upsert would leave it, with the id that a new one is to get. Nothing is written; throws when
     * what is given is invalid.
     */
    async previewUpsert(
      { sql, tenantId, nowMs }: Pick<UpsertContext, "sql" | "tenantId" | "nowMs">,
      { externalId, ...given }: NamedProfile,
    ): Promise<Subscriber> {
      const current = await subscriberStore(sql).findByExternalId(tenantId, externalId);
      if (current !== undefined) {
        const change = differences(current, given);
        checkProfile(change, isEmail);
        return {
          ...current,
          ...change,
          active: true,
          emailSuppressedAt: change.email === undefined ? current.emailSuppressedAt : null,
          phoneSuppressedAt: change.phone === undefined ? current.phoneSuppressedAt : null,
        };
      }
      return {
        ...newProfile(given),
        ...newStamps(nowMs),
        tenantId,
        id: ulid(nowMs) as SubscriberId,
        externalId,
        active: true,
        emailSuppressedAt: null,
        phoneSuppressedAt: null,
      };
    },

    /** Sets the whole profile. Whether the subscriber is active stays as it is. */
    async updateSubscriber(
      context: Context,
      id: string,
      profile: Profile,
      expectedVersion: number | undefined,
    ): Promise<Subscriber> {
      const { sql, tenantId, nowMs } = context;
      checkProfile(profile, isEmail);
      const store = subscriberStore(sql);
      const current = await store.lock(tenantId, id);
      if (current === undefined) throw notFound("subscriber");
      const changed = await store.replace(tenantId, id, profile, expectedVersion, new Date(nowMs));
      if (changed === undefined) throw updateRefusal(current, "subscriber");
      const fields = namesOf(differences(current, profile));
      await events.record(context, "subscriber.updated", id, { external_id: changed.externalId, fields });
      return changed;
    },

    async deleteSubscriber(context: Context, id: string): Promise<Subscriber> {
      const { sql, tenantId, nowMs } = context;
      const deactivated = await subscriberStore(sql).deactivate(tenantId, id, new Date(nowMs));
      // Deleting what was deleted changes nothing.
      if (deactivated === undefined) return getSubscriber(context, id);
      await events.record(context, "subscriber.deactivated", id, { external_id: deactivated.externalId });
      return deactivated;
    },
  };
}

/** The profile of a new subscriber; throws when what is given is invalid. */
function newProfile(given: ProfileChange): Profile {
  const profile = { ...emptyProfile, ...differences(emptyProfile, given) };
  checkProfile(profile, isEmail);
  return profile;
}
