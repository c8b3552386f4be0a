// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Provider configs: a tenant's own OAuth app or other settings for a provider. Secrets are never returned. */
export interface ProviderConfigService {
  /** Creates a provider config as a draft. */
  create(request: CreateProviderConfigRequest, options?: CallOptions): Promise<ProviderConfig>;

  /** Returns one provider config, without its secrets. */
  get(request: GetProviderConfigRequest, options?: CallOptions): Promise<ProviderConfig>;

  /** Lists the provider configs of the caller's tenant, archived ones included, oldest first. */
  list(request?: ListProviderConfigsRequest, options?: CallOptions): List<ProviderConfig>;

  /** Changes the fields that are present. An archived config cannot be changed, and the client id only in a draft. */
  update(request: UpdateProviderConfigRequest, options?: CallOptions): Promise<ProviderConfig>;

  /** Activates a config: connect sessions can use it. An active config stays unchanged. */
  activate(request: ActivateProviderConfigRequest, options?: CallOptions): Promise<ProviderConfig>;

  /** Disables a config: no connect session can use it. Its connections still work and are refreshed. */
  disable(request: DisableProviderConfigRequest, options?: CallOptions): Promise<ProviderConfig>;

  /** Archives a draft or disabled config permanently and deletes its secrets. It must have no connections that are not revoked. */
  archive(request: ArchiveProviderConfigRequest, options?: CallOptions): Promise<ProviderConfig>;

  /** Stages a version without activating it: scopes, settings and the version of the actions. A promotion activates it. */
  createVersion(request: CreateProviderConfigVersionRequest, options?: CallOptions): Promise<ProviderConfigVersion>;

  /** Returns one version with its content. */
  getVersion(request: GetProviderConfigVersionRequest, options?: CallOptions): Promise<ProviderConfigVersion>;

  /** Lists the versions of a provider config, newest first. Every change of the client id, the scopes, the settings or the manifest version is a version. Secrets are in no version. */
  listVersions(request: ListProviderConfigVersionsRequest, options?: CallOptions): List<ProviderConfigVersion>;
}

const providerConfigServiceOperations = {
  create: { verb: "POST", path: "/api/v2/connector/provider-configs", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/connector/provider-configs/{id}" },
  list: { verb: "GET", path: "/api/v2/connector/provider-configs", result: "cursor" },
  update: { verb: "PATCH", path: "/api/v2/connector/provider-configs/{id}", body: "*", keyed: true },
  activate: { verb: "POST", path: "/api/v2/connector/provider-configs/{id}:activate", body: "*", keyed: true },
  disable: { verb: "POST", path: "/api/v2/connector/provider-configs/{id}:disable", body: "*", keyed: true },
  archive: { verb: "POST", path: "/api/v2/connector/provider-configs/{id}:archive", body: "*", keyed: true },
  createVersion: { verb: "POST", path: "/api/v2/connector/provider-configs/{id}/versions", body: "*", keyed: true },
  getVersion: { verb: "GET", path: "/api/v2/connector/provider-configs/{id}/versions/{version}" },
  listVersions: { verb: "GET", path: "/api/v2/connector/provider-configs/{id}/versions", result: "cursor" },
} as const satisfies Record<keyof ProviderConfigService, Operation>;

/** Creates the service over a transport. */
export function createProviderConfigService(transport: Transport): ProviderConfigService {
  return bindOperations<ProviderConfigService>(transport, providerConfigServiceOperations);
}

/** Request to create a provider config. */
export type CreateProviderConfigRequest = {
  /** The provider. */
  readonly provider_key: string;
  /** The name. */
  readonly name: string;
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The id of the OAuth app. */
  readonly client_id?: string;
  /** Secrets of the app: client_secret, private_key (PEM, for providers that authenticate clients with it) or others that the provider names. Write-only. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Scopes to request besides the provider's default ones. */
  readonly scopes?: readonly string[];
  /** Values that are not secret, for the provider's templates. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The version of the provider's manifest whose actions the connections execute; the newest one if empty. */
  readonly manifest_version?: string;
};

/** A tenant's own settings for a provider, such as its OAuth app; shown without the secrets. */
export type ProviderConfig = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The provider. */
  readonly provider_key: string;
  /** The name. */
  readonly name: string;
  /** draft, active, disabled (existing connections still work) or archived (permanently unusable). */
  readonly status: string;
  /** The id of the OAuth app; empty if the provider needs none. */
  readonly client_id: string;
  /** The names of the stored secrets (for example: client_secret). Their values are never returned. */
  readonly secret_names: readonly string[];
  /** Scopes to request besides the provider's default ones. */
  readonly scopes: readonly string[];
  /** Values that are not secret, for the provider's templates. */
  readonly settings: Readonly<Record<string, string>>;
  /** The redirect URI to register in the OAuth app. It is different for every config. */
  readonly redirect_uri: string;
  /** When it was last activated, if ever. Of several active configs, connect sessions use the last activated one by default. */
  readonly activated_at?: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** The version of the provider's manifest whose actions the connections execute; the newest one if empty. */
  readonly manifest_version: string;
};

