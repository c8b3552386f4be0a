import { type Context, PrepareAgain } from "../../../chain/call.ts";
import { type Failure, fail, invalid } from "../../../errors/index.ts";
import type { Keyring } from "../../../platform/crypto/index.ts";
import { unchangedRecord } from "../../../platform/db/index.ts";
import { changedFields, isEmptyChange } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Catalogue } from "../manifests/index.ts";
import type { ConnectionCache } from "./connection-cache.ts";
import { openCredentials, sealCredentials } from "./credentials/sealed-credentials.ts";
import {
  type Connection,
  type Credentials,
  checkExpiry,
  checkSizes,
  type EndUser,
  hasTokens,
  type SealedConnection,
  settleAccount,
} from "./domain/connection.ts";
import { fitFields } from "./domain/field-check.ts";
import { grantEnd } from "./domain/refresh-policy.ts";
import { eventData, type ProvenGrant, replaceGrant } from "./grant-service.ts";
import { type ConnectionParts, invalidFields, requireAccess } from "./service.ts";
import { connectionStore } from "./store.ts";
import { type GrantProver, isProofFault, type ProofFailure } from "./verification/grant-prover.ts";

/** The fields of a connection to change. Undefined fields stay unchanged. */
export interface ConnectionChange {
  readonly name?: string | undefined;
  readonly endUser?: EndUser | undefined;
  readonly settings?: Connection["settings"] | undefined;
  readonly credentials?: Credentials | undefined;
  /** One of the accounts that the grant reaches. */
  readonly accountId?: string | undefined;
  /** When the new credentials expire. */
  readonly expiresAt: Date | null;
}

/** New settings or credentials that the provider has accepted, for the connection as it was when they were tested. */
export interface TestedCredentials {
  readonly credentialVersion: number;
  readonly settings: Connection["settings"];
  readonly credentials: Credentials;
  /** Undefined if no manifest describes how to test them. */
  readonly grant: ProvenGrant | undefined;
}

/** How many choices an error names. */
const choicesShown = 10;

interface Dependencies {
  readonly events: EventRecorder;
  readonly catalogue: Pick<Catalogue, "provider">;
  readonly keyring: Keyring | undefined;
  readonly check: ConnectionParts["check"];
  readonly cache: Pick<ConnectionCache, "changed">;
  readonly prover: Pick<GrantProver, "proveFields">;
}

export type ConnectionUpdates = ReturnType<typeof createConnectionUpdates>;

