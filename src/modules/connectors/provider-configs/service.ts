import type { Context } from "../../../chain/call.ts";
import { Failure, fail, invalid } from "../../../errors/index.ts";
import { requireEnvironment, requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import type { Keyring } from "../../../platform/crypto/index.ts";
import { notFound, type TenantChanges, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Catalogue, Provider } from "../manifests/index.ts";
import {
  type ConfigContent,
  decodeConfigContent,
  digestOfContent,
  encodeConfigContent,
} from "./domain/config-content.ts";
import {
  bindingOf,
  checkChange,
  checkDetails,
  mergeSecrets,
  type NewProviderConfig,
  nextStatus,
  type ProviderConfig,
  type ProviderConfigChange,
  type ProviderConfigId,
  type ProviderConfigVerb,
  type ProviderSecrets,
  providerConfigsMax,
  type SealedProviderConfig,
} from "./domain/provider-config.ts";
import { providerConfigStore, type StoredChange } from "./store.ts";
import { recordConfigVersion } from "./versions/version-recorder.ts";
import { configVersionStore, type ProviderConfigVersion } from "./versions/version-store.ts";

export interface ProviderConfigParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  readonly catalogue: Pick<Catalogue, "provider">;
  /** Undefined if the instance has no master key. Then no secret can be stored. */
  readonly keyring: Keyring | undefined;
}

export type ProviderConfigService = ReturnType<typeof createProviderConfigService>;

const stagedMax = 500;
const pastTense = { activate: "activated", disable: "disabled", archive: "archived" } as const;

