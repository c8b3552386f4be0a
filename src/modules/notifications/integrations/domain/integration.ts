import { isDeepStrictEqual } from "node:util";
import { invalid } from "../../../../errors/index.ts";
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

export const priorityDefault = 100;

/** The maximum number of integrations per tenant. */
export const integrationsMax = 500;

const metadataBytesMax = 16 * 1024;

/** Throws when metadata is too large. */
export function checkMetadata(metadata: IntegrationDetails["metadata"]): void {
  if (Buffer.byteLength(JSON.stringify(metadata)) > metadataBytesMax) {
    throw invalid("metadata", "max_bytes", `must have at most ${metadataBytesMax} bytes as JSON`);
  }
}

const fieldNames = {
  name: "name",
  providerKey: "provider_key",
  connectionId: "connection_id",
  priority: "priority",
  active: "active",
  condition: "condition",
  casingOverride: "casing_override",
  metadata: "metadata",
} as const satisfies Record<keyof IntegrationDetails, string>;

/** The API names of the fields that an update changes. */
export function changedFields(current: IntegrationDetails, next: IntegrationDetails): string[] {
  return (Object.keys(fieldNames) as (keyof IntegrationDetails)[])
    .filter((field) => !isDeepStrictEqual(current[field], next[field]))
    .map((field) => fieldNames[field]);
}
