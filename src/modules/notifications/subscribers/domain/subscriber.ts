import { isDeepStrictEqual } from "node:util";
import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** A subscriber's id. */
export type SubscriberId = string & { readonly __id: "subscriber" };

/** What a tenant says about a subscriber; a text that is empty is not known. */
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

/** Someone who is notified. */
export interface Subscriber extends Profile, Stamps {
  readonly tenantId: TenantId;
  readonly id: SubscriberId;
  /** What the tenant calls it. */
  readonly externalId: string;
  /** Whether anything is sent to it. */
  readonly active: boolean;
  /** Since when nothing is sent to the profile's address; null where nothing speaks against it. */
  readonly emailSuppressedAt: Date | null;
  readonly phoneSuppressedAt: Date | null;
}

/** What is to be set of a profile; the rest stays as it is. */
export type ProfileChange = { readonly [Field in keyof Profile]?: Profile[Field] | undefined };

/** The profile of whom nothing is known. */
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

/** The fields of a profile, by the names that they have in messages. */
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

/** What of a change is not so already. */
export function differences(current: Profile, change: ProfileChange): ProfileChange {
  const differing = fields.filter(
    (field) => change[field] !== undefined && !isDeepStrictEqual(change[field], current[field]),
  );
  return Object.fromEntries(differing.map((field) => [field, change[field]]));
}

/** The names, as messages have them, of the fields that a change sets. */
export function namesOf(change: ProfileChange): string[] {
  return fields.filter((field) => change[field] !== undefined).map((field) => fieldNames[field]);
}

const dataBytesMax = 64 * 1024;
const phonePattern = /^\+[1-9][0-9]{6,14}$/;

/** Refuses what no single field's rules tell: texts that are not what they stand for, data that is too large. */
export function checkProfile(change: ProfileChange, isEmail: (text: string) => boolean): void {
  const { email = "", phone = "", locale = "", timezone = "", data = {} } = change;
  if (email !== "" && !isEmail(email)) throw invalid("email", "email", "must be an email address");
  if (phone !== "" && !isPhone(phone)) throw invalid("phone", "e164", "must be a telephone number such as +4930901820");
  if (locale !== "" && !isLocale(locale)) throw invalid("locale", "bcp47", "must be a BCP 47 tag such as de-CH");
  if (timezone !== "" && !isTimezone(timezone)) {
    throw invalid("timezone", "iana", "must be the IANA name of a time zone such as Europe/Berlin");
  }
  if (Buffer.byteLength(JSON.stringify(data)) > dataBytesMax) {
    throw invalid("data", "max_bytes", `must have at most ${dataBytesMax} bytes as JSON`);
  }
}

/** Whether a text is a telephone number in the form of E.164. */
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

function isTimezone(text: string): boolean {
  // Offsets such as +02:00 are taken for zones too, but know no summer.
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}