export function createProviderConfigService({ events, changes, catalogue, keyring }: ProviderConfigParts) {
  /** Invalidates the tenant's cache entries on every node. */
  async function invalidateCaches({ sql, tenantId, afterCommit }: Context): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => changes.published(tenantId));
  }

  async function getProviderConfig(context: Context, id: string): Promise<ProviderConfig> {
    return requireAccess(context, await providerConfigStore(context.sql).find(context.tenantId, id));
  }

  /** Checks that the catalogue has the version of a provider's manifest; an empty one is the newest. */
  async function requireManifest(tenantId: TenantId, providerKey: string, version = ""): Promise<void> {
    if (version === "" || (await catalogue.provider(tenantId, providerKey, version)) !== undefined) return;
    throw invalid(
      "manifest_version",
      "unknown",
      `must be a version of ${providerKey}, which has no version ${version}`,
    );
  }

  function seal(record: { tenantId: string; id: string }, secrets: ProviderSecrets): Sealed {
    const secretNames = Object.keys(secrets).sort();
    if (secretNames.length === 0) return { secretNames, ciphertext: "", keyId: "" };
    const keys = requireKeyring(keyring);
    const ciphertext = keys.seal(JSON.stringify(secrets), bindingOf(record));
    return { secretNames, ciphertext, keyId: keys.activeKeyId };
  }

  return {
    getProviderConfig,
    invalidateCaches,

    /** Stores a version without activating it; undefined parts are the config's. */
    async stageVersion(
      context: Context,
      id: string,
      change: Pick<ProviderConfigChange, "scopes" | "settings" | "manifestVersion">,
      message: string,
    ): Promise<ProviderConfigVersion> {
      const { sql, tenantId, principal, nowMs } = context;
      checkDetails({ settings: change.settings });
      const current = requireAccess(context, await providerConfigStore(sql).lock(tenantId, id));
      checkChange(current, {});
      await requireManifest(tenantId, current.providerKey, change.manifestVersion);
      await recordConfigVersion(context, current);
      const store = configVersionStore(sql);
      if ((await store.count(tenantId, id)) >= stagedMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A provider config can have at most ${stagedMax} staged versions.`,
        });
      }
      const { scopes = current.scopes, settings = current.settings } = change;
      const { clientId, manifestVersion: pinned } = current;
      const { manifestVersion = pinned } = change;
      const content = encodeConfigContent({ clientId, scopes, settings, manifestVersion });
      const digest = digestOfContent(content);
      const stamp = { origin: "staged" as const, message, createdBy: principal.subject, createdAt: new Date(nowMs) };
      const staged = await store.insert({ tenantId, configId: id, content, digest, ...stamp });
      const data = { ...eventData(current), version: staged.version, sha256: digest };
      await events.record(context, "provider_config.version_staged", id, data);
      return staged;
    },

    /** Gives a locked config the content of a version. */
    async activateVersion(context: Context, id: string, version: number): Promise<void> {
      const { sql, tenantId, nowMs } = context;
      const found = await configVersionStore(sql).find(tenantId, id, version);
      if (found === undefined) throw notFound("provider config version");
      const content = decodeConfigContent(found.content);
      const store = providerConfigStore(sql);
      const current = requireAccess(context, await store.lock(tenantId, id));
      checkChange(current, content);
      const config = (await store.update(tenantId, id, content, undefined, new Date(nowMs)))!;
      await recordConfigVersion(context, config);
      await invalidateCaches(context);
      const data = { ...eventData(config), version, sha256: found.digest };
      await events.record(context, "provider_config.version_activated", id, data);
    },

    /** Why a content cannot be activated; empty if it can be. */
    async problemsOf(context: Context, config: ProviderConfig, content: ConfigContent): Promise<readonly string[]> {
      try {
        checkChange(config, content);
        await requireManifest(context.tenantId, config.providerKey, content.manifestVersion);
        const provider = await catalogue.provider(context.tenantId, config.providerKey);
        requireComplete({ ...config, ...content }, provider);
        return [];
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return [error.message];
      }
    },

    async createProviderConfig(context: Context, input: NewProviderConfig): Promise<ProviderConfig> {
      const { sql, tenantId, nowMs } = context;
      const { secrets, environmentId, ...details } = input;
      checkDetails(input);
      if ((await catalogue.provider(tenantId, input.providerKey)) === undefined) {
        throw invalid(
          "provider_key",
          "unknown",
          "must be the key of a provider of the catalogue (for example: github)",
        );
      }
      await requireManifest(tenantId, input.providerKey, input.manifestVersion);
      const store = providerConfigStore(sql);
      const environment = await requireEnvironment(context, environmentId);
      // Also locks out concurrent creation in the tenant, so that the count stays correct.
      await invalidateCaches(context);
      if (await store.hasAtLeast(tenantId, providerConfigsMax)) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant can have at most ${providerConfigsMax} provider configs. Archive one first.`,
        });
      }
      const id = ulid(nowMs) as ProviderConfigId;
      const config = await store.insert({
        ...details,
        tenantId,
        id,
        environmentId: environment.id,
        environmentKey: environment.key,
        status: "draft",
        activatedAt: null,
        ...seal({ tenantId, id }, mergeSecrets({}, secrets)),
        ...newStamps(nowMs),
      });
      await recordConfigVersion(context, config);
      await events.record(context, "provider_config.created", id, eventData(config));
      return config;
    },

    async updateProviderConfig(
      context: Context,
      id: string,
      change: ProviderConfigChange,
      expectedVersion: number | undefined,
    ): Promise<ProviderConfig> {
      const { sql, tenantId, nowMs } = context;
      checkDetails(change);
      if (isEmptyChange(change)) {
        return unchangedRecord(await getProviderConfig(context, id), expectedVersion, "provider config");
      }
      const store = providerConfigStore(sql);
      const current = requireAccess(context, await store.lock(tenantId, id));
      checkChange(current, change);
      await requireManifest(tenantId, current.providerKey, change.manifestVersion);
      const { secrets, ...rest } = change;
      const sealed = secrets && seal(current, mergeSecrets(openSecrets(keyring, current), secrets));
      const config = await store.update(tenantId, id, { ...rest, ...sealed }, expectedVersion, new Date(nowMs));
      if (config === undefined) throw updateRefusal(current, "provider config");
      await recordConfigVersion(context, config);
      await invalidateCaches(context);
      const { clientId, manifestVersion, ...named } = change;
      const fields = changedFields({ ...named, client_id: clientId, manifest_version: manifestVersion });
      await events.record(context, "provider_config.updated", id, { ...eventData(config), fields });
      return config;
    },

    /** Activates, disables or archives a config. A config that already has the status stays unchanged. */
    async changeStatus(context: Context, id: string, verb: ProviderConfigVerb): Promise<ProviderConfig> {
      const { sql, tenantId, nowMs } = context;
      const store = providerConfigStore(sql);
      const current = requireAccess(context, await store.lock(tenantId, id));
      const status = nextStatus(current.status, verb);
      if (status === current.status) return getProviderConfig(context, id);
      const now = new Date(nowMs);
      let change: StoredChange = { status };
      if (verb === "activate") {
        requireComplete(current, await catalogue.provider(tenantId, current.providerKey));
        change = { status, activatedAt: now };
      }
      if (verb === "archive") {
        const use = await store.findUse(tenantId, id);
        if (use !== undefined) throw fail("IN_USE", { public: useTexts[use] });
        change = { status, secretNames: [], ciphertext: "", keyId: "" };
      }
      const config = await store.update(tenantId, id, change, undefined, now);
      await invalidateCaches(context);
      await events.record(context, `provider_config.${pastTense[verb]}`, id, eventData(config!));
      return config!;
    },
  };
}

