// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** Integrations: which provider serves a channel, in which order and for which messages. */
export interface IntegrationService {
  /** Creates an integration. */
  create(request: CreateIntegrationRequest, options?: CallOptions): Promise<Integration>;

  /** Returns one integration. */
  get(request: GetIntegrationRequest, options?: CallOptions): Promise<Integration>;

  /** Lists the integrations of the caller's tenant, oldest first. */
  list(request?: ListIntegrationsRequest, options?: CallOptions): List<Integration>;

  /** Replaces an integration: absent fields get their defaults. The channel cannot change. */
  update(request: UpdateIntegrationRequest, options?: CallOptions): Promise<Integration>;

  /** Deletes an integration. Nothing is sent through it afterwards. */
  delete(request: DeleteIntegrationRequest, options?: CallOptions): Promise<Integration>;
}

const integrationServiceOperations = {
  create: { verb: "POST", path: "/api/v2/notification/integrations", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/notification/integrations/{id}" },
  list: { verb: "GET", path: "/api/v2/notification/integrations", result: "cursor" },
  update: { verb: "PUT", path: "/api/v2/notification/integrations/{id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/v2/notification/integrations/{id}", keyed: true },
} as const satisfies Record<keyof IntegrationService, Operation>;

/** Creates the service over a transport. */
export function createIntegrationService(transport: Transport): IntegrationService {
  return bindOperations<IntegrationService>(transport, integrationServiceOperations);
}

/** Request to create an integration. */
export type CreateIntegrationRequest = {
  /** The channel that it serves: email, sms, push, chat or in_app. */
  readonly channel: "email" | "sms" | "push" | "chat" | "in_app";
  /** The name, unique among the integrations of the channel. */
  readonly name: string;
  /** The provider that sends; it must serve the channel. */
  readonly provider_key: string;
  /** The connection that holds the provider's credentials; empty for in_app and development, which need none. */
  readonly connection_id?: string;
  /** The lowest priority is used first; the oldest among equals. Default 100. */
  readonly priority?: number;
  /** Whether it is used; default true. */
  readonly active?: boolean;
  /** The messages for which it is used, as a CEL condition over subscriber, payload, workflow_key and channel; all when empty. */
  readonly condition?: string;
  /** The letter case of the messages: upper, lower, title or sentence; unchanged when empty. */
  readonly casing_override?: "" | "upper" | "lower" | "title" | "sentence";
  /** Free-form data of the tenant, at most 16 KiB as JSON. */
  readonly metadata?: object;
};

/** A provider that serves a channel. */
export type Integration = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The channel that it serves: email, sms, push, chat or in_app. */
  readonly channel: string;
  /** The name. */
  readonly name: string;
  /** The provider that sends. */
  readonly provider_key: string;
  /** The connection that holds the provider's credentials; empty when it needs none. */
  readonly connection_id: string;
  /** The lowest priority is used first; the oldest among equals. */
  readonly priority: number;
  /** Whether it is used. */
  readonly active: boolean;
  /** The messages for which it is used, as a CEL condition; all when empty. */
  readonly condition: string;
  /** The letter case of the messages: upper, lower, title or sentence; unchanged when empty. */
  readonly casing_override: string;
  /** Free-form data of the tenant. */
  readonly metadata?: JsonObject;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** Identifies an integration. */
export type GetIntegrationRequest = {
  /** The integration's id. */
  readonly id: string;
};

/** Request for a page of integrations. */
export type ListIntegrationsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this channel. */
  readonly channel?: "email" | "sms" | "push" | "chat" | "in_app";
};

/** Replaces an integration. */
export type UpdateIntegrationRequest = {
  /** The integration's id. */
  readonly id: string;
  /** The channel that it serves; if present, it must be the current one. */
  readonly channel?: "email" | "sms" | "push" | "chat" | "in_app";
  /** The name, unique among the integrations of the channel. */
  readonly name: string;
  /** The provider that sends; it must serve the channel. */
  readonly provider_key: string;
  /** The connection that holds the provider's credentials; empty for in_app and development, which need none. */
  readonly connection_id?: string;
  /** The lowest priority is used first; the oldest among equals. Default 100. */
  readonly priority?: number;
  /** Whether it is used; default true. */
  readonly active?: boolean;
  /** The messages for which it is used, as a CEL condition over subscriber, payload, workflow_key and channel; all when empty. */
  readonly condition?: string;
  /** The letter case of the messages: upper, lower, title or sentence; unchanged when empty. */
  readonly casing_override?: "" | "upper" | "lower" | "title" | "sentence";
  /** Free-form data of the tenant, at most 16 KiB as JSON. */
  readonly metadata?: object;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Selects the integration to remove. */
export type DeleteIntegrationRequest = {
  /** The integration's id. */
  readonly id: string;
};
