import type { webcrypto } from "node:crypto";
import { SignJWT } from "jose";
import { clientCredentialsGrantRequest, genericTokenEndpointRequest } from "oauth4webapi";
import {
  type GuardedHttp,
  type JwtAuth,
  type NoAuth,
  type OAuth2ClientAuth,
  renderParameter,
  renderRequest,
  type TwoStepAuth,
} from "../../manifests/index.ts";
import { clientAuthOf, privateKeyOf } from "./client-auth.ts";
import {
  expiryOf,
  limitsOf,
  requestToken,
  standardEndpoint,
  type TokenCall,
  type TokenResult,
  textsOf,
} from "./oauth-request.ts";
import { capturedFrom, standardAnswer } from "./token-answer.ts";
import { refusal, rendered, TokenRequestError, tokenOrFault, unusableAnswer } from "./token-failure.ts";

/** The modes whose tokens are fetched with the fields of a connection, without an end user. */
export type FetchedTokenAuth = OAuth2ClientAuth | TwoStepAuth | JwtAuth;

/** Fetches a token with the fields of a connection. */
export function fetchToken(http: GuardedHttp, auth: FetchedTokenAuth, call: TokenCall): Promise<TokenResult> {
  switch (auth.mode) {
    case "oauth2_cc":
      return fetchWithClientCredentials(http, auth, call);
    case "jwt":
      return fetchWithAssertion(http, auth, call);
    case "two_step":
      return logIn(http, auth, call);
  }
}

function fetchWithClientCredentials(http: GuardedHttp, auth: OAuth2ClientAuth, call: TokenCall): Promise<TokenResult> {
  // A field of the connection wins over the provider config.
  const values = { ...call.account.config, ...call.account.credentials };
  const { client_id: id = "", client_secret: clientSecret = "", private_key: privateKey = "" } = values;
  const scopes = call.scopes.length > 0 ? call.scopes : auth.scopes.default;
  return requestToken(http, call, {
    endpoint: auth.token,
    url: auth.token.url,
    client: { id, auth: (audience) => clientAuthOf(auth.token.clientAuth, { clientSecret, privateKey }, audience) },
    expires: auth.expires,
    captured: auth.captured,
    send(server, client, clientAuth, parameters, options) {
      if (scopes.length > 0) parameters.set("scope", scopes.join(auth.scopeSeparator));
      return clientCredentialsGrantRequest(server, client, clientAuth, parameters, options);
    },
  });
}

/** Exchanges a signed assertion for a token (RFC 7523). */
function fetchWithAssertion(http: GuardedHttp, auth: JwtAuth, call: TokenCall): Promise<TokenResult> {
  const { token } = auth;
  const { account, nowMs } = call;
  const scopes = call.scopes.length > 0 ? call.scopes : auth.scopes.default;
  return requestToken(http, call, {
    endpoint: standardEndpoint,
    url: token.url,
    // The assertion identifies the client.
    client: { id: "assertion", auth: () => () => {} },
    expires: token.expires,
    captured: new Map(),
    async send(server, client, clientAuth, parameters, options) {
      const issuedAt = Math.floor(nowMs / 1000);
      const claims = Object.fromEntries(textsOf(token.claims, call));
      const assertion = await new SignJWT({ ...(scopes.length > 0 && { scope: scopes.join(" ") }), ...claims })
        .setProtectedHeader({ alg: token.algorithm, typ: "JWT" })
        .setIssuer(rendered(renderParameter(token.issuer, account, nowMs)))
        .setAudience(rendered(renderParameter(token.audience, account, nowMs)))
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + token.lifetimeS)
        .sign(await readKey(account.credentials.private_key ?? ""));
      parameters.set("assertion", assertion);
      return genericTokenEndpointRequest(server, client, clientAuth, token.grant, parameters, options);
    },
  });
}

async function readKey(pem: string): Promise<webcrypto.CryptoKey> {
  try {
    return await privateKeyOf(pem);
  } catch (cause) {
    throw new TokenRequestError({ kind: "refused", what: "grant", code: "invalid_private_key" }, { cause });
  }
}

const noAuth: NoAuth = { mode: "none", fields: [] };

/** Sends the login request of a provider with a protocol of its own. */
function logIn(http: GuardedHttp, auth: TwoStepAuth, call: TokenCall): Promise<TokenResult> {
  const { token } = auth;
  const { provider, account, nowMs } = call;
  return tokenOrFault(async () => {
    // The login request itself carries no token.
    const login = { ...provider, auth: () => noAuth };
    const { method, url, headers, body } = token;
    const spec = { method, url, headers, body, path: undefined, query: undefined };
    const request = rendered(renderRequest(login, spec, { input: {}, account, nowMs }));
    const answer = await http.send(provider, account.settings, request, limitsOf(call));
    const pointers = {
      ...standardEndpoint.pointers,
      accessToken: token.token,
      ...(token.expiresIn !== undefined && { expiresIn: token.expiresIn }),
    };
    const standard = standardAnswer(answer, { pointers, errorIn2xx: undefined }, token.expires, nowMs);
    if (standard.kind !== "standard") throw unusableAnswer(standard);
    // Wrong credentials are refused in a form that only the provider knows.
    if (standard.status === 400) return refusal(isLoginRefusal(answer.status) ? "invalid_grant" : standard.body.error!);
    const { access_token: accessToken, expires_in: expiresIn } = standard.body;
    return {
      kind: "granted",
      accessToken: accessToken!,
      refreshToken: undefined,
      expiresAt: expiryOf(expiresIn ?? token.expires.defaultS, nowMs),
      scopes: undefined,
      captured: capturedFrom(standard.original, auth.captured),
    };
  });
}

function isLoginRefusal(status: number): boolean {
  return status === 400 || status === 401 || status === 403;
}
