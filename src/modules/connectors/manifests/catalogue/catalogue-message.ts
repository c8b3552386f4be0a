import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type ConnectorAction,
  ConnectorActionSchema,
  type ConnectorAuthModeSchema,
  type ConnectorFieldSchema,
  type ConnectorPropertySchema,
  type ConnectorProvider,
  ConnectorProviderSchema,
  type ConnectorTrigger,
  ConnectorTriggerSchema,
} from "../../../../../gen/service/api/connector_catalog_pb.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../platform/document/index.ts";
import type { Action } from "../domain/action.ts";
import type { AuthSpec, FieldSpec } from "../domain/auth-spec.ts";
import type { ActionEntry, ProviderEntry, TriggerEntry } from "./catalogue-snapshot.ts";
import { type ConfigStates, providerRuntime, runtimeOf } from "./runtime-status.ts";

export function fromProvider({ provider, source }: ProviderEntry, configs: ConfigStates): ConnectorProvider {
  const { status, reason } = providerRuntime(provider, configs);
  return create(ConnectorProviderSchema, {
    key: provider.key,
    version: provider.version,
    digest: provider.digest,
    name: provider.name,
    category: provider.category,
    description: provider.description,
    docsUrl: provider.docsUrl,
    hosts: [...provider.hosts.patterns],
    auth: provider.authModes.map((mode) => fromAuth(provider.auth(mode)!)),
    settings: provider.settings.map(fromField),
    source,
    runtimeStatus: status,
    runtimeReason: reason,
    actionCount: provider.actions.size,
    triggerCount: provider.triggers.size,
  });
}

export function fromAction({ provider, action }: ActionEntry, configs: ConfigStates): ConnectorAction {
  const { status, reason } = runtimeOf(provider, action, configs);
  const { effect, destructive, idempotency } = action.mutation;
  return create(ConnectorActionSchema, {
    ...operationFields(provider, action),
    ...schemaFields(action),
    permissions: [...action.permissions],
    related: [...action.related],
    mutation: { effect, destructive, idempotency },
    retry: { maxAttempts: action.retry.maxAttempts, on: [...action.retry.on] },
    timeoutMs: action.timeoutMs,
    runtimeStatus: status,
    runtimeReason: reason,
    replacedBy: action.runtime.replacedBy ?? "",
    paginated: action.paginate !== undefined,
  });
}

export function fromTrigger({ provider, trigger }: TriggerEntry, configs: ConfigStates): ConnectorTrigger {
  const { status, reason } = runtimeOf(provider, trigger, configs);
  const types = trigger.events.map(({ type }) => type);
  return create(ConnectorTriggerSchema, {
    ...operationFields(provider, trigger),
    ...schemaFields(trigger),
    kind: trigger.kind,
    eventTypes: types.length === 0 ? [trigger.name] : [...new Set(types)],
    registered: trigger.register !== undefined,
    pollEveryS: trigger.poll?.everyS ?? 0,
    runtimeStatus: status,
    runtimeReason: reason,
  });
}

function operationFields(
  { key, version, category, authModes }: ActionEntry["provider"],
  operation: { key: string; title: string; description: string; scopes: readonly string[] },
) {
  return {
    key: operation.key,
    providerKey: key,
    providerVersion: version,
    title: operation.title,
    description: operation.description,
    category,
    scopes: [...operation.scopes],
    authModes: [...authModes],
  };
}

function schemaFields({ inputSchema, outputSchema }: Pick<Action, "inputSchema" | "outputSchema">) {
  return {
    inputProperties: propertiesOf(inputSchema),
    inputSchema: inputSchema as never,
    ...(outputSchema !== undefined && { outputSchema: outputSchema as never }),
  };
}

/** The properties of an input schema, in the form that clients can show without knowing JSON Schema. */
function propertiesOf(schema: JsonObject): MessageInitShape<typeof ConnectorPropertySchema>[] {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return [];
  const needed = new Set(Array.isArray(required) ? (required as readonly Json[]) : []);
  return Object.entries(properties).map(([name, property]) => {
    const own = isJsonObject(property) ? property : {};
    const types = Array.isArray(own.type) ? own.type : own.type === undefined ? [] : [own.type];
    return {
      name,
      types: (types as readonly Json[]).map(String),
      title: typeof own.title === "string" ? own.title : "",
      description: typeof own.description === "string" ? own.description : "",
      required: needed.has(name),
      ...(own.default !== undefined && { default: toValue(own.default) }),
      choices: Array.isArray(own.enum) ? (own.enum as readonly Json[]).map(toValue) : [],
    };
  });
}

function toValue(json: Json) {
  return fromJson(ValueSchema, json as never);
}

function fromAuth(auth: AuthSpec): MessageInitShape<typeof ConnectorAuthModeSchema> {
  const scopes = "scopes" in auth ? auth.scopes : undefined;
  return {
    mode: auth.mode,
    fields: auth.fields.map(fromField),
    defaultScopes: [...(scopes?.default ?? [])],
    availableScopes: Object.fromEntries(scopes?.available ?? []),
    configFields: auth.mode === "oauth2" ? auth.config.map(fromField) : [],
  };
}

function fromField(field: FieldSpec): MessageInitShape<typeof ConnectorFieldSchema> {
  const { name, title, description, secret, required, multiline, pattern, choices, example } = field;
  return {
    name,
    title,
    description,
    secret,
    required,
    multiline,
    pattern: pattern ?? "",
    choices: [...(choices ?? [])],
    example,
    default: field.default ?? "",
  };
}
