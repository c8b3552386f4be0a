import type { ScimObject } from "./filter-match.ts";
import type { Attributes } from "./resource.ts";

/** Fields that a member takes over from a provisioned person. */
export interface PersonProfile {
  readonly email: string;
  readonly displayName: string;
  readonly isActive: boolean;
}

/** The profile of a person: the primary address, else the one at work, else any, else the user name. */
export function profileOf(attributes: Attributes): PersonProfile {
  const emails = (attributes.emails as readonly ScimObject[] | undefined) ?? [];
  const chosen =
    emails.find(({ primary, value }) => primary === true && value !== undefined) ??
    emails.find(({ type, value }) => String(type).toLowerCase() === "work" && value !== undefined) ??
    emails.find(({ value }) => value !== undefined);
  const name = attributes.name as ScimObject | undefined;
  const full = [name?.givenName, name?.familyName].filter((each) => each !== undefined).join(" ");
  const displayName = attributes.displayName ?? name?.formatted ?? (full || attributes.userName);
  return {
    email: String(chosen?.value ?? attributes.userName).slice(0, 254),
    displayName: String(displayName).slice(0, 200),
    // A person is active unless the directory says something else.
    isActive: attributes.active !== false,
  };
}
