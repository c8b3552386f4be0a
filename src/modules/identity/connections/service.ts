import { isDeepStrictEqual } from "node:util";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { beyondCeiling, roleGrants, unknownRole } from "../../../platform/access/index.ts";
import { requireFound, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { urlRefusal } from "../../../platform/egress/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { MemberAccounts } from "../../tenancy/index.ts";
import { checkedCertificate } from "./domain/certificate.ts";
import {
  type ConnectionChange,
  domainRecordOf,
  type GroupRoles,
  type OidcSettings,
  type SamlSettings,
  type SsoConnection,
} from "./domain/connection.ts";
import { createKeyPair } from "./key-pair.ts";
import { applySessionRoles } from "./sign-in.ts";
import { bindingOf, connectionStore, groupRoleStore } from "./store.ts";

export interface ConnectionParts extends Pick<PlatformServices, "changes" | "keyring" | "egress"> {
  readonly events: EventRecorder;
  readonly isSamlEnabled: boolean;
  /** Ends the sessions of people who signed in with a connection. */
  readonly endSessions: (context: EventContext, connectionId: string) => Promise<unknown>;
  readonly members: Pick<MemberAccounts, "setRolesOf">;
  /** Applies changed roles of groups to the members of SCIM groups. */
  readonly applyGroupRoles: (context: EventContext) => Promise<void>;
}

/** The settings of a provider, as a caller sends them. */
export type ProviderInput =
  | { readonly kind: "oidc"; readonly settings: OidcSettings; readonly clientSecret: string }
  | { readonly kind: "saml"; readonly settings: Omit<SamlSettings, "ownCertificate"> };

export interface NewConnection extends Pick<SsoConnection, "name" | "justInTime" | "defaultRoles" | "emailDomains"> {
  readonly provider: ProviderInput;
}

export interface ConnectionUpdate
  extends Omit<
    ConnectionChange,
    "settings" | "ciphertext" | "keyId" | "verifiedDomains" | "domainsCheckedAt" | "firstSignInAt"
  > {
  readonly provider?: ProviderInput | undefined;
}

const connectionsMax = 200;

export type ConnectionService = ReturnType<typeof createConnectionService>;

export function createConnectionService(dependencies: ConnectionParts) {
  const { changes, events, keyring, egress, isSamlEnabled, endSessions, members, applyGroupRoles } = dependencies;

  function seal(secret: string, ids: { tenantId: string; id: string }): { ciphertext: string; keyId: string } {
    if (secret === "") return { ciphertext: "", keyId: "" };
    if (keyring === undefined) {
      throw fail("FAILED_PRECONDITION", {
        public: "Secrets cannot be stored: the operator must set connector.encryption_key.",
      });
    }
    return { ciphertext: keyring.seal(secret, bindingOf(ids)), keyId: keyring.activeKeyId };
  }

  /** Checks the settings of a provider; certificates are stored as PEM. */
  function checkedProvider(input: ProviderInput): ProviderInput {
    if (input.kind === "oidc") {
      checkUrl("oidc.issuer", input.settings.issuer);
      const { protocol, hostname } = new URL(input.settings.issuer);
      if (protocol !== "https:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) {
        throw invalid("oidc.issuer", "https", "must start with https://, except on this machine");
      }
      return input;
    }
    if (!isSamlEnabled) {
      throw fail("FAILED_PRECONDITION", { public: "SAML is off: the operator must set identity.saml.enabled=true." });
    }
    checkUrl("saml.sso_url", input.settings.ssoUrl);
    if (input.settings.sloUrl !== "") checkUrl("saml.slo_url", input.settings.sloUrl);
    const certificates = input.settings.certificates.map((pem, at) =>
      checkedCertificate(`saml.certificates[${at}]`, pem).toString(),
    );
    return { kind: "saml", settings: { ...input.settings, certificates } };
  }

  return {
    async createConnection(context: Context, input: NewConnection): Promise<SsoConnection> {
      const { sql, tenantId, nowMs } = context;
      checkGrant(context, "default_roles", input.defaultRoles);
      const store = connectionStore(sql);
      if ((await store.count(tenantId)) >= connectionsMax) {
        throw fail("FAILED_PRECONDITION", { public: `A tenant can have at most ${connectionsMax} connections.` });
      }
      const ids = { tenantId, id: ulid(nowMs) };
      const { provider: given, ...fields } = input;
      const provider = checkedProvider(given);
      const unverified = { verifiedDomains: [], domainsCheckedAt: null, enforced: false, firstSignInAt: null };
      const common = { ...ids, ...fields, ...unverified, status: "active", ...newStamps(nowMs) } as const;
      const pair = provider.kind === "saml" ? await createKeyPair(ids.id) : undefined;
      const sealed = seal(provider.kind === "oidc" ? provider.clientSecret : pair!.privateKey, ids);
      const connection = await store.insert(
        provider.kind === "oidc"
          ? { ...common, kind: "oidc", settings: provider.settings, ...sealed }
          : {
              ...{ ...common, kind: "saml", ...sealed },
              settings: { ...provider.settings, ownCertificate: pair!.certificate },
            },
      );
      await changes.invalidate(context);
      await events.record(context, "sso_connection.created", connection.id, { name: input.name, kind: provider.kind });
      return connection;
    },

    async getConnection({ sql, tenantId }: Context, id: string): Promise<SsoConnection> {
      return requireFound(await connectionStore(sql).find(tenantId, id), "connection");
    },

    async updateConnection(
      context: Context,
      id: string,
      { provider, ...update }: ConnectionUpdate,
      expectedVersion: number | undefined,
    ): Promise<SsoConnection> {
      const { sql, tenantId, nowMs } = context;
      const store = connectionStore(sql);
      const current = requireFound(await store.lock(tenantId, id), "connection");
      if (isEmptyChange(update) && provider === undefined)
        return unchangedRecord(current, expectedVersion, "connection");
      if (update.defaultRoles !== undefined) checkGrant(context, "default_role_set.roles", update.defaultRoles);
      const verifiedDomains = current.verifiedDomains.filter((each) =>
        (update.emailDomains ?? current.emailDomains).includes(each),
      );
      if ((update.enforced ?? current.enforced) && verifiedDomains.length === 0) {
        throw fail("FAILED_PRECONDITION", {
          public: "An enforced connection needs a verified domain: set its TXT record, and verify it first.",
        });
      }
      const change = { ...update, verifiedDomains, ...(provider && providerChange(current, provider)) };
      const connection = await store.update(tenantId, id, change, expectedVersion, new Date(nowMs));
      if (connection === undefined) throw updateRefusal(current, "connection");
      if (update.status === "disabled") await endSessions(context, id);
      if (update.status !== undefined) await applySessionRoles(context, members);
      await changes.invalidate(context);
      const fields = [...changedFields(update), ...(provider === undefined ? [] : [provider.kind])];
      await events.record(context, "sso_connection.updated", id, { fields });
      return connection;
    },

    /** The email domains of a connection whose TXT record is there now. */
    async findVerifiedDomains({ sql, tenantId }: Context, id: string): Promise<readonly string[]> {
      const connection = requireFound(await connectionStore(sql).find(tenantId, id), "connection");
      const found = await Promise.all(
        connection.emailDomains.map(async (domain) => {
          const { name, value } = domainRecordOf(connection, domain);
          const texts = await egress.lookUpTexts(name);
          return texts.includes(value) ? [domain] : [];
        }),
      );
      return found.flat();
    },

    async addVerifiedDomains(context: Context, id: string, found: readonly string[]): Promise<SsoConnection> {
      const { sql, tenantId, nowMs } = context;
      const store = connectionStore(sql);
      const current = requireFound(await store.lock(tenantId, id), "connection");
      const isVerified = (domain: string) => found.includes(domain) || current.verifiedDomains.includes(domain);
      const verifiedDomains = current.emailDomains.filter(isVerified);
      const domainsCheckedAt = new Date(nowMs);
      const change = { verifiedDomains, domainsCheckedAt };
      const connection = await store.update(tenantId, id, change, undefined, domainsCheckedAt);
      if (verifiedDomains.length === current.verifiedDomains.length) return connection!;
      await changes.invalidate(context);
      await events.record(context, "sso_connection.updated", id, { fields: ["verified_domains"] });
      return connection!;
    },

    async deleteConnection(context: Context, id: string): Promise<SsoConnection> {
      const { sql, tenantId } = context;
      const removed = requireFound(await connectionStore(sql).remove(tenantId, id), "connection");
      await endSessions(context, id);
      await applySessionRoles(context, members);
      await connectionStore(sql).removeAccounts(tenantId, id);
      await changes.invalidate(context);
      await events.record(context, "sso_connection.deleted", id, { name: removed.name });
      return removed;
    },

    async getGroupRoles({ sql, tenantId }: Context, name: string): Promise<GroupRoles> {
      return requireFound(await groupRoleStore(sql).find(tenantId, name), "group");
    },

    async setGroupRoles(context: Context, name: string, roles: readonly string[]): Promise<GroupRoles> {
      const { sql, tenantId, nowMs } = context;
      checkGrant(context, "roles", roles);
      const group = { tenantId, id: ulid(nowMs), name, roles, ...newStamps(nowMs) };
      const stored = await groupRoleStore(sql).set(group);
      await applyGroupRoles(context);
      await applySessionRoles(context, members);
      await changes.invalidate(context);
      await events.record(context, "group_roles.changed", stored.id, { group: name, roles });
      return stored;
    },

    async deleteGroupRoles(context: Context, id: string): Promise<GroupRoles> {
      const { sql, tenantId } = context;
      const removed = requireFound(await groupRoleStore(sql).remove(tenantId, id), "group");
      await applyGroupRoles(context);
      await applySessionRoles(context, members);
      await changes.invalidate(context);
      await events.record(context, "group_roles.changed", id, { group: removed.name, roles: [] });
      return removed;
    },
  };

  /** The change of the provider. Nobody has signed in with other settings yet. */
  function providerChange(current: SsoConnection, given: ProviderInput): ConnectionChange {
    const change = replacement(current, given);
    const isSame = change.ciphertext === undefined && isDeepStrictEqual(change.settings, current.settings);
    return isSame ? change : { ...change, firstSignInAt: null };
  }

  /** The change that replaces the settings of the provider. */
  function replacement(current: SsoConnection, given: ProviderInput): ConnectionChange {
    const provider = checkedProvider(given);
    if (provider.kind !== current.kind) {
      throw invalid(provider.kind, "kind", `must not be set, because the connection is of the kind ${current.kind}`);
    }
    if (provider.kind === "saml") {
      const { ownCertificate } = current.settings as SamlSettings;
      return { settings: { ...provider.settings, ownCertificate } };
    }
    return {
      settings: provider.settings,
      // An empty client secret keeps the stored one.
      ...(provider.clientSecret !== "" && seal(provider.clientSecret, current)),
    };
  }
}

/** Rejects roles that do not exist, and roles that exceed the caller's own. */
function checkGrant({ principal }: Context, field: string, roles: readonly string[]): void {
  const unknown = unknownRole(roles);
  if (unknown >= 0) {
    throw invalid(`${field}[${unknown}]`, "role", `must be one of ${Object.keys(roleGrants).join(", ")}`);
  }
  const grant = { roles, scopes: [], environmentMode: "any", expiresAt: undefined } as const;
  const beyond = beyondCeiling(principal, grant);
  if (beyond !== undefined && roles.length > 0) throw fail("PERMISSION_DENIED", { public: beyond });
}

function checkUrl(field: string, url: string): void {
  const refusal = urlRefusal(url);
  if (refusal !== undefined) throw invalid(field, "url", refusal);
}
