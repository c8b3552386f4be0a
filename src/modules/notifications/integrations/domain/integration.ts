import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Channel } from "../../subscribers/index.ts";

/** Casing applied to the texts of messages; empty leaves them unchanged. */
export type Casing = "" | "upper" | "lower" | "title" | "sentence";

/** The replaceable fields of an integration. An update replaces all of them. */
export interface IntegrationDetails {
  readonly name: string;
  readonly providerKey: string;
  /** Empty for providers that need no connection. */
  readonly connectionId: string;
  /** The lowest priority is used first. */
  readonly priority: number;
  readonly active: boolean;
  /** CEL condition on the message; empty matches every message. */
  readonly condition: string;
  readonly casingOverride: Casing;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A provider configured to serve a channel. */
export interface Integration extends IntegrationDetails, Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly channel: Channel;
}

/** The ids of integrations that are not stored start with this. */
export const newIntegration = "new ";

export const priorityDefault = 100;

/** The fields of a new integration, unless they are given. */
export const emptyDetails: IntegrationDetails = {
  name: "new",
  providerKey: "",
  connectionId: "",
  priority: priorityDefault,
  active: true,
  condition: "",
  casingOverride: "",
  metadata: {},
};

/** The maximum number of integrations per tenant. */
export const integrationsMax = 500;

export const metadataBytesMax = 16 * 1024;

/** The fields that an update replaces. */
export const detailFields = [
  ...(["name", "providerKey", "connectionId", "priority", "active"] as const),
  ...(["condition", "casingOverride", "metadata"] as const),
] satisfies (keyof IntegrationDetails)[];
