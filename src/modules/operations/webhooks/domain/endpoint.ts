import type { EnvironmentMode, TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Json } from "../../../../platform/document/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

export type EndpointStatus = "active" | "disabled";

/** Why an endpoint is disabled; empty if it is not. */
export type DisabledReason = "" | "manual" | "gone" | "failing";

/** A URL that events are sent to. */
export interface Endpoint extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly url: string;
  readonly description: string;
  /** Exact types, and families such as `order.*`; empty or `*` for all types. */
  readonly eventTypes: readonly string[];
  /** The environments whose events it gets. It always gets events without an environment. */
  readonly environmentMode: EnvironmentMode;
  readonly status: EndpointStatus;
  readonly disabledReason: DisabledReason;
  /** Since when every attempt has failed; null if the last one succeeded. */
  readonly failingSince: Date | null;
  /** The names of the additional headers. */
  readonly headerNames: readonly string[];
  /** Whether events are sent one after the other, in the order of the log. */
  readonly ordered: boolean;
  /** The delays between attempts; empty for the default schedule. */
  readonly retryDelaysS: readonly number[];
  /** The template of the body; null for the event itself. */
  readonly transform: Json;
}

/** Additional headers, values by name. */
export type Headers = Readonly<Record<string, string>>;

export interface NewEndpoint
  extends Pick<Endpoint, "url" | "description" | "eventTypes" | "ordered" | "retryDelaysS" | "transform"> {
  readonly headers: Headers;
  /** Defaults to the caller's own mode. */
  readonly environmentMode?: EnvironmentMode | undefined;
}

/** The fields that an update can change. */
export interface EndpointChange
  extends Partial<Pick<Endpoint, "url" | "description" | "eventTypes" | "status" | "ordered" | "retryDelaysS">> {
  readonly headers?: Headers | undefined;
  /** Null removes the template. */
  readonly transform?: Json | undefined;
}

/** A sealed secret that signs an endpoint's messages. */
export interface SealedSecret {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly endpointId: string;
  readonly ciphertext: string;
  readonly keyId: string;
}

/** Maximum number of endpoints per tenant. Every event is matched against all of them. */
export const endpointsMax = 100;

/** How long a replaced secret still signs messages. */
export const overlapMs = 24 * 3_600_000;

/** Maximum number of valid secrets per endpoint. Each adds a signature to the header of every message. */
export const secretsMax = 5;

/** How long an endpoint may fail before it is disabled. */
export const failingMsMax = 5 * 24 * 3_600_000;

/** The binding of a secret's ciphertext. */
export function bindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "webhook.secret" };
}

/** The binding of the ciphertext of additional headers. */
export function headersBindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "webhook.headers" };
}