/** Identifies a provider config. */
export type GetProviderConfigRequest = {
  /** The provider config's id. */
  readonly id: string;
};

/** Request for a page of provider configs. */
export type ListProviderConfigsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this provider. */
  readonly provider_key?: string;
  /** Only those in this status. */
  readonly status?: "draft" | "active" | "disabled" | "archived";
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** Scopes to request besides the provider's default ones. */
export type ProviderConfigScopes = {
  /** The scopes, in the provider's terms. */
  readonly scopes?: readonly string[];
};

/** Values that are not secret, for the provider's templates. */
export type ProviderConfigSettings = {
  /** The values by name. */
  readonly settings?: Readonly<Record<string, string>>;
};

/** Changes the fields that are present. */
export type UpdateProviderConfigRequest = {
  /** The provider config's id. */
  readonly id: string;
  /** The name. */
  readonly name?: string;
  /** The id of the OAuth app; only while the config is a draft, because grants belong to one app. */
  readonly client_id?: string;
  /** Secrets to set, by name; the others stay. An empty value removes a secret. Write-only. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Replaces the scopes. */
  readonly scope_set?: ProviderConfigScopes;
  /** Replaces the settings. */
  readonly setting_set?: ProviderConfigSettings;
  /** The expected version of the record; unconditional when absent. */
  readonly record_version?: number;
  /** The version of the provider's manifest whose actions the connections execute; the newest one if empty. */
  readonly manifest_version?: string;
};

/** Selects the provider config to activate. */
export type ActivateProviderConfigRequest = {
  /** The provider config's id. */
  readonly id: string;
};

/** Selects the provider config to disable. */
export type DisableProviderConfigRequest = {
  /** The provider config's id. */
  readonly id: string;
};

/** Selects the provider config to archive. */
export type ArchiveProviderConfigRequest = {
  /** The provider config's id. */
  readonly id: string;
};

/** Request to stage a version. */
export type CreateProviderConfigVersionRequest = {
  /** The provider config's id. */
  readonly id: string;
  /** All scopes; those of the provider config when absent. */
  readonly scope_set?: ProviderConfigScopes;
  /** All settings; those of the provider config when absent. */
  readonly setting_set?: ProviderConfigSettings;
  /** What is new, for people. */
  readonly message?: string;
  /** The version of the provider's manifest whose actions the connections execute, empty for the newest one; that of the provider config when absent. */
  readonly manifest_version?: string;
};

/** What a provider config sends to its provider, without secrets. */
export type ProviderConfigVersion = {
  /** The provider config. */
  readonly provider_config_id: string;
  /** The number of the version, from 1. */
  readonly version: number;
  /** The SHA-256 of the content. */
  readonly sha256: string;
  /** Whether the provider config has this content. */
  readonly active: boolean;
  /** change (captured from a change of the provider config) or staged. */
  readonly origin: string;
  /** What is new, for people. */
  readonly message: string;
  /** Who made the change or staged the version. */
  readonly created_by: string;
  /** When. */
  readonly created_at?: string;
  /** The content as canonical JSON: the bytes that the digest is of. It has client_id, scopes, settings, and manifest_version if it is not empty. */
  readonly content: string;
};

/** Identifies a version. */
export type GetProviderConfigVersionRequest = {
  /** The provider config's id. */
  readonly id: string;
  /** The number of the version. */
  readonly version: number;
};

/** Request for a page of versions. */
export type ListProviderConfigVersionsRequest = {
  /** The provider config's id. */
  readonly id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};
