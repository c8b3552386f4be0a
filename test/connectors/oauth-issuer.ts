import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { afterFile } from "../harness/after-file.ts";

/** An OAuth app at the issuer. */
export interface IssuerClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

/** A live OAuth 2 and OpenID Connect issuer with rotating refresh tokens and a sign-in page. */
export interface OAuthIssuer {
  /** On another site than the service, so that redirects are cross-site. */
  readonly url: string;
  /** Replaces the registered apps. */
  register(...clients: readonly IssuerClient[]): void;
  /** The parameters of received token requests. */
  readonly tokenRequests: URLSearchParams[];
  /** The number of revoked grants. */
  revocations(): number;
  /** Answers token requests with this status until it is undefined again. */
  tokenStatus: number | undefined;
  /** Runs before a token request is answered. */
  beforeToken: (() => Promise<void>) | undefined;
}

/** Starts an issuer on a free port. */
export async function startOAuthIssuer(): Promise<OAuthIssuer> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "k1", alg: "ES256", use: "sig" };
  const tokenRequests: URLSearchParams[] = [];
  let revocations = 0;
  let provider: Provider;
  const issuer: Pick<OAuthIssuer, "tokenStatus" | "beforeToken"> = { tokenStatus: undefined, beforeToken: undefined };

  const server = http.createServer(async (request, response) => {
    if (request.url === "/keyed") return answerKey(request, response);
    if (request.url!.startsWith("/interaction/")) return interact(provider, request, response);
    if (request.url === "/token") await issuer.beforeToken?.();
    if (issuer.tokenStatus !== undefined && request.url === "/token") {
      return void response.writeHead(issuer.tokenStatus).end();
    }
    provider.callback()(request, response);
  });
  await once(server.listen(0), "listening");
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });

  return Object.assign(issuer, {
    url,
    tokenRequests,
    revocations: () => revocations,
    register(...clients: readonly IssuerClient[]) {
      provider = new Provider(url, {
        jwks: { keys: [key] },
        cookies: { keys: ["only for tests"] },
        clients: clients.map(({ clientId, clientSecret, redirectUri }) => ({
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [redirectUri],
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: "client_secret_basic",
          id_token_signed_response_alg: "ES256",
        })),
        scopes: ["openid", "offline_access"],
        pkce: { required: () => true },
        rotateRefreshToken: true,
        features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
        interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
        findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
        ttl: { AccessToken: 3600, AuthorizationCode: 60, Grant: 3600, Session: 3600, Interaction: 3600 },
      });
      provider.use(async (ctx, next) => {
        await next();
        if (ctx.path === "/token") tokenRequests.push(new URLSearchParams(ctx.oidc?.params as Record<string, string>));
      });
      provider.on("grant.revoked", () => revocations++);
    },
  });
}

/** The sign-in page: whoever is named is signed in. */
async function interact(provider: Provider, request: http.IncomingMessage, response: http.ServerResponse) {
  const { params } = await provider.interactionDetails(request, response);
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/html" });
    return void response.end(`<!doctype html><title>Issuer</title><h1>Issuer</h1><form method="post" action="${request.url}">
<label>Account <input name="login"></label><button name="verdict" value="allow">Allow</button><button name="verdict" value="deny">Deny</button></form>`);
  }
  const form = new URLSearchParams(await text(request));
  const accountId = form.get("login")!;
  if (form.get("verdict") === "deny") {
    return provider.interactionFinished(request, response, { error: "access_denied" });
  }
  const grant = new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const result = { login: { accountId }, consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** The account of a key: every key but `refused` is accepted. */
function answerKey({ headers }: http.IncomingMessage, response: http.ServerResponse): void {
  const isAccepted = headers["x-api-key"] !== "refused";
  response.writeHead(isAccepted ? 200 : 401, { "content-type": "application/json" });
  response.end(isAccepted ? '{"id":"keyed"}' : '{"error":"bad_key"}');
}
