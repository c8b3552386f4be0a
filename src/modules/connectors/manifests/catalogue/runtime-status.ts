import type { Action } from "../domain/language/action.ts";
import type { Trigger } from "../domain/language/trigger.ts";
import type { Provider } from "../domain/provider.ts";

/** The states of a tenant's provider configs, by provider key. A provider without an entry has no config. */
export type ConfigStates = ReadonlyMap<string, "active" | "disabled">;

/** Whether an action can be executed. Only `executable` actions are callable. */
export type RuntimeStatus = "executable" | "catalog_only" | "deprecated" | "unconfigured" | "disabled";

/** Whether something can be executed now, and why not. */
export interface Runtime {
  readonly status: RuntimeStatus;
  readonly reason: string;
}

/** The runtime status of an action or trigger for a tenant. */
export function runtimeOf(provider: Provider, { runtime }: Action | Trigger, configs: ConfigStates): Runtime {
  const { status, reason } = runtime;
  if (status !== "executable") return { status, reason };
  return configRuntime(provider, configs);
}

/** The runtime status of a provider for a tenant. */
export function providerRuntime(provider: Provider, configs: ConfigStates): Runtime {
  const operations = [...provider.actions.values(), ...provider.triggers.values()];
  if (!operations.some(({ runtime }) => runtime.status === "executable")) {
    return { status: "catalog_only", reason: "None of its actions and triggers can be executed." };
  }
  return configRuntime(provider, configs);
}

/** Only OAuth with an end user needs an app of the tenant. */
function configRuntime({ key, name, authModes }: Provider, configs: ConfigStates): Runtime {
  if (!authModes.every((mode) => mode === "oauth2")) return { status: "executable", reason: "" };
  switch (configs.get(key)) {
    case "active":
      return { status: "executable", reason: "" };
    case "disabled":
      return { status: "disabled", reason: `The provider config of ${name} is disabled: activate it.` };
    default:
      return {
        status: "unconfigured",
        reason: `${name} needs a provider config with your OAuth app: create and activate one.`,
      };
  }
}
