import { SignJWT } from "jose";
import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  clientCredentialsGrantRequest,
  customFetch,
  genericTokenEndpointRequest,
  nopkce,
  processGenericTokenEndpointResponse,
  processRevocationResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  revocationRequest,
} from "oauth4webapi";
import type { Json } from "../../../../platform/document/index.ts";
import { EgressError } from "../../../../platform/egress/index.ts";
import {
  type AccountValues,
  type HttpAnswer,
  type HttpRequest,
  type JwtAuth,
  type OAuth2Auth,
  type OAuth2ClientAuth,
  type Provider,
  RenderError,
  type RequestValues,
  renderText,
  renderValue,
  requireText,
  type TextTemplate,
  type TokenEndpoint,
  type TokenExpiry,
  type TwoStepAuth,
  valueAt,
} from "../../manifests/index.ts";
import { capturedFrom, type StandardAnswer, scopesOf, standardAnswer } from "../domain/token-answer.ts";
import { clientAuthOf, privateKeyOf } from "./client-auth.ts";

/** The limits of a request. */
export interface SendLimits {
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request to a host that the provider's manifest declares. Failures are EgressErrors. */
export type SendRequest = (
  provider: Provider,
  settings: Readonly<Record<string, unknown>>,
  request: HttpRequest,
  limits: SendLimits,
) => Promise<HttpAnswer>;

/** The values that a token request is made with. The config includes the secrets of the provider config. */
export interface TokenCall {
  readonly provider: Provider;
  readonly account: AccountValues;
  /** The scopes to request where the grant does not fix them. */
  readonly scopes: readonly string[];
  readonly nowMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** New tokens. */
export interface TokenGrant {
  readonly kind: "granted";
  readonly accessToken: string;
  /** Undefined if the answer has none: the previous one stays valid. */
  readonly refreshToken: string | undefined;
  readonly expiresAt: Date | null;
  readonly scopes: readonly string[] | undefined;
  readonly captured: Readonly<Record<string, unknown>>;
}

/** The result of a token request. Codes are safe to show. */
export type TokenResult =
  | TokenGrant
  /** The provider answered that it grants nothing. */
  | { readonly kind: "refused"; readonly what: "grant" | "client" | "request"; readonly code: string }
  /** There is no usable answer. `mayHaveArrived`: the provider may have spent the grant nevertheless. */
  | {
      readonly kind: "unavailable";
      readonly code: string;
      readonly mayHaveArrived: boolean;
      readonly retryAfterMs: number | undefined;
    };

/** The specifications of modes whose tokens are fetched without an end user. */
export type FetchedTokenAuth = OAuth2ClientAuth | TwoStepAuth | JwtAuth;

/** The time limit of a token request. A refresh lease must be longer. */
export const tokenRequestMs = 15_000;
const answerBytesMax = 256 * 1024;

/** Requests tokens and revokes them, as manifests describe it. */
export type TokenClient = ReturnType<typeof createTokenClient>;

/** Creates the client. Every request goes through `send`. */
export function createTokenClient(send: SendRequest) {
  const limitsOf = ({ signal }: TokenCall): SendLimits => ({
    timeoutMs: tokenRequestMs,
    bytesMax: answerBytesMax,
    signal,
  });

  /** A fetch function for oauth4webapi that sends through the guard and returns the answer in its standard form. */
  function standardFetch(call: TokenCall, endpoint: EndpointShape, expires: TokenExpiry, kept: { answer?: Json }) {
    return async (url: string, { body, headers }: { body: URLSearchParams; headers: Record<string, string> }) => {
      const isJson = endpoint.format === "json";
      const answer = await send(
        call.provider,
        call.account.settings,
        {
          method: "POST",
          url,
          headers: { ...headers, ...(isJson && { "content-type": "application/json" }) },
          body: isJson ? JSON.stringify(Object.fromEntries(body)) : body.toString(),
        },
        limitsOf(call),
      );
      const standard = standardAnswer(answer, endpoint, expires);
      if (standard.kind !== "standard") throw new UnusableAnswer(standard);
      kept.answer = standard.original;
      return Response.json(standard.body, { status: standard.status });
    };
  }

  /** Sends a token request with oauth4webapi and reads its answer. */
  async function requestToken(
    call: TokenCall,
    { endpoint, url, client, expires, captured, request }: TokenRequest,
  ): Promise<TokenResult> {
    return settle(async () => {
      const values = valuesOf(call);
      const tokenUrl = requireText(url, values);
      const server: AuthorizationServer = { issuer: tokenUrl, token_endpoint: tokenUrl };
      const clientAuth = await client.auth(tokenUrl);
      const kept: { answer?: Json } = {};
      const options = {
        headers: new Headers(pairsOf(endpoint.headers, values)),
        [customFetch]: standardFetch(call, endpoint, expires, kept),
        // The host list of the manifest decides which addresses may be reached without TLS.
        [allowInsecureRequests]: true,
      };
      const named: Client = { client_id: client.id };
      const parameters = new URLSearchParams(pairsOf(endpoint.params, values));
      const response = await request(server, named, clientAuth, parameters, options as never);
      const answer = await processGenericTokenEndpointResponse(server, named, response);
      return {
        kind: "granted",
        accessToken: answer.access_token,
        refreshToken: answer.refresh_token,
        expiresAt: expiryOf(answer.expires_in ?? expires.defaultS, call.nowMs),
        scopes: scopesOf(answer.scope),
        captured: capturedFrom(kept.answer!, captured),
      };
    });
  }

  function oauth2Request(
    auth: OAuth2Auth,
    { account }: TokenCall,
    url: TextTemplate,
    request: TokenRequest["request"],
  ): TokenRequest {
    const { client_id: id = "", client_secret: clientSecret = "", private_key: privateKey = "" } = account.config;
    const secrets = { clientSecret, privateKey };
    return {
      endpoint: auth.token,
      url,
      client: { id, auth: (audience) => clientAuthOf(auth.token.clientAuth, secrets, audience) },
      expires: auth.expires,
      captured: auth.captured,
      request,
    };
  }

  return {
    /** Exchanges the code of a callback that `validateAuthResponse` of oauth4webapi accepted. */
    exchangeCode(
      auth: OAuth2Auth,
      call: TokenCall,
      callback: { readonly parameters: URLSearchParams; readonly redirectUri: string; readonly codeVerifier?: string },
    ): Promise<TokenResult> {
      const { parameters: returned, redirectUri, codeVerifier } = callback;
      const request: TokenRequest["request"] = (server, client, clientAuth, additionalParameters, options) =>
        authorizationCodeGrantRequest(server, client, clientAuth, returned, redirectUri, codeVerifier ?? nopkce, {
          ...options,
          additionalParameters,
        });
      return requestToken(call, oauth2Request(auth, call, auth.token.url, request));
    },

    /** Exchanges a refresh token for new tokens. */
    refresh(auth: OAuth2Auth, call: TokenCall, refreshToken: string): Promise<TokenResult> {
      const request: TokenRequest["request"] = (server, client, clientAuth, additionalParameters, options) =>
        refreshTokenGrantRequest(server, client, clientAuth, refreshToken, { ...options, additionalParameters });
      return requestToken(call, oauth2Request(auth, call, auth.refresh.url ?? auth.token.url, request));
    },

    /** Fetches a token with the fields of a connection. */
    fetchToken(auth: FetchedTokenAuth, call: TokenCall): Promise<TokenResult> {
      switch (auth.mode) {
        case "oauth2_cc":
          return fetchWithClientCredentials(auth, call);
        case "jwt":
          return fetchWithAssertion(auth, call);
        case "two_step":
          return logIn(auth, call);
      }
    },

    /** Revokes a token at the provider (RFC 7009). */
    async revoke(auth: OAuth2Auth, call: TokenCall): Promise<RevocationResult> {
      const { revoke } = auth;
      const { access_token: access, refresh_token: refresh } = call.account.credentials;
      const token = revoke?.token === "access_token" ? (access ?? refresh) : (refresh ?? access);
      if (revoke === undefined || token === undefined) return { kind: "refused", code: "not_offered" };
      const { client_id: id = "", client_secret: clientSecret = "" } = call.account.config;
      const result = await settle(async () => {
        const url = requireText(revoke.url, valuesOf(call));
        const server: AuthorizationServer = { issuer: url, revocation_endpoint: url };
        const clientAuth = await clientAuthOf(revoke.clientAuth, { clientSecret, privateKey: "" }, url);
        const response = await revocationRequest(server, { client_id: id }, clientAuth, token, {
          [customFetch]: (async (address: string, { body, headers }: { body: URLSearchParams; headers: Headers }) => {
            const head = headers as unknown as Record<string, string>;
            const request: HttpRequest = { method: "POST", url: address, headers: head, body: body.toString() };
            const answer = await send(call.provider, call.account.settings, request, limitsOf(call));
            return revocationAnswer(answer);
          }) as never,
          [allowInsecureRequests]: true,
        });
        await processRevocationResponse(response);
        return revoked;
      });
      if (result === revoked) return { kind: "revoked" };
      const { kind, code } = result as Exclude<TokenResult, TokenGrant>;
      return { kind, code };
    },
  };

  function fetchWithClientCredentials(auth: OAuth2ClientAuth, call: TokenCall): Promise<TokenResult> {
    const { credentials, config } = call.account;
    const id = credentials.client_id ?? config.client_id ?? "";
    const clientSecret = credentials.client_secret ?? config.client_secret ?? "";
    const privateKey = credentials.private_key ?? config.private_key ?? "";
    const scopes = call.scopes.length > 0 ? call.scopes : auth.scopes.default;
    return requestToken(call, {
      endpoint: auth.token,
      url: auth.token.url,
      client: {
        id,
        auth: (audience) => clientAuthOf(auth.token.clientAuth, { clientSecret, privateKey }, audience),
      },
      expires: auth.expires,
      captured: auth.captured,
      request(server, client, clientAuth, parameters, options) {
        if (scopes.length > 0) parameters.set("scope", scopes.join(auth.scopeSeparator));
        return clientCredentialsGrantRequest(server, client, clientAuth, parameters, options);
      },
    });
  }

  /** Exchanges a signed assertion for a token (RFC 7523). */
  function fetchWithAssertion(auth: JwtAuth, call: TokenCall): Promise<TokenResult> {
    const { token } = auth;
    const values = valuesOf(call);
    const scopes = call.scopes.length > 0 ? call.scopes : auth.scopes.default;
    return requestToken(call, {
      endpoint: { ...standardEndpoint, headers: [], params: [] },
      url: token.url,
      // The assertion identifies the client.
      client: { id: "assertion", auth: async () => () => {} },
      expires: token.expires,
      captured: new Map(),
      async request(server, client, clientAuth, parameters, options) {
        const issuedAt = Math.floor(call.nowMs / 1000);
        const claims = Object.fromEntries(pairsOf(token.claims, values));
        const assertion = await new SignJWT({ ...(scopes.length > 0 && { scope: scopes.join(" ") }), ...claims })
          .setProtectedHeader({ alg: token.algorithm, typ: "JWT" })
          .setIssuer(requireText(token.issuer, values))
          .setAudience(requireText(token.audience, values))
          .setIssuedAt(issuedAt)
          .setExpirationTime(issuedAt + token.lifetimeS)
          .sign(await readKey(call.account.credentials.private_key ?? ""));
        parameters.set("assertion", assertion);
        return genericTokenEndpointRequest(server, client, clientAuth, token.grant, parameters, options);
      },
    });
  }

  /** Sends the login request of a provider with a protocol of its own. */
  function logIn(auth: TwoStepAuth, call: TokenCall): Promise<TokenResult> {
    const { token } = auth;
    return settle(async () => {
      const values = valuesOf(call);
      const headers = token.headers === undefined ? {} : (renderValue(token.headers, values) as Record<string, string>);
      const body = token.body === undefined ? undefined : (renderValue(token.body.value, values) as Json);
      const isForm = token.body?.kind === "form";
      const answer = await send(
        call.provider,
        call.account.settings,
        {
          method: token.method,
          url: requireText(token.url, values),
          headers: {
            accept: "application/json",
            ...(body !== undefined && {
              "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
            }),
            ...headers,
          },
          ...(body !== undefined && {
            body: isForm
              ? new URLSearchParams(body as unknown as Record<string, string>).toString()
              : JSON.stringify(body),
          }),
        },
        limitsOf(call),
      );
      const pointers = {
        ...standardEndpoint.pointers,
        accessToken: token.token,
        ...(token.expiresIn !== undefined && { expiresIn: token.expiresIn }),
      };
      const standard = standardAnswer(answer, { pointers, errorIn2xx: undefined }, token.expires);
      if (standard.kind !== "standard") throw new UnusableAnswer(standard);
      // A login with wrong credentials is answered with 401 or 403, in a form that only the provider knows.
      if (standard.status === 400) return refusalOf(isLoginRefused(answer.status) ? "invalid_grant" : standard.body.error!);
      const { access_token: accessToken, expires_in: expiresIn } = standard.body;
      return {
        kind: "granted",
        accessToken: accessToken!,
        refreshToken: undefined,
        expiresAt: expiryOf(expiresIn ?? token.expires.defaultS, call.nowMs),
        scopes: undefined,
        captured: capturedFrom(standard.original, auth.captured),
      };
    });
  }
}

/** The result of a revocation. */
export type RevocationResult =
  | { readonly kind: "revoked" }
  | { readonly kind: "refused" | "unavailable"; readonly code: string };

type EndpointShape = Pick<TokenEndpoint, "format" | "headers" | "params" | "errorIn2xx" | "pointers">;

interface RequestOptions {
  readonly headers: Headers;
}

/** A token request, with the function of oauth4webapi that sends it. */
interface TokenRequest {
  readonly endpoint: EndpointShape;
  readonly url: TextTemplate;
  readonly client: { readonly id: string; readonly auth: (audience: string) => Promise<ClientAuth> };
  readonly expires: TokenExpiry;
  readonly captured: ReadonlyMap<string, string>;
  readonly request: (
    server: AuthorizationServer,
    client: Client,
    clientAuth: ClientAuth,
    parameters: URLSearchParams,
    options: RequestOptions,
  ) => Promise<Response>;
}

/** An endpoint that follows RFC 6749. */
const standardEndpoint = {
  format: "form",
  errorIn2xx: undefined,
  pointers: {
    accessToken: "/access_token",
    refreshToken: "/refresh_token",
    expiresIn: "/expires_in",
    scope: "/scope",
  },
} as const;

const revoked = Symbol("revoked");

/** Ends a token request whose answer cannot be used. */
class UnusableAnswer extends Error {
  readonly answer: Exclude<StandardAnswer, { readonly kind: "standard" }>;

