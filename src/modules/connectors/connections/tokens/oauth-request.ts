import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  type ClientAuth,
  customFetch,
  processGenericTokenEndpointResponse,
  type TokenEndpointRequestOptions,
} from "oauth4webapi";
import type { Json } from "../../../../platform/document/index.ts";
import {
  type AccountValues,
  type GuardedHttp,
  type Provider,
  renderEndpoint,
  renderParameter,
  type SendLimits,
  type TextTemplate,
  type TokenEndpoint,
  type TokenExpiry,
} from "../../manifests/index.ts";
import { capturedFrom, scopesOf, standardAnswer } from "./token-answer.ts";
import { isFault, rendered, type TokenFailure, tokenOrFault, unusableAnswer } from "./token-failure.ts";

/** The values that a token request is made with. The config includes the secrets of the provider config. */
export interface TokenCall {
  readonly provider: Provider;
  readonly account: AccountValues;
  /** The scopes to request where the grant does not fix them. */
  readonly scopes: readonly string[];
  readonly nowMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface TokenGrant {
  readonly kind: "granted";
  readonly accessToken: string;
  /** Undefined if the answer has none: the previous one stays valid. */
  readonly refreshToken: string | undefined;
  readonly expiresAt: Date | null;
  readonly scopes: readonly string[] | undefined;
  readonly captured: Readonly<Record<string, unknown>>;
}

export type TokenResult = TokenGrant | TokenFailure;

/** The part of a token endpoint that does not depend on the grant. */
export type EndpointShape = Pick<TokenEndpoint, "format" | "headers" | "params" | "errorIn2xx" | "pointers">;

/** A token request, with the function of oauth4webapi that sends it. */
export interface OAuthRequest {
  readonly endpoint: EndpointShape;
  readonly url: TextTemplate;
  readonly client: { readonly id: string; readonly auth: (audience: string) => ClientAuth | Promise<ClientAuth> };
  readonly expires: TokenExpiry;
  readonly captured: ReadonlyMap<string, string>;
  readonly send: (
    server: AuthorizationServer,
    client: Client,
    clientAuth: ClientAuth,
    parameters: URLSearchParams,
    options: TokenEndpointRequestOptions,
  ) => Promise<Response>;
}

/** An endpoint that follows RFC 6749. */
export const standardEndpoint: EndpointShape = {
  format: "form",
  headers: [],
  params: [],
  errorIn2xx: undefined,
  pointers: {
    accessToken: "/access_token",
    refreshToken: "/refresh_token",
    expiresIn: "/expires_in",
    scope: "/scope",
  },
};

/** The time limit of a token request. A refresh lease is longer. */
const tokenRequestMs = 15_000;
const answerBytesMax = 256 * 1024;

/** The limits of a request to a token endpoint. */
export function limitsOf({ signal }: TokenCall): SendLimits {
  return { timeoutMs: tokenRequestMs, bytesMax: answerBytesMax, signal };
}

/** Sends a token request with oauth4webapi through the guard, and reads its answer. */
export function requestToken(http: GuardedHttp, call: TokenCall, request: OAuthRequest): Promise<TokenResult> {
  const { endpoint, url, client, expires, captured } = request;
  return tokenOrFault(async () => {
    const { provider, account, nowMs } = call;
    const tokenUrl = rendered(renderEndpoint(provider, url, account, nowMs));
    const server: AuthorizationServer = { issuer: tokenUrl, token_endpoint: tokenUrl };
    const kept: { answer?: Json } = {};
    const options: TokenEndpointRequestOptions = {
      headers: new Headers(textsOf(endpoint.headers, call)),
      [customFetch]: standardFetch(http, call, request, kept),
      // The host list of the manifest decides which hosts may be reached without TLS.
      [allowInsecureRequests]: true,
    };
    const named: Client = { client_id: client.id };
    const parameters = new URLSearchParams(textsOf(endpoint.params, call));
    const response = await request.send(server, named, await client.auth(tokenUrl), parameters, options);
    const answer = await processGenericTokenEndpointResponse(server, named, response);
    return {
      kind: "granted",
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token,
      expiresAt: expiryOf(answer.expires_in ?? expires.defaultS, nowMs),
      scopes: scopesOf(answer.scope),
      captured: capturedFrom(kept.answer!, captured),
    };
  });
}

/** A fetch function that sends through the guard and returns the answer in its standard form. */
function standardFetch(
  http: GuardedHttp,
  call: TokenCall,
  { endpoint, expires }: OAuthRequest,
  kept: { answer?: Json },
): NonNullable<TokenEndpointRequestOptions[typeof customFetch]> {
  const isJson = endpoint.format === "json";
  return async (url, { body, headers }) => {
    const parameters = body as URLSearchParams;
    const request = {
      method: "POST",
      url,
      headers: { ...headers, ...(isJson && { "content-type": "application/json" }) },
      body: isJson ? JSON.stringify(Object.fromEntries(parameters)) : parameters.toString(),
    } as const;
    const answer = await http.send(call.provider, call.account.settings, request, limitsOf(call));
    const standard = standardAnswer(answer, endpoint, expires, call.nowMs);
    if (standard.kind !== "standard") throw unusableAnswer(standard);
    kept.answer = standard.original;
    return Response.json(standard.body, { status: standard.status });
  };
}

/** Fills in names and values; those without a value are left out. */
export function textsOf(
  templates: readonly (readonly [name: string, value: TextTemplate])[],
  { account, nowMs }: TokenCall,
): [string, string][] {
  return templates.flatMap(([name, template]) => {
    const text = renderParameter(template, account, nowMs);
    if (isFault(text) && text.fault === "missing_value") return [];
    return [[name, rendered(text)] as [string, string]];
  });
}

/** No token is known to live longer. Some providers send a time instead of a lifetime. */
const lifetimeSMax = 100 * 366 * 86_400;

/** When a token with this lifetime expires. */
export function expiryOf(expiresInS: number | undefined, nowMs: number): Date | null {
  return expiresInS === undefined ? null : new Date(nowMs + Math.floor(Math.min(expiresInS, lifetimeSMax) * 1000));
}
