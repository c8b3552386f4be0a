import type { TenantId } from "../../../../../platform/access/index.ts";
import type { Channel } from "../../domain/endpoint.ts";

/** Why an address is suppressed. unreachable: a provider refused it. manual: a caller suppressed it. */
export type SuppressionReason = "bounced" | "complained" | "unsubscribed" | "unreachable" | "manual";

/** An address that no message is sent to. */
export interface Suppression {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly channel: Exclude<Channel, "in_app">;
  /** In the form in which addresses are compared: email addresses in lower case. */
  readonly identity: string;
  readonly reason: SuppressionReason;
  readonly note: string;
  /** The delivery after which it was suppressed, and its provider; "" for a manual one. */
  readonly deliveryId: string;
  readonly providerKey: string;
  readonly createdAt: Date;
}

/** An address that a message was sent to, and why it is to be suppressed. */
export interface UsedAddress {
  /** "" for an address that is only in the profile. */
  readonly endpointId: string;
  readonly subscriberId: string;
  readonly channel: Channel;
  /** The address, or when the message was sent if it is not known. The profile may have another address by now. */
  readonly used: { readonly identity: string } | { readonly at: Date };
  readonly reason: Exclude<SuppressionReason, "manual">;
  readonly deliveryId: string;
  readonly providerKey: string;
}
