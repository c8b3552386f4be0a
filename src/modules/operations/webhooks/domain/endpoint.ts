import type { EnvironmentMode, TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** Whether an endpoint gets events. */
export type EndpointStatus = "active" | "disabled";

/** Why an endpoint is disabled; empty when it is not. */
export type DisabledReason = "" | "manual" | "gone" | "failing";

/** Where events are sent. */
export interface Endpoint extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly url: string;
  readonly description: string;
  /** Exact types and families such as `order.*`; everything when empty. */
  readonly eventTypes: readonly string[];
  /** The environments whose events it gets; those of no environment it always gets. */
  readonly environmentMode: EnvironmentMode;
  readonly status: EndpointStatus;
  readonly disabledReason: DisabledReason;
  /** Since when every attempt has failed; null when the last one succeeded. */
  readonly failingSince: Date | null;
}

/** What is asked for a new endpoint. */
export interface NewEndpoint extends Pick<Endpoint, "url" | "description" | "eventTypes"> {
  /** The caller's own when undefined. */
  readonly environmentMode?: EnvironmentMode | undefined;
}

/** What an update may change. */
export interface EndpointChange {
  readonly url?: string | undefined;
  readonly description?: string | undefined;
  readonly eventTypes?: readonly string[] | undefined;
  readonly status?: EndpointStatus | undefined;
}

/** A secret that signs an endpoint's messages, sealed. */
export interface SealedSecret {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly endpointId: string;
  readonly ciphertext: string;
  readonly keyId: string;
}

/** The most endpoints of a tenant: every event is held against all of them. */
export const endpointsMax = 100;

/** How long a secret signs on after it was replaced. */
export const overlapMs = 24 * 3_600_000;

/** The most secrets that sign at once: every one makes the header of every message longer. */
export const secretsMax = 5;

/** How long every attempt must have failed until an endpoint is disabled. */
export const failingMsMax = 5 * 24 * 3_600_000;

/** What a secret's ciphertext is bound to. */
export function bindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "webhook.secret" };
}