const useTexts = {
  connections: "Connections that are not revoked use the provider config. Revoke them first.",
  revocations:
    "Grants of the provider config are still being revoked at the provider, which needs its secrets. Try again when provider_revocation of its connections is no longer pending.",
};

type Sealed = Pick<SealedProviderConfig, "secretNames" | "ciphertext" | "keyId">;

/** Decrypts the secrets of a config. */
export function openSecrets(keyring: Keyring | undefined, config: SealedProviderConfig): ProviderSecrets {
  if (config.ciphertext === "") return {};
  return JSON.parse(requireKeyring(keyring).open(config.ciphertext, bindingOf(config))) as ProviderSecrets;
}

/** Checks that a config has what the provider needs for authorizations and token requests. */
function requireComplete({ clientId, secretNames, settings }: ProviderConfig, provider: Provider | undefined): void {
  const refuse = (text: string) => fail("FAILED_PRECONDITION", { public: text });
  if (provider === undefined) throw refuse("The provider of the provider config is not in the catalogue any more.");
  const auth = provider.auth("oauth2");
  if (auth?.mode !== "oauth2") return;
  if (clientId === "") throw refuse("The provider uses OAuth 2. Set client_id to the id of your OAuth app first.");
  const { clientAuth } = auth.token;
  const needed = clientAuth === "none" ? undefined : clientAuth === "private_key_jwt" ? "private_key" : "client_secret";
  if (needed !== undefined && !secretNames.includes(needed)) {
    throw refuse(`The provider authenticates OAuth apps with a secret. Set ${needed} in secrets first.`);
  }
  for (const { name, title, required, secret, default: value } of auth.config) {
    if (!required || value !== undefined || secretNames.includes(name) || settings[name]) continue;
    throw refuse(`The provider needs ${name} (${title}). Set it in ${secret ? "secrets" : "settings"} first.`);
  }
}

function requireAccess<T extends ProviderConfig>(context: Context, config: T | undefined): T {
  if (config === undefined) throw notFound("provider config");
  requireEnvironmentAccess(context, config.environmentKey);
  return config;
}

function requireKeyring(keyring: Keyring | undefined): Keyring {
  if (keyring !== undefined) return keyring;
  throw fail("FAILED_PRECONDITION", {
    public:
      "Secrets of provider configs require a master key: the operator must set connector.encryption_key (for example to the output of: openssl rand -base64 32).",
  });
}

function eventData({ name, providerKey, environmentId }: ProviderConfig) {
  return { name, provider_key: providerKey, environment_id: environmentId };
}
