import type { Keyring } from "../../../../platform/crypto/index.ts";
import type { AccountValues, AuthMode, AuthSpec, Catalogue, OAuth2Auth } from "../../manifests/index.ts";
import type { ProviderConfigs } from "../../provider-configs/index.ts";
import { configValuesOf } from "../credentials/known-secrets.ts";
import { openCredentials } from "../credentials/sealed-credentials.ts";
import type { Credentials, ReauthReason, SealedConnection } from "../domain/connection.ts";
import type { FetchedTokenAuth } from "../tokens/fetched-tokens.ts";
import type { TokenCall, TokenResult } from "../tokens/oauth-request.ts";
import type { TokenClient } from "../tokens/token-client.ts";

/** A token request that is ready to be sent. */
export interface PreparedRefresh {
  readonly kind: "ready";
  readonly sealed: SealedConnection;
  readonly auth: OAuth2Auth | FetchedTokenAuth;
  readonly credentials: Credentials;
  request(): Promise<TokenResult>;
}

/** Prepares the token request of a connection, or says why there is none. */
export type RefreshPreparation = (
  sealed: SealedConnection,
  nowMs: number,
) => Promise<
  | PreparedRefresh
  /** With a reason if the connection is lost when its token is. */
  | { readonly kind: "not_refreshable"; readonly reason: ReauthReason | undefined }
  | { readonly kind: "failed"; readonly code: string }
>;

/** Creates the preparation of token requests. */
export function createRefreshPreparation(openForTokens: OpenForTokens, tokens: TokenClient): RefreshPreparation {
  return async (sealed, nowMs) => {
    if (sealed.authMode === "") return { kind: "not_refreshable", reason: undefined };
    const opened = await openForTokens(sealed, nowMs);
    if (typeof opened === "string") return { kind: "failed", code: opened };
    const { call, auth } = opened;
    const { credentials } = call.account;
    const ready = (usable: OAuth2Auth | FetchedTokenAuth, request: () => Promise<TokenResult>): PreparedRefresh => ({
      ...{ kind: "ready", sealed, auth: usable, credentials, request },
    });
    switch (auth.mode) {
      case "oauth2": {
        const { refresh_token: token } = credentials;
        if (token === undefined) return { kind: "not_refreshable", reason: "refresh_token_missing" };
        // A refresh token belongs to the app that obtained it.
        if (!call.account.config.client_id) return { kind: "failed", code: "client_id_missing" };
        return ready(auth, () => tokens.refresh(auth, call, token));
      }
      case "oauth2_cc":
      case "two_step":
      case "jwt":
        return ready(auth, () => tokens.fetchToken(auth, call));
      default:
        return { kind: "not_refreshable", reason: "credentials_rejected" };
    }
  };
}

/** Opens a connection with the secrets of its provider config; returns a code if it cannot be opened. */
export type OpenForTokens = ReturnType<typeof createTokenOpener>;

interface Dependencies {
  readonly catalogue: Pick<Catalogue, "provider">;
  readonly configs: Pick<ProviderConfigs, "open">;
  readonly keyring: Keyring | undefined;
}

/** Creates a function that opens connections for requests to the provider's token endpoint. */
export function createTokenOpener({ catalogue, configs, keyring }: Dependencies) {
  return async (
    sealed: SealedConnection,
    nowMs: number,
  ): Promise<{ readonly auth: AuthSpec; readonly call: TokenCall } | string> => {
    const { tenantId, providerKey, providerConfigId } = sealed;
    const mode = sealed.authMode as AuthMode;
    const provider = await catalogue.provider(tenantId, providerKey);
    if (provider === undefined) return "provider_missing";
    const auth = provider.auth(mode);
    if (auth === undefined) return "unsupported_auth";
    const credentials = openCredentials(keyring, sealed);
    if (credentials === undefined) return "decrypt_failed";
    const opened = providerConfigId === "" ? undefined : await configs.open(tenantId, providerConfigId);
    if (typeof opened === "string") return opened;
    const config = opened === undefined ? {} : configValuesOf(opened);
    const { settings, captured, account, scopes } = sealed;
    const values: AccountValues = { mode, settings, captured, account, credentials, config };
    return { auth, call: { provider, account: values, scopes, nowMs } };
  };
}
