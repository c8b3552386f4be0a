// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/** The connector catalogue: providers with their actions and triggers. It has the built-in providers, the tenant's own manifests, and the manifests of installed packs. */
export interface ConnectorCatalogService {
  /** Lists providers. */
  listProviders(request?: ListProvidersRequest, options?: CallOptions): List<ConnectorProvider>;

  /** Returns one provider. */
  getProvider(request: GetProviderRequest, options?: CallOptions): Promise<ConnectorProvider>;

  /** Lists actions. */
  listActions(request?: ListActionsRequest, options?: CallOptions): List<ConnectorAction>;

  /** Returns one action. Only an action with the runtime status `executable` can be executed. */
  getAction(request: GetActionRequest, options?: CallOptions): Promise<ConnectorAction>;

  /** Lists triggers. */
  listTriggers(request?: ListTriggersRequest, options?: CallOptions): List<ConnectorTrigger>;

  /** Returns one trigger. */
  getTrigger(request: GetTriggerRequest, options?: CallOptions): Promise<ConnectorTrigger>;
}

const connectorCatalogServiceOperations = {
  listProviders: { verb: "GET", path: "/api/v2/connector/providers", result: "cursor" },
  getProvider: { verb: "GET", path: "/api/v2/connector/providers/{key}" },
  listActions: { verb: "GET", path: "/api/v2/connector/actions", result: "cursor" },
  getAction: { verb: "GET", path: "/api/v2/connector/actions/{key}" },
  listTriggers: { verb: "GET", path: "/api/v2/connector/triggers", result: "cursor" },
  getTrigger: { verb: "GET", path: "/api/v2/connector/triggers/{key}" },
} as const satisfies Record<keyof ConnectorCatalogService, Operation>;

/** Creates the service over a transport. */
export function createConnectorCatalogService(transport: Transport): ConnectorCatalogService {
  return bindOperations<ConnectorCatalogService>(transport, connectorCatalogServiceOperations);
}

/** Connector manifests: a tenant's own providers, as documents of the manifest language. Versions never change. */
export interface ConnectorManifestService {
  /** Creates a version of a manifest. A version that exists with the same content is returned unchanged. */
  create(request?: CreateManifestRequest, options?: CallOptions): Promise<ConnectorManifest>;

  /** Returns one version with its document. */
  get(request: GetManifestRequest, options?: CallOptions): Promise<ConnectorManifest>;

  /** Lists the versions of the tenant's manifests, without their documents, oldest first. */
  list(request?: ListManifestsRequest, options?: CallOptions): List<ConnectorManifest>;

  /** Deletes a version. The only version of a provider with connections, and the versions of a pack, cannot be deleted. */
  delete(request: DeleteManifestRequest, options?: CallOptions): Promise<DeleteManifestResponse>;

  /** Checks a manifest without storing it. */
  validate(request?: ValidateManifestRequest, options?: CallOptions): Promise<ValidateManifestResponse>;

  /** Tries an action of a manifest against recorded answers, without storing or sending anything: renders the requests, and reads the answers as an execution would. */
  try(request: TryManifestRequest, options?: CallOptions): Promise<TryManifestResponse>;

  /** Returns the JSON Schema of the manifest language, for editors and other tools. */
  getSchema(request?: GetManifestSchemaRequest, options?: CallOptions): Promise<Response>;
}

