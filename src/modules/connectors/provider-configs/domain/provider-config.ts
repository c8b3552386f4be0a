import { fail, invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import { secretProblem } from "../../../../platform/text/index.ts";

export type ProviderConfigId = string & { readonly __id: "provider_config" };

export type ProviderConfigStatus = "draft" | "active" | "disabled" | "archived";

/** Status changes that callers request. */
export type ProviderConfigVerb = "activate" | "disable" | "archive";

/** Secret values by name. */
export type ProviderSecrets = Readonly<Record<string, string>>;

/** The fields that callers choose, without the secrets. */
interface ProviderConfigDetails {
  readonly name: string;
  /** The id of the OAuth app; empty without one. */
  readonly clientId: string;
  /** Scopes to request besides the provider's default ones. */
  readonly scopes: readonly string[];
  /** Values for the provider's templates that are not secret. */
  readonly settings: Readonly<Record<string, string>>;
  /** The version of the provider's manifest whose actions connections execute; empty for the newest one. */
  readonly manifestVersion: string;
}

/** A tenant's own settings for a provider, without the secrets. */
export interface ProviderConfig extends ProviderConfigDetails, Stamps {
  readonly tenantId: TenantId;
  readonly id: ProviderConfigId;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly providerKey: string;
  readonly status: ProviderConfigStatus;
  readonly secretNames: readonly string[];
  readonly activatedAt: Date | null;
}

/** A provider config with its sealed secrets; the ciphertext is empty without secrets. */
export interface SealedProviderConfig extends ProviderConfig {
  readonly ciphertext: string;
  readonly keyId: string;
}

export interface NewProviderConfig extends ProviderConfigDetails {
  readonly providerKey: string;
  /** Empty for production. */
  readonly environmentId: string;
  readonly secrets: ProviderSecrets;
}

/** The fields that an update can change; undefined fields stay unchanged. */
export interface ProviderConfigChange {
  readonly name?: string | undefined;
  readonly clientId?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly settings?: Readonly<Record<string, string>> | undefined;
  readonly manifestVersion?: string | undefined;
  /** The secrets to set; an empty value removes one. */
  readonly secrets?: ProviderSecrets | undefined;
}

/** Maximum number of provider configs per tenant, without archived ones. */
export const providerConfigsMax = 1000;

const settingsBytesMax = 16 * 1024;
const secretsBytesMax = 64 * 1024;
const secretsMax = 10;

/** The next status by status and verb. A verb that leads to the current status changes nothing. */
const transitions: Readonly<
  Record<ProviderConfigStatus, Readonly<Partial<Record<ProviderConfigVerb, ProviderConfigStatus>>>>
> = {
  draft: { activate: "active", archive: "archived" },
  active: { activate: "active", disable: "disabled" },
  disabled: { activate: "active", disable: "disabled", archive: "archived" },
  archived: { archive: "archived" },
};

const refusals: Readonly<Record<ProviderConfigStatus, string>> = {
  draft: "The provider config is a draft. Activate it first.",
  active: "The provider config is active. Disable it first.",
  disabled: "The provider config is disabled.",
  archived: "The provider config is archived and cannot be used again. Create another one.",
};

/** The status after a verb. Throws FAILED_PRECONDITION if the status does not allow it. */
export function nextStatus(status: ProviderConfigStatus, verb: ProviderConfigVerb): ProviderConfigStatus {
  const next = transitions[status][verb];
  if (next === undefined) throw fail("FAILED_PRECONDITION", { public: refusals[status] });
  return next;
}

/** Checks the rules that the definitions cannot express. */
export function checkDetails({ settings, secrets }: Pick<ProviderConfigChange, "settings" | "secrets">): void {
  if (settings !== undefined && Buffer.byteLength(JSON.stringify(settings)) > settingsBytesMax) {
    throw invalid("settings", "max_bytes", `must have at most ${settingsBytesMax} bytes as JSON`);
  }
  if (secrets !== undefined && Buffer.byteLength(JSON.stringify(secrets)) > secretsBytesMax) {
    throw invalid("secrets", "max_bytes", `must have at most ${secretsBytesMax} bytes as JSON`);
  }
  for (const [name, secret] of Object.entries(secrets ?? {})) {
    // An empty value removes a secret.
    const problem = secret === "" ? undefined : secretProblem(secret);
    if (problem !== undefined) throw invalid(`secrets.${name}`, "min_length", problem);
  }
}

/** Checks that a config may be changed in this way. */
export function checkChange({ status, clientId }: ProviderConfig, change: ProviderConfigChange): void {
  if (status === "archived") {
    throw fail("FAILED_PRECONDITION", { public: "The provider config is archived and cannot be changed." });
  }
  if (status !== "draft" && change.clientId !== undefined && change.clientId !== clientId) {
    throw fail("FAILED_PRECONDITION", {
      public:
        "The client id can be changed only while the provider config is a draft, because grants belong to one app. Create another provider config for the new app.",
    });
  }
}

/** The secrets after a change. */
export function mergeSecrets(current: ProviderSecrets, change: ProviderSecrets): ProviderSecrets {
  const merged = Object.fromEntries(Object.entries({ ...current, ...change }).filter(([, value]) => value !== ""));
  if (Object.keys(merged).length > secretsMax) {
    throw invalid("secrets", "max_pairs", `must have at most ${secretsMax} names`);
  }
  return merged;
}

/** The binding of a config's secrets: they cannot be decrypted for another tenant, record or field. */
export function bindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "provider_config.secrets" };
}
