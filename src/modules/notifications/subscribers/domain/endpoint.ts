import { invalid, unreachable } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { requireJsonBytes } from "../../../../platform/document/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import { isPhone, type SubscriberId } from "./subscriber.ts";

/** A notification channel. */
export type Channel = "email" | "sms" | "push" | "chat" | "in_app";

export type EndpointId = string & { readonly __id: "endpoint" };

/** The fields that identify an address within a tenant. */
export interface Address {
  readonly channel: Channel;
  /** The provider that it was registered with, or `default`. */
  readonly providerKey: string;
  /** The address or token itself. */
  readonly identity: string;
}

/** The changeable fields of an endpoint. */
interface EndpointDetails {
  /** The connection to which it is pinned; empty when any integration may serve it. */
  readonly connectionId: string;
  /** Whether the subscriber has confirmed the address. */
  readonly verified: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An address of a subscriber on one channel. */
export interface Endpoint extends Address, EndpointDetails, Stamps {
  readonly tenantId: TenantId;
  readonly id: EndpointId;
  readonly subscriberId: SubscriberId;
  readonly lastUsedAt: Date;
  /** When the address was suppressed; null while it is in use. */
  readonly suppressedAt: Date | null;
}

/** A partial update of an endpoint; undefined fields stay unchanged. */
export type EndpointChange = { readonly [Field in keyof EndpointDetails]?: EndpointDetails[Field] | undefined };

/** The default details of an endpoint. */
export const emptyDetails: EndpointDetails = { connectionId: "", verified: false, metadata: {} };

/** The provider key of addresses that name no provider. */
export const providerKeyDefault = "default";

/** The provider that an address names; "" for none. */
export function namedProvider({ providerKey }: Pick<Address, "providerKey">): string {
  return providerKey === providerKeyDefault ? "" : providerKey;
}

/** Whether an address moves to the subscriber that registers it last: a device has one user at a time. */
export function movesByItself({ channel }: Pick<Address, "channel">): boolean {
  return channel === "push";
}

/** The maximum number of endpoints per subscriber. */
export const endpointsMax = 100;

const metadataBytesMax = 16 * 1024;

/** Throws when an address is not valid for its channel or metadata is too large. */
export function checkEndpoint(
  { channel, identity }: Address,
  { metadata = {} }: EndpointChange,
  isEmail: (text: string) => boolean,
): void {
  const problem = identityProblem(channel, identity, isEmail);
  if (problem !== undefined) throw invalid("identity", channel, problem);
  requireJsonBytes("metadata", metadata, metadataBytesMax);
}

function identityProblem(channel: Channel, identity: string, isEmail: (text: string) => boolean): string | undefined {
  switch (channel) {
    case "email":
      return isEmail(identity) ? undefined : "must be an email address (for example: ada@example.com)";
    case "sms":
      return isPhone(identity) ? undefined : "must be a telephone number in E.164 format (for example: +4930901820)";
    // The provider defines the format of these addresses.
    case "push":
    case "chat":
    case "in_app":
      return undefined;
    default:
      return unreachable(channel);
  }
}