export function createConnectionUpdates({ events, catalogue, keyring, check, cache, prover }: Dependencies) {
  async function testCredentials(
    { tenantId, nowMs }: Context,
    current: Connection,
    settings: Connection["settings"],
    credentials: Credentials,
  ): Promise<ProvenGrant | undefined> {
    const { providerKey, authMode: mode, providerConfigId: configId } = current;
    if (mode === "oauth2") {
      throw fail("FAILED_PRECONDITION", {
        public: "The access of this connection was granted with OAuth. Reconnect it with a connect session.",
      });
    }
    if (mode === "") {
      const violations = check(providerKey, settings, credentials);
      if (violations.length > 0) throw invalidFields(violations);
      return undefined;
    }
    const provider = await catalogue.provider(tenantId, providerKey);
    if (provider === undefined) throw fail("FAILED_PRECONDITION", { public: `There is no provider ${providerKey}.` });
    const fit = fitFields(provider, mode, settings, credentials);
    if (!("mode" in fit)) throw invalidFields(fit);
    const target = { tenantId, provider, mode, configId };
    const result = await prover.proveFields(target, fit.settings, fit.credentials, current.scopes, nowMs);
    if (isProofFault(result)) throw proofFailure(result);
    const proven = settleAccount(result, current.account.id);
    if (current.account.id !== "" && current.account.id !== proven.account.id) {
      throw fail("FAILED_PRECONDITION", {
        public:
          proven.account.id === ""
            ? "The provider does not say which account the credentials belong to. Create another connection for them."
            : "The credentials belong to another account. Create another connection for them.",
      });
    }
    // The captured values of the previous credentials may belong to the account.
    const captured = { ...current.captured, ...proven.captured };
    return { ...proven, captured, scopes: proven.scopes.length === 0 ? current.scopes : proven.scopes };
  }

  /** The stored credentials without the tokens that the service obtained with them. */
  function currentFields(sealed: SealedConnection): Credentials {
    const credentials = openCredentials(keyring, sealed);
    if (credentials === undefined) {
      throw fail("CONNECTION_UNUSABLE", { public: "The current credentials cannot be read. Set credentials as well." });
    }
    if (!hasTokens(sealed.authMode)) return credentials;
    const { access_token: _, refresh_token: __, ...fields } = credentials;
    return fields;
  }

  return {
    /** Tests new settings and credentials before the transaction of the call, because no transaction may be open during the requests. */
    async prepare(
      context: Context,
      id: string,
      { settings, credentials, accountId, expiresAt }: ConnectionChange,
      expectedVersion: number | undefined,
    ): Promise<TestedCredentials | undefined> {
      if (credentials === undefined && expiresAt !== null) {
        throw invalid("expires_at", "credentials", "is only for new credentials: set both");
      }
      if (credentials === undefined && settings === undefined) return undefined;
      if (accountId !== undefined) {
        const message = "cannot be set together with credentials or settings: choose it afterwards";
        throw invalid("account_id", "alone", message);
      }
      checkSizes(settings ?? {}, credentials ?? {});
      checkExpiry(expiresAt, context.nowMs);
      const found = await connectionStore(context.sql).findSealed(context.tenantId, id);
      const current = unchangedRecord(requireLive(context, found), expectedVersion, "connection");
      const next = { settings: settings ?? current.settings, credentials: credentials ?? currentFields(current) };
      const grant = await testCredentials(context, current, next.settings, next.credentials);
      return { ...next, credentialVersion: current.credentialVersion, grant };
    },

    /** Changes a connection in the transaction of the call. */
    async update(
      context: Context,
      id: string,
      change: ConnectionChange,
      expectedVersion: number | undefined,
      tested: TestedCredentials | undefined,
    ): Promise<Connection> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      const { name, endUser, settings, credentials } = change;
      const store = connectionStore(sql);
      const live = requireLive(context, await store.lock(tenantId, id));
      const current = unchangedRecord(live, expectedVersion, "connection");
      const accountId = change.accountId === current.account.id ? undefined : change.accountId;
      if (isEmptyChange({ name, endUser, settings, credentials, accountId })) return current;
      const now = new Date(nowMs);
      const expiresAt = credentials === undefined ? current.expiresAt : change.expiresAt;
      if (tested !== undefined) {
        // The credentials were replaced or refreshed since the test.
        if (tested.credentialVersion !== current.credentialVersion) throw new PrepareAgain();
        const { grant } = tested;
        if (grant === undefined) {
          const sealed = sealCredentials(keyring, current, tested.credentials);
          const end = grantEnd({ canRenew: false, expiresAt, lifetimeS: undefined }, nowMs);
          await store.replaceSealed(tenantId, id, { ...sealed, settings: tested.settings, expiresAt, ...end }, now);
        } else {
          const replacement = { ...grant, expiresAt: grant.expiresAt ?? expiresAt };
          await replaceGrant(context, current, replacement, { keyring, cache });
          const isVerified = grant.account.id !== "";
          await store.recordTest(current, { class: isVerified ? "ok" : "unverified" }, now);
        }
      }
      if (accountId !== undefined) await store.chooseAccount(withChosenAccount(current, accountId), now);
      if (name !== undefined || endUser !== undefined) await store.update(tenantId, id, { name, endUser }, now);
      const updated = (await store.find(tenantId, id))!;
      const fields = changedFields({ name, end_user: endUser, settings, credentials, account_id: accountId });
      await events.record(context, "connection.updated", id, { ...eventData(updated), fields });
      afterCommit(() => cache.changed(updated));
      return updated;
    },
  };
}

function requireLive<C extends Connection>(context: Context, found: C | undefined): C {
  const connection = requireAccess(context, found);
  if (connection.status !== "revoked") return connection;
  throw fail("CONNECTION_UNUSABLE", { public: "The connection is revoked. Create another one." });
}

function withChosenAccount(current: Connection, accountId: string): Connection {
  const { account, accountChoices } = current;
  if (accountChoices.length === 0) {
    const reason =
      account.id === "" ? "There is no choice of accounts" : `The connection belongs to account ${account.id}`;
    throw fail("FAILED_PRECONDITION", { public: `${reason}. Create another connection for another account.` });
  }
  const settled = settleAccount(current, accountId);
  if (settled.accountChoices.length === 0) return settled;
  const choices = accountChoices.slice(0, choicesShown).map(({ id, label }) => `${id} (${label})`);
  throw invalid("account_id", "choice", `must be the id of one of account_choices, for example ${choices.join(", ")}`);
}

/** Nothing is stored after a failed test: the current credentials stay in use. */
function proofFailure({ fault, code, message }: ProofFailure): Failure {
  if (fault === "rejected") {
    return invalid("credentials", "rejected", `were refused by the provider (${code || "no code"}): ${message}`);
  }
  return fail("CONNECTOR_UNAVAILABLE", {
    public: `The provider could not test the credentials (${code || "no code"}). The current ones stay in use.`,
  });
}
