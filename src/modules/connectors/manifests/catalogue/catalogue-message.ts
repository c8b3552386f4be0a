import { isJsonObject, type Json, type JsonObject } from "../../../../platform/document/index.ts";
import type { ChoiceSource } from "../domain/language/action.ts";
import type { AuthSpec } from "../domain/language/auth/modes.ts";
import type { FieldSpec } from "../domain/language/fields.ts";
import type { ActionEntry, ProviderEntry, TriggerEntry } from "./catalogue-snapshot.ts";
import { type ConfigStates, providerRuntime, type Runtime, runtimeOf } from "./runtime-status.ts";

export function fromProvider({ provider, source }: ProviderEntry, configs: ConfigStates) {
  const { key, version, digest, name, category, description, docsUrl } = provider;
  return {
    ...{ key, version, digest, name, category, description, docsUrl, source },
    ...runtimeFields(providerRuntime(provider, configs)),
    hosts: provider.hosts.patterns,
    auth: provider.authModes.map((mode) => fromAuth(provider.auth(mode)!)),
    settings: provider.settings.map(fromField),
    actionCount: provider.actions.size,
    triggerCount: provider.triggers.size,
  };
}

export function fromAction({ provider, action }: ActionEntry, configs: ConfigStates) {
  return {
    ...action,
    ...providerFields(provider),
    ...runtimeFields(runtimeOf(provider, action, configs)),
    inputProperties: propertiesOf(action.inputSchema, action.choices),
    replacedBy: action.runtime.replacedBy ?? "",
    paginated: action.paginate !== undefined,
  };
}

export function fromTrigger({ provider, trigger }: TriggerEntry, configs: ConfigStates) {
  const types = trigger.events.map(({ type }) => type);
  return {
    ...trigger,
    ...providerFields(provider),
    ...runtimeFields(runtimeOf(provider, trigger, configs)),
    inputProperties: propertiesOf(trigger.inputSchema),
    eventTypes: types.length === 0 ? [trigger.name] : [...new Set(types)],
    registered: trigger.register !== undefined,
    pollEveryS: trigger.poll?.everyS ?? 0,
  };
}

function providerFields({ key, version, category, authModes }: ActionEntry["provider"]) {
  return { providerKey: key, providerVersion: version, category, authModes };
}

function runtimeFields({ status, reason }: Runtime) {
  return { runtimeStatus: status, runtimeReason: reason };
}

/** The properties of an input schema, in the form that clients can show without knowing JSON Schema. */
function propertiesOf(schema: JsonObject, sources: readonly ChoiceSource[] = []) {
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
      default: own.default,
      choicesFrom: sources.find(({ property: chosen }) => chosen === name),
      choices: Array.isArray(own.enum) ? (own.enum as readonly Json[]) : [],
    };
  });
}

function fromAuth(auth: AuthSpec) {
  const scopes = "scopes" in auth ? auth.scopes : undefined;
  return {
    mode: auth.mode,
    fields: auth.fields.map(fromField),
    defaultScopes: scopes?.default ?? [],
    availableScopes: Object.fromEntries(scopes?.available ?? []),
    configFields: auth.mode === "oauth2" ? auth.config.map(fromField) : [],
  };
}

function fromField({ pattern = "", choices = [], default: standard = "", ...field }: FieldSpec) {
  return { ...field, pattern, choices, default: standard };
}