const connectorManifestServiceOperations = {
  create: { verb: "POST", path: "/api/v2/connector/manifests", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/connector/manifests/{id}" },
  list: { verb: "GET", path: "/api/v2/connector/manifests", result: "cursor" },
  delete: { verb: "DELETE", path: "/api/v2/connector/manifests/{id}", keyed: true },
  validate: { verb: "POST", path: "/api/v2/connector/manifests:validate", body: "*" },
  try: { verb: "POST", path: "/api/v2/connector/manifests:try", body: "*" },
  getSchema: { verb: "GET", path: "/api/v2/connector/manifests:schema", result: "raw" },
} as const satisfies Record<keyof ConnectorManifestService, Operation>;

/** Creates the service over a transport. */
export function createConnectorManifestService(transport: Transport): ConnectorManifestService {
  return bindOperations<ConnectorManifestService>(transport, connectorManifestServiceOperations);
}

/** Request for a page of providers. */
export type ListProvidersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Words that the key, title or description contains; best matches first. By default all, ordered by key. */
  readonly query?: string;
  /** Only those of this category. */
  readonly category?: "crm" | "communication" | "developer_tools" | "productivity" | "payments" | "accounting" | "support" | "marketing" | "storage" | "analytics" | "incident" | "ai" | "commerce" | "calendar" | "email" | "data" | "generic";
  /** Only those of providers with this authentication mode. */
  readonly auth_mode?: "oauth2" | "oauth2_cc" | "api_key" | "basic" | "two_step" | "jwt" | "signed_jwt" | "aws_sigv4" | "none";
  /** Only those in this runtime status. */
  readonly runtime_status?: "executable" | "catalog_only" | "deprecated" | "unconfigured" | "disabled";
  /** Only those from this source. */
  readonly source?: "builtin" | "tenant" | "pack";
};

/** A provider: a system that connections give access to. */
export type ConnectorProvider = {
  /** The key. */
  readonly key: string;
  /** The version of its manifest. */
  readonly version: string;
  /** The SHA-256 of the canonical manifest, in hexadecimal. */
  readonly digest: string;
  /** The name. */
  readonly name: string;
  /** The category. */
  readonly category: string;
  /** What it is, for people. */
  readonly description: string;
  /** The provider's documentation. */
  readonly docs_url: string;
  /** The hosts that requests may reach. */
  readonly hosts: readonly string[];
  /** The ways to authenticate; the first is the default. */
  readonly auth: readonly ConnectorAuthMode[];
  /** Settings of a connection that are not secret. */
  readonly settings: readonly ConnectorField[];
  /** builtin, tenant or pack. */
  readonly source: string;
  /** executable, catalog_only, unconfigured or disabled. */
  readonly runtime_status: string;
  /** Why it is not executable. */
  readonly runtime_reason: string;
  /** The number of its actions. */
  readonly action_count: number;
  /** The number of its triggers. */
  readonly trigger_count: number;
};

/** A way to authenticate at a provider. */
export type ConnectorAuthMode = {
  /** oauth2, oauth2_cc, api_key, basic, two_step, jwt, signed_jwt, aws_sigv4 or none. */
  readonly mode: string;
  /** The credentials that are asked for. */
  readonly fields: readonly ConnectorField[];
  /** The scopes that are requested by default. */
  readonly default_scopes: readonly string[];
  /** All scopes with their meanings. */
  readonly available_scopes: Readonly<Record<string, string>>;
  /** Further values of a provider config, besides the client id and the client secret. */
  readonly config_fields: readonly ConnectorField[];
};

/** A value that is asked for when an account is connected or a provider is configured. */
export type ConnectorField = {
  /** The name. */
  readonly name: string;
  /** The title in forms. */
  readonly title: string;
  /** What it is, for people. */
  readonly description: string;
  /** Whether forms hide the value. */
  readonly secret: boolean;
  /** Whether a value is required. */
  readonly required: boolean;
  /** Whether the value can have several lines. */
  readonly multiline: boolean;
  /** A regular expression (RE2) that values match; empty for any value. */
  readonly pattern: string;
  /** The allowed values; empty for any value. */
  readonly choices: readonly string[];
  /** An example. */
  readonly example: string;
  /** The default. */
  readonly default: string;
};

/** Identifies a provider. */
export type GetProviderRequest = {
  /** The provider's key. */
  readonly key: string;
  /** The version of the manifest; the newest by default. */
  readonly version?: string;
};

