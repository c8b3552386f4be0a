import { isDeepStrictEqual } from "node:util";
import { invalid, unreachable } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import { isPhone, type SubscriberId } from "./subscriber.ts";

/** A way to reach a subscriber. */
export type Channel = "email" | "sms" | "push" | "chat" | "in_app";

/** An endpoint's id. */
export type EndpointId = string & { readonly __id: "endpoint" };

/** What tells an address from all others of a tenant's. */
export interface Address {
  readonly channel: Channel;
  /** The provider that it was registered with, or `default`. */
  readonly providerKey: string;
  /** The address or token itself. */
  readonly identity: string;
}

/** What else is said about an address. */
interface EndpointDetails {
  /** The connection that it is pinned to; empty when any integration may serve it. */
  readonly connectionId: string;
  /** Whether the subscriber confirmed it. */
  readonly verified: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An address of a subscriber on one channel. */
export interface Endpoint extends Address, EndpointDetails, Stamps {
  readonly tenantId: TenantId;
  readonly id: EndpointId;
  readonly subscriberId: SubscriberId;
  readonly lastUsedAt: Date;
  /** Since when the other side has it that the address is gone for good. */
  readonly suppressedAt: Date | null;
}

/** What is to be set of an endpoint; the rest stays as it is. */
export type EndpointChange = { readonly [Field in keyof EndpointDetails]?: EndpointDetails[Field] | undefined };

/** The endpoint that nothing was said about. */
export const emptyDetails: EndpointDetails = { connectionId: "", verified: false, metadata: {} };

/** The provider of addresses that name none. */
export const providerKeyDefault = "default";

/** The provider that an address names; "" when it names none. */
export function namedProvider({ providerKey }: Pick<Address, "providerKey">): string {
  return providerKey === providerKeyDefault ? "" : providerKey;
}

/** How many addresses a subscriber may have. */
export const endpointsMax = 100;

const fieldNames = {
  connectionId: "connection_id",
  verified: "verified",
  metadata: "metadata",
} as const satisfies Record<keyof EndpointDetails, string>;

/** The names, as messages have them, of what a change makes different. */
export function changedNames(current: EndpointDetails, change: EndpointChange): string[] {
  return (Object.keys(fieldNames) as (keyof EndpointDetails)[])
    .filter((field) => change[field] !== undefined && !isDeepStrictEqual(change[field], current[field]))
    .map((field) => fieldNames[field]);
}

const metadataBytesMax = 16 * 1024;

/** Refuses an address that its channel cannot reach, and metadata that is too large. */
export function checkEndpoint(
  { channel, identity }: Address,
  { metadata = {} }: EndpointChange,
  isEmail: (text: string) => boolean,
): void {
  const problem = identityProblem(channel, identity, isEmail);
  if (problem !== undefined) throw invalid("identity", channel, problem);
  if (Buffer.byteLength(JSON.stringify(metadata)) > metadataBytesMax) {
    throw invalid("metadata", "max_bytes", `must have at most ${metadataBytesMax} bytes as JSON`);
  }
}

function identityProblem(channel: Channel, identity: string, isEmail: (text: string) => boolean): string | undefined {
  switch (channel) {
    case "email":
      return isEmail(identity) ? undefined : "must be an email address";
    case "sms":
      return isPhone(identity) ? undefined : "must be a telephone number such as +4930901820";
    // What these are called is up to their providers.
    case "push":
    case "chat":
    case "in_app":
      return undefined;
    default:
      return unreachable(channel);
  }
}