  constructor(answer: Exclude<StandardAnswer, { readonly kind: "standard" }>) {
    super("The answer of the token endpoint cannot be used.");
    this.answer = answer;
  }
}

/** Ends a token request that cannot be made. */
class UnusableRequest extends Error {}

/** Runs a token request and classifies its failures. Their texts are dropped, because they may contain tokens. */
async function settle<T>(
  work: () => Promise<T>,
): Promise<T | Exclude<TokenResult, TokenGrant>> {
  try {
    return await work();
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error: unknown): Exclude<TokenResult, TokenGrant> {
  if (error instanceof ResponseBodyError) return refusalOf(error.error);
  if (error instanceof RenderError) return { kind: "refused", what: "request", code: error.fault.fault };
  if (error instanceof UnusableRequest) return { kind: "refused", what: "request", code: "invalid_private_key" };
  if (error instanceof EgressError) {
    const { reason: code, mayHaveArrived } = error;
    return { kind: "unavailable", code, mayHaveArrived, retryAfterMs: undefined };
  }
  if (error instanceof UnusableAnswer && error.answer.kind === "unavailable") {
    const { code, retryAfterMs } = error.answer;
    // A limited request was not carried out.
    return { kind: "unavailable", code, mayHaveArrived: code !== "rate_limited", retryAfterMs };
  }
  return { kind: "unavailable", code: "malformed", mayHaveArrived: true, retryAfterMs: undefined };
}

function refusalOf(code: string): Exclude<TokenResult, TokenGrant> {
  const what = code === "invalid_grant" ? "grant" : code === "invalid_client" ? "client" : "request";
  return { kind: "refused", what, code };
}

function isLoginRefused(status: number): boolean {
  return status === 400 || status === 401 || status === 403;
}

async function readKey(pem: string): Promise<CryptoKey> {
  try {
    return await privateKeyOf(pem);
  } catch (cause) {
    throw new UnusableRequest("The private key cannot be read.", { cause });
  }
}

function valuesOf({ account, nowMs }: TokenCall): RequestValues {
  return { input: null, account, nowMs };
}

/** Fills in names and values; those without a value are left out. */
function pairsOf(
  templates: readonly (readonly [name: string, value: TextTemplate])[],
  values: RequestValues,
): [string, string][] {
  return templates.flatMap(([name, template]) => {
    const text = renderText(template, values);
    return text === undefined ? [] : [[name, text] as [string, string]];
  });
}

function expiryOf(expiresInS: number | undefined, nowMs: number): Date | null {
  return expiresInS === undefined ? null : new Date(nowMs + Math.floor(expiresInS * 1000));
}

/** The answer of a revocation in the form of RFC 7009. Every success counts, also one without a body. */
function revocationAnswer({ status }: HttpAnswer): Response {
  if (status >= 200 && status < 300) return new Response(null, { status: 200 });
  if (status === 429 || status >= 500) {
    throw new UnusableAnswer({ kind: "unavailable", code: `http_${status}`, retryAfterMs: undefined });
  }
  return Response.json({ error: `http_${status}` }, { status: 400 });
}

/** Finds the account in the answer of a probe. */
export function accountAt(answer: Json, pointers: { readonly id: string; readonly label: string | undefined }) {
  const text = (pointer: string | undefined) => {
    const value = pointer === undefined ? undefined : valueAt(answer, pointer);
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  return { id: text(pointers.id), label: text(pointers.label) };
}