/** Request for a page of actions. */
export type ListActionsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Words that the key, title or description contains; best matches first. By default all, ordered by key. */
  readonly query?: string;
  /** Only those of this category. */
  readonly category?: "crm" | "communication" | "developer_tools" | "productivity" | "payments" | "accounting" | "support" | "marketing" | "storage" | "analytics" | "incident" | "ai" | "commerce" | "calendar" | "email" | "data" | "generic";
  /** Only those of this provider. */
  readonly provider_key?: string;
  /** Only those with this effect. */
  readonly effect?: "read" | "search" | "create" | "update" | "delete" | "send";
  /** Only those in this runtime status. */
  readonly runtime_status?: "executable" | "catalog_only" | "deprecated" | "unconfigured" | "disabled";
  /** Only those of providers with this authentication mode. */
  readonly auth_mode?: "oauth2" | "oauth2_cc" | "api_key" | "basic" | "two_step" | "jwt" | "signed_jwt" | "aws_sigv4" | "none";
};

/** An operation of a provider. */
export type ConnectorAction = {
  /** The global key, for example github.issue.create. */
  readonly key: string;
  /** The provider's key. */
  readonly provider_key: string;
  /** The version of the provider's manifest. */
  readonly provider_version: string;
  /** The title. */
  readonly title: string;
  /** What it does, for people. */
  readonly description: string;
  /** The provider's category. */
  readonly category: string;
  /** The properties of the input. */
  readonly input_properties: readonly ConnectorProperty[];
  /** The JSON Schema of the input. */
  readonly input_schema?: JsonObject;
  /** The JSON Schema of the output, if known. */
  readonly output_schema?: JsonObject;
  /** The OAuth scopes that it needs. */
  readonly scopes: readonly string[];
  /** The permissions that it needs, in the provider's terms. */
  readonly permissions: readonly string[];
  /** The keys of related actions. */
  readonly related: readonly string[];
  /** What it does to the provider's data. */
  readonly mutation?: ConnectorMutation;
  /** When it is repeated. */
  readonly retry?: ConnectorRetry;
  /** The longest time of one attempt, in milliseconds. */
  readonly timeout_ms: number;
  /** executable, catalog_only, deprecated, unconfigured or disabled. Only executable actions can be executed. */
  readonly runtime_status: string;
  /** Why it is not executable. */
  readonly runtime_reason: string;
  /** The action to use instead of a deprecated one. */
  readonly replaced_by: string;
  /** The authentication modes of the provider. */
  readonly auth_modes: readonly string[];
  /** Whether all pages of a list are read. */
  readonly paginated: boolean;
};

/** A property of an input. */
export type ConnectorProperty = {
  /** The name. */
  readonly name: string;
  /** The JSON types, for example string; empty for any. */
  readonly types: readonly string[];
  /** The title. */
  readonly title: string;
  /** What it is, for people. */
  readonly description: string;
  /** Whether a value is required. */
  readonly required: boolean;
  /** The default, if any. */
  readonly default?: JsonValue;
  /** The allowed values; empty for any value. */
  readonly choices: readonly JsonValue[];
  /** The action that lists values to choose from in the account; absent if there is none. Other values are allowed, too. */
  readonly choices_from?: ConnectorChoiceSource;
};

/** An action that lists the values to choose from for a property. Execute it with the connection, and read its output. */
export type ConnectorChoiceSource = {
  /** The key of the action, which reads. */
  readonly action_key: string;
  /** A JSON Pointer to the list in the output of the action. */
  readonly items: string;
  /** A JSON Pointer to the value in an element of the list. */
  readonly value: string;
  /** A JSON Pointer to what people are shown in an element of the list. */
  readonly label: string;
  /** The properties of the input that the action needs, too, under the same names. Enter them first. */
  readonly inputs: readonly string[];
};

/** What an action does to the provider's data. */
export type ConnectorMutation = {
  /** read, search, create, update, delete or send. */
  readonly effect: string;
  /** Whether data is lost. */
  readonly destructive: boolean;
  /** natural (repeating has no further effect), key (the provider deduplicates by a key) or none. */
  readonly idempotency: string;
};

