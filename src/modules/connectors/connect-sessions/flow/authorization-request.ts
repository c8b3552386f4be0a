import { createHash } from "node:crypto";
import {
  type AccountValues,
  type OAuth2Auth,
  type Provider,
  renderEndpoint,
  renderParameter,
} from "../../manifests/index.ts";

/** The values of one authorization request. */
export interface AuthorizationRequest {
  readonly account: AccountValues;
  readonly redirectUri: string;
  readonly state: string;
  /** Undefined without PKCE. */
  readonly codeVerifier: string | undefined;
  readonly scopes: readonly string[];
}

/** Renders the address at which the end user grants access; undefined if it cannot be rendered with these values. */
export function authorizationUrl(
  provider: Provider,
  auth: OAuth2Auth,
  { account, redirectUri, state, codeVerifier, scopes }: AuthorizationRequest,
  nowMs: number,
): string | undefined {
  const endpoint = renderEndpoint(provider, auth.authorize.url, account, nowMs);
  if (typeof endpoint !== "string") return undefined;
  const url = new URL(endpoint);
  for (const [name, template] of auth.authorize.params) {
    const value = renderParameter(template, account, nowMs);
    if (typeof value === "string") url.searchParams.set(name, value);
    else if (value.fault !== "missing_value") return undefined;
  }
  if (scopes.length > 0) url.searchParams.set(auth.authorize.scopeParam, scopes.join(auth.authorize.scopeSeparator));
  // Set last, so that a manifest cannot replace them.
  const own = {
    response_type: "code",
    client_id: account.config.client_id ?? "",
    redirect_uri: redirectUri,
    state,
    ...(codeVerifier !== undefined && {
      code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
      code_challenge_method: "S256",
    }),
  };
  for (const [name, value] of Object.entries(own)) url.searchParams.set(name, value);
  return url.href;
}

/** The issuer that the manifest declares; undefined if it declares none. */
export function declaredIssuer({ authorize }: OAuth2Auth, account: AccountValues, nowMs: number): string | undefined {
  if (authorize.issuer === undefined) return undefined;
  const issuer = renderParameter(authorize.issuer, account, nowMs);
  // An issuer that cannot be rendered equals no `iss`.
  return typeof issuer === "string" ? issuer : "";
}

/** The scopes to request: those of the session, or the manifest's default ones with those of the provider config. */
export function requestedScopes(
  { scopes }: OAuth2Auth,
  ofSession: readonly string[],
  ofConfig: readonly string[],
): readonly string[] {
  return ofSession.length > 0 ? ofSession : [...new Set([...scopes.default, ...ofConfig])];
}
