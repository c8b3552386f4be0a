import { isDeepStrictEqual } from "node:util";
import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Channel } from "../../subscribers/index.ts";

/** How texts are written that go through an integration; empty: as they are. */
export type Casing = "" | "upper" | "lower" | "title" | "sentence";

/** What is said about an integration; a replacement says all of it anew. */
export interface IntegrationDetails {
  readonly name: string;
  readonly providerKey: string;
  /** Empty for providers that need none. */
  readonly connectionId: string;
  /** The lower wins. */
  readonly priority: number;
  readonly active: boolean;
  /** For what it is used; for everything when empty. */
  readonly condition: string;
  readonly casingOverride: Casing;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A provider that serves a channel. */
export interface Integration extends IntegrationDetails, Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly channel: Channel;
}

/** The priority of an integration that names none. */
export const priorityDefault = 100;

/** How many integrations a tenant may have. */
export const integrationsMax = 500;

const metadataBytesMax = 16 * 1024;

/** Refuses metadata that is too large. */
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

/** The names, as messages have them, of what a replacement makes different. */
export function changedNames(current: IntegrationDetails, next: IntegrationDetails): string[] {
  return (Object.keys(fieldNames) as (keyof IntegrationDetails)[])
    .filter((field) => !isDeepStrictEqual(current[field], next[field]))
    .map((field) => fieldNames[field]);
}