/** When an action is repeated. */
export type ConnectorRetry = {
  /** How often it is attempted at most. */
  readonly max_attempts: number;
  /** The answer classes after which it is repeated. */
  readonly on: readonly string[];
};

/** Identifies an action. */
export type GetActionRequest = {
  /** The global key, for example github.issue.create. */
  readonly key: string;
};

/** Request for a page of triggers. */
export type ListTriggersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Words that the key, title or description contains; best matches first. By default all, ordered by key. */
  readonly query?: string;
  /** Only those of this category. */
  readonly category?: "crm" | "communication" | "developer_tools" | "productivity" | "payments" | "accounting" | "support" | "marketing" | "storage" | "analytics" | "incident" | "ai" | "commerce" | "calendar" | "email" | "data" | "generic";
  /** Only those of this provider. */
  readonly provider_key?: string;
  /** Only those of this kind. */
  readonly kind?: "webhook" | "poll";
  /** Only those in this runtime status. */
  readonly runtime_status?: "executable" | "catalog_only" | "deprecated" | "unconfigured" | "disabled";
  /** Only those of providers with this authentication mode. */
  readonly auth_mode?: "oauth2" | "oauth2_cc" | "api_key" | "basic" | "two_step" | "jwt" | "signed_jwt" | "aws_sigv4" | "none";
};

/** Something that happens at a provider. */
export type ConnectorTrigger = {
  /** The global key, for example github.issue.changed. */
  readonly key: string;
  /** The provider's key. */
  readonly provider_key: string;
  /** The version of the provider's manifest. */
  readonly provider_version: string;
  /** The title. */
  readonly title: string;
  /** When it fires, for people. */
  readonly description: string;
  /** The provider's category. */
  readonly category: string;
  /** webhook or poll. */
  readonly kind: string;
  /** The parameters of a subscription. */
  readonly input_properties: readonly ConnectorProperty[];
  /** The JSON Schema of the parameters. */
  readonly input_schema?: JsonObject;
  /** The JSON Schema of its events, if known. */
  readonly output_schema?: JsonObject;
  /** The OAuth scopes that it needs. */
  readonly scopes: readonly string[];
  /** The types of its events. */
  readonly event_types: readonly string[];
  /** Whether subscriptions are registered at the provider; otherwise the callback URL is entered there by hand. */
  readonly registered: boolean;
  /** Seconds between two polls; 0 for webhooks. */
  readonly poll_every_s: number;
  /** executable, catalog_only, deprecated, unconfigured or disabled. */
  readonly runtime_status: string;
  /** Why it is not executable. */
  readonly runtime_reason: string;
  /** The authentication modes of the provider. */
  readonly auth_modes: readonly string[];
};

/** Identifies a trigger. */
export type GetTriggerRequest = {
  /** The global key, for example github.issue.changed. */
  readonly key: string;
};

/** A manifest to create: as JSON or as a text. */
export type CreateManifestRequest = {
  /** The manifest, of at most 256 KiB. Absent if there is a text. */
  readonly document?: object;
  /** The manifest as a YAML or JSON text. */
  readonly text?: string;
  /** The format of the text: yaml (default) or json. */
  readonly format?: "" | "yaml" | "json";
};

/** A version of a tenant's manifest. It never changes. */
export type ConnectorManifest = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The provider's key. */
  readonly key: string;
  /** The version. */
  readonly version: string;
  /** The provider's name. */
  readonly name: string;
  /** The SHA-256 of the canonical document, in hexadecimal. */
  readonly digest: string;
  /** tenant or pack. */
  readonly source: string;
  /** The pack that it belongs to; empty for the tenant's own. */
  readonly pack_id: string;
  /** Whether it is the newest version, which connections use. */
  readonly active: boolean;
  /** The document. Absent in lists. */
  readonly document?: JsonObject;
  /** When it was created. */
  readonly created_at?: string;
};

/** Identifies a version of a manifest. */
export type GetManifestRequest = {
  /** The id. */
  readonly id: string;
};

/** Request for a page of manifests. */
export type ListManifestsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only the versions of this provider. */
  readonly key?: string;
};

