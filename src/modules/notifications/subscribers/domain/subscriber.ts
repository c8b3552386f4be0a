import { isDeepStrictEqual } from "node:util";
import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { requireJsonBytes } from "../../../../platform/document/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import { findTimeZone } from "../../../../platform/time-zone/time-zone.ts";

export type SubscriberId = string & { readonly __id: "subscriber" };

/** A subscriber's profile; an empty text is unknown. */
export interface Profile {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly phone: string;
  readonly avatar: string;
  readonly locale: string;
  readonly timezone: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A recipient of notifications. */
export interface Subscriber extends Profile, Stamps {
  readonly tenantId: TenantId;
  readonly id: SubscriberId;
  /** The tenant's own id of the subscriber. */
  readonly externalId: string;
  /** Whether notifications are sent to it. */
  readonly active: boolean;
  /** When the profile's address was suppressed; null while it is in use. */
  readonly emailSuppressedAt: Date | null;
  readonly phoneSuppressedAt: Date | null;
}

/** A partial update of a profile; undefined fields stay unchanged. */
export type ProfileChange = { readonly [Field in keyof Profile]?: Profile[Field] | undefined };

/** The input of an upsert: an external id and the fields to set. */
export interface SubscriberUpsert extends ProfileChange {
  readonly externalId: string;
}

/** A profile without any values. */
export const emptyProfile: Profile = {
  firstName: "",
  lastName: "",
  email: "",
  phone: "",
  avatar: "",
  locale: "",
  timezone: "",
  data: {},
};

/** The API names of the profile's fields. */
const fieldNames = {
  firstName: "first_name",
  lastName: "last_name",
  email: "email",
  phone: "phone",
  avatar: "avatar",
  locale: "locale",
  timezone: "timezone",
  data: "data",
} as const satisfies Record<keyof Profile, string>;

const fields = Object.keys(fieldNames) as (keyof Profile)[];

/** The fields of an update whose values differ from the current ones. */
export function changedValues(current: Profile, change: ProfileChange): ProfileChange {
  const differing = fields.filter(
    (field) => change[field] !== undefined && !isDeepStrictEqual(change[field], current[field]),
  );
  return Object.fromEntries(differing.map((field) => [field, change[field]]));
}

/** The API names of the fields that an update sets. */
export function fieldNamesOf(change: ProfileChange): string[] {
  return fields.filter((field) => change[field] !== undefined).map((field) => fieldNames[field]);
}

const dataBytesMax = 64 * 1024;
const phonePattern = /^\+[1-9][0-9]{6,14}$/;

/** Throws when a field has an invalid format or the data is too large. */
export function checkProfile(change: ProfileChange, isEmail: (text: string) => boolean): void {
  const { email = "", phone = "", locale = "", timezone = "", data = {} } = change;
  if (email !== "" && !isEmail(email))
    throw invalid("email", "email", "must be an email address (for example: ada@example.com)");
  if (phone !== "" && !isPhone(phone))
    throw invalid("phone", "e164", "must be a telephone number in E.164 format (for example: +4930901820)");
  if (locale !== "" && !isLocale(locale))
    throw invalid("locale", "bcp47", "must be a BCP 47 language tag (for example: de-CH)");
  if (timezone !== "" && findTimeZone(timezone) === undefined) {
    throw invalid("timezone", "iana", "must be an IANA time zone name (for example: Europe/Berlin)");
  }
  requireJsonBytes("data", data, dataBytesMax);
}

/** Whether a text is a telephone number in E.164 format. */
export function isPhone(text: string): boolean {
  return phonePattern.test(text);
}

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
