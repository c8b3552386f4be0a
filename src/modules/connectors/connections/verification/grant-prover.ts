import { validateAuthResponse } from "oauth4webapi";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { AccountValues, AuthMode, AuthSpec, OAuth2Auth, Provider } from "../../manifests/index.ts";
import type { ProviderConfigs } from "../../provider-configs/index.ts";
import { configValuesOf } from "../credentials/known-secrets.ts";
import { settleAccount } from "../domain/connection.ts";
import type { ProvenGrant } from "../grant-service.ts";
import type { FetchedTokenAuth } from "../tokens/fetched-tokens.ts";
import type { TokenGrant, TokenResult } from "../tokens/oauth-request.ts";
import type { TokenClient } from "../tokens/token-client.ts";
import type { ProbeAccount } from "./connection-probe.ts";

/** The values of an OAuth callback, and what its authorization request was made with. */
export interface CallbackValues extends Pick<AccountValues, "settings" | "captured" | "credentials"> {
  readonly scopes: readonly string[];
  readonly authorizeUrl: string;
  readonly redirectUri: string;
  readonly codeVerifier: string | undefined;
  readonly code: string;
}

/** Why access could not be proven. Texts are redacted. */
export interface ProofFailure {
  /** rejected: the provider answered and refused. unavailable: it may accept a repetition. malformed: its answer is none. */
  readonly fault: "rejected" | "unavailable" | "malformed";
  readonly code: string;
  readonly message: string;
}

/** The provider, mode and config that access is requested with. */
export interface ProofTarget {
  readonly tenantId: TenantId;
  readonly provider: Provider;
  readonly mode: AuthMode;
  /** Empty without a provider config. */
  readonly configId: string;
}

interface Dependencies {
  readonly configs: Pick<ProviderConfigs, "open">;
  readonly tokens: TokenClient;
  readonly probeAccount: ProbeAccount;
}

/** Obtains access from providers and proves it. */
export type GrantProver = ReturnType<typeof createGrantProver>;

/** Creates the part that proves access at the provider before it is stored. */
export function createGrantProver({ configs, tokens, probeAccount }: Dependencies) {
  /** The values of the provider config for templates; a fault if it cannot be used. */
  async function configValues(target: ProofTarget): Promise<Record<string, string> | ProofFailure> {
    if (target.configId === "") return {};
    const config = await configs.open(target.tenantId, target.configId);
    if (typeof config === "string") return rejected(config, "The provider config cannot be used.");
    return configValuesOf(config);
  }

  /** Requests the account, and puts the grant together. */
  async function prove(
    target: ProofTarget,
    auth: AuthSpec,
    values: AccountValues,
    scopes: readonly string[],
    expiresAt: Date | null,
    nowMs: number,
  ): Promise<ProvenGrant | ProofFailure> {
    const { provider, mode, configId } = target;
    const proof = await probeAccount(provider, values, nowMs);
    if (proof.kind === "failed") {
      const { class: answerClass, code, message } = proof;
      return { fault: probeFaults[answerClass] ?? "rejected", code, message };
    }
    const { settings, captured, account, credentials } = values;
    const grant = {
      ...{ providerKey: provider.key, providerConfigId: configId, authMode: mode },
      ...{ manifestVersion: provider.version, manifestDigest: provider.digest },
      ...{ scopes, settings, captured, account, credentials, expiresAt },
      accountChoices: proof.kind === "ok" ? proof.accounts : [],
      idleS: auth.mode === "oauth2" ? auth.refresh.idleS : undefined,
      lifetimeS: auth.mode === "oauth2" ? auth.refresh.lifetimeS : undefined,
    };
    return settleAccount(grant, "");
  }

  return {
    configValues,

    /** Proves credentials that a person or a caller has entered. */
    async proveFields(
      target: ProofTarget,
      settings: Readonly<Record<string, unknown>>,
      credentials: Readonly<Record<string, string>>,
      requestedScopes: readonly string[],
      nowMs: number,
    ): Promise<ProvenGrant | ProofFailure> {
      const { provider, mode } = target;
      const auth = provider.auth(mode);
      if (auth === undefined) return rejected("unsupported_auth", "The provider does not have this mode.");
      const config = await configValues(target);
      if (isProofFault(config)) return config;
      const values: AccountValues = { mode, settings, captured: {}, account: noAccount, credentials, config };
      if (!fetchesToken(auth)) return prove(target, auth, values, [], null, nowMs);
      const call = { provider, account: values, scopes: requestedScopes, nowMs };
      const token = tokenOrFault(await tokens.fetchToken(auth, call));
      if (isProofFault(token)) return token;
      const fetched = { ...credentials, access_token: token.accessToken };
      const withToken = { ...values, credentials: fetched, captured: token.captured };
      return prove(target, auth, withToken, token.scopes ?? requestedScopes, token.expiresAt, nowMs);
    },

    /** Exchanges the code of a callback and proves the tokens. */
    async proveCallback(
      target: ProofTarget,
      auth: OAuth2Auth,
      held: CallbackValues,
      nowMs: number,
    ): Promise<ProvenGrant | ProofFailure> {
      const { provider, mode } = target;
      const config = await configValues(target);
      if (isProofFault(config)) return config;
      const { settings, captured, credentials, scopes, redirectUri, codeVerifier } = held;
      const values: AccountValues = { mode, settings, captured, account: noAccount, credentials, config };
      const call = { provider, account: values, scopes, nowMs };
      const parameters = validateAuthResponse(
        { issuer: held.authorizeUrl },
        { client_id: config.client_id ?? "" },
        new URLSearchParams({ code: held.code }),
      );
      const token = tokenOrFault(await tokens.exchangeCode(auth, call, { parameters, redirectUri, codeVerifier }));
      if (isProofFault(token)) return token;
      const withTokens = {
        ...values,
        credentials: {
          ...credentials,
          access_token: token.accessToken,
          ...(token.refreshToken !== undefined && { refresh_token: token.refreshToken }),
        },
        captured: { ...captured, ...token.captured },
      };
      return prove(target, auth, withTokens, token.scopes ?? scopes, token.expiresAt, nowMs);
    },
  };
}

const noAccount = { id: "", label: "" };
const probeFaults: Readonly<Record<string, ProofFailure["fault"]>> = {
  unreachable: "unavailable",
  unavailable: "unavailable",
  rate_limited: "unavailable",
  malformed: "malformed",
};

function fetchesToken(auth: AuthSpec): auth is FetchedTokenAuth {
  return auth.mode === "oauth2_cc" || auth.mode === "two_step" || auth.mode === "jwt";
}

function tokenOrFault(result: TokenResult): TokenGrant | ProofFailure {
  switch (result.kind) {
    case "granted":
      return result;
    case "refused":
      return rejected(result.code, "The provider refused to issue a token.");
    case "malformed":
      return { fault: "malformed", code: result.code, message: "The answer is not one of a token endpoint." };
    case "unavailable":
      return { fault: "unavailable", code: result.code, message: "The provider could not issue a token." };
  }
}

function rejected(code: string, message: string): ProofFailure {
  return { fault: "rejected", code, message };
}

/** Whether access could not be proven. */
export function isProofFault(value: object): value is ProofFailure {
  return "fault" in value;
}
