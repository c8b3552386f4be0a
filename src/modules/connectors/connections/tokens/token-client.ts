import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  customFetch,
  nopkce,
  processRevocationResponse,
  refreshTokenGrantRequest,
  revocationRequest,
} from "oauth4webapi";
import {
  type GuardedHttp,
  type HttpAnswer,
  type OAuth2Auth,
  renderEndpoint,
  type TextTemplate,
} from "../../manifests/index.ts";
import { clientAuthOf } from "./client-auth.ts";
import { type FetchedTokenAuth, fetchToken } from "./fetched-tokens.ts";
import { limitsOf, type OAuthRequest, requestToken, type TokenCall, type TokenResult } from "./oauth-request.ts";
import { rendered, type TokenFailure, tokenOrFault, unusableAnswer } from "./token-failure.ts";

/** A callback that `validateAuthResponse` of oauth4webapi accepted. */
export interface AuthorizedCallback {
  readonly parameters: URLSearchParams;
  readonly redirectUri: string;
  /** Undefined without PKCE. */
  readonly codeVerifier: string | undefined;
}

type RevocationResult = { readonly kind: "revoked" } | { readonly kind: "not_offered" } | TokenFailure;

/** Requests tokens and revokes them, as manifests describe it. */
export type TokenClient = ReturnType<typeof createTokenClient>;

/** Creates the client. Every request goes through the guard. */
export function createTokenClient(http: GuardedHttp) {
  return {
    exchangeCode(auth: OAuth2Auth, call: TokenCall, callback: AuthorizedCallback): Promise<TokenResult> {
      const { parameters: returned, redirectUri, codeVerifier = nopkce } = callback;
      const request = requestOf(
        auth,
        call,
        auth.token.url,
        (server, client, clientAuth, additionalParameters, options) => {
          const all = { ...options, additionalParameters };
          return authorizationCodeGrantRequest(server, client, clientAuth, returned, redirectUri, codeVerifier, all);
        },
      );
      return requestToken(http, call, request);
    },

    /** Exchanges a refresh token for new tokens. */
    refresh(auth: OAuth2Auth, call: TokenCall, refreshToken: string): Promise<TokenResult> {
      const url = auth.refresh.url ?? auth.token.url;
      const request = requestOf(auth, call, url, (server, client, clientAuth, additionalParameters, options) =>
        refreshTokenGrantRequest(server, client, clientAuth, refreshToken, { ...options, additionalParameters }),
      );
      return requestToken(http, call, request);
    },

    /** Fetches a token with the fields of a connection. */
    fetchToken: (auth: FetchedTokenAuth, call: TokenCall) => fetchToken(http, auth, call),

    /** Revokes a grant at the provider (RFC 7009). */
    async revoke({ revoke }: OAuth2Auth, call: TokenCall): Promise<RevocationResult> {
      const { provider, account, nowMs } = call;
      const { access_token: access, refresh_token: refresh } = account.credentials;
      const token = revoke?.token === "access_token" ? (access ?? refresh) : (refresh ?? access);
      if (revoke === undefined || token === undefined) return { kind: "not_offered" };
      const { client_id: id = "", client_secret: clientSecret = "" } = account.config;
      return tokenOrFault(async () => {
        const url = rendered(renderEndpoint(provider, revoke.url, account, nowMs));
        const server: AuthorizationServer = { issuer: url, revocation_endpoint: url };
        const clientAuth = await clientAuthOf(revoke.clientAuth, { clientSecret, privateKey: "" }, url);
        const response = await revocationRequest(server, { client_id: id }, clientAuth, token, {
          [allowInsecureRequests]: true,
          [customFetch]: async (address, { body, headers }) => {
            const request = { method: "POST", url: address, headers, body: String(body) } as const;
            return revocationResponse(await http.send(provider, account.settings, request, limitsOf(call)));
          },
        });
        await processRevocationResponse(response);
        return { kind: "revoked" } as const;
      });
    },
  };
}

function requestOf(
  auth: OAuth2Auth,
  { account }: TokenCall,
  url: TextTemplate,
  send: OAuthRequest["send"],
): OAuthRequest {
  const { client_id: id = "", client_secret: clientSecret = "", private_key: privateKey = "" } = account.config;
  return {
    endpoint: auth.token,
    url,
    client: { id, auth: (audience) => clientAuthOf(auth.token.clientAuth, { clientSecret, privateKey }, audience) },
    expires: auth.expires,
    captured: auth.captured,
    send,
  };
}

/** The answer to a revocation in the form of RFC 7009. Every success counts, also one without a body. */
function revocationResponse({ status }: HttpAnswer): Response {
  if (status >= 200 && status < 300) return new Response(null, { status: 200 });
  if (status === 429 || status >= 500) {
    throw unusableAnswer({ kind: "unavailable", code: `http_${status}`, retryAfterMs: undefined });
  }
  return Response.json({ error: `http_${status}` }, { status: 400 });
}