/** Selects the version to delete. */
export type DeleteManifestRequest = {
  /** The id. */
  readonly id: string;
};

/** The version is deleted. */
export type DeleteManifestResponse = Record<never, never>;

/** A manifest to check: as JSON or as a text. */
export type ValidateManifestRequest = {
  /** The manifest. Absent if there is a text. */
  readonly document?: object;
  /** The manifest as a YAML or JSON text. */
  readonly text?: string;
  /** The format of the text: yaml (default) or json. */
  readonly format?: "" | "yaml" | "json";
};

/** The result of a check. */
export type ValidateManifestResponse = {
  /** Whether a version can be created. */
  readonly valid: boolean;
  /** What must be corrected, at most 100 entries. */
  readonly violations: readonly ConnectorManifestViolation[];
  /** The digest that the version would have; empty if it is not valid. */
  readonly digest: string;
  /** The keys of its actions. */
  readonly action_keys: readonly string[];
  /** The keys of its triggers. */
  readonly trigger_keys: readonly string[];
};

/** A rule of the manifest language that a document breaks. */
export type ConnectorManifestViolation = {
  /** Where, such as `actions["issue.create"].request.path`; empty for the document itself. */
  readonly path: string;
  /** The rule, such as `unknown_field`. */
  readonly rule: string;
  /** What is wrong and how to correct it, for people. */
  readonly message: string;
  /** The line in the text of the request, from 1. Without a text: the line in an expression; 0 for other violations. */
  readonly line: number;
  /** The column in the same text or expression, from 1; 0 if there is no line. */
  readonly column: number;
};

/** An answer of a provider. */
export type ConnectorRecordedAnswer = {
  /** The HTTP status. */
  readonly status: number;
  /** The headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. */
  readonly body?: string;
};

/** Tries an action of a manifest. */
export type TryManifestRequest = {
  /** The manifest. Absent if there is a text. */
  readonly document?: object;
  /** The manifest as a YAML or JSON text. */
  readonly text?: string;
  /** The format of the text: yaml (default) or json. */
  readonly format?: "" | "yaml" | "json";
  /** The name of the action in the manifest, for example issue.create. */
  readonly action: string;
  /** The input, as the action's schema describes it. */
  readonly input?: object;
  /** The authentication mode; the first of the manifest when empty. */
  readonly auth_mode?: string;
  /** Settings of the account. Missing ones are filled with their defaults and examples. */
  readonly settings?: object;
  /** Credentials of the account. Use no real ones: the rendered requests have them. Missing ones are filled with their names. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Values that were captured when the account was connected. */
  readonly captured?: object;
  /** The answers of the provider, in their order: one, or one for each page. */
  readonly answers?: readonly ConnectorRecordedAnswer[];
};

/** What a manifest makes of recorded answers. */
export type TryManifestResponse = {
  /** What must be corrected in the manifest; nothing was tried if there is anything. */
  readonly violations: readonly ConnectorManifestViolation[];
  /** The requests, each with what its answer means. The last one can be without an answer. */
  readonly steps: readonly ConnectorTrialStep[];
  /** The output, if the last answer is ok. */
  readonly output?: JsonValue;
  /** Where the output does not fit the output schema of the action. */
  readonly output_problems: readonly string[];
  /** Whether the provider names a further page that has no recorded answer, or that the action does not read. */
  readonly more_pages: boolean;
};

/** One request and what its answer means. */
export type ConnectorTrialStep = {
  /** The HTTP method. */
  readonly method: string;
  /** The URL. */
  readonly url: string;
  /** The headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; a binary one is in base64. */
  readonly body: string;
  /** What the answer means, for example ok or rate_limited; empty without an answer. */
  readonly class: string;
  /** The provider's error code. */
  readonly code: string;
  /** The provider's error message. */
  readonly message: string;
  /** When the provider allows the next request, if it said so. */
  readonly retry_at?: string;
};

/** Request for the JSON Schema. */
export type GetManifestSchemaRequest = Record<never, never>;
