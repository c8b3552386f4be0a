import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { afterFile } from "../harness/after-file.ts";

/** A live OpenID Connect provider with a sign-in page. */
export interface SignInIssuer {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claims of the accounts, by login. */
  readonly accounts: Record<string, Record<string, unknown>>;
  /** Registers the redirect URI of the service. */
  register(redirectUri: string): void;
  /** Changes the answer of the token endpoint. */
  alterTokens: ((answer: Record<string, unknown>) => void) | undefined;
}

/** Starts a provider on a free port, on another site than the service. */
export async function startSignInIssuer(): Promise<SignInIssuer> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "k1", alg: "ES256", use: "sig" };
  const accounts: SignInIssuer["accounts"] = {};
  let provider: Provider;
  const server = http.createServer((request, response) =>
    request.url!.startsWith("/interaction/")
      ? void interact(provider, request, response)
      : provider.callback()(request, response),
  );
  await once(server.listen(0), "listening");
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer: SignInIssuer = {
    ...{ url, clientId: "switchyard", clientSecret: "only for tests", accounts, alterTokens: undefined },
    register(redirectUri) {
      provider = new Provider(url, {
        jwks: { keys: [key] },
        cookies: { keys: ["only for tests"] },
        clients: [
          {
            client_id: "switchyard",
            client_secret: "only for tests",
            redirect_uris: [redirectUri],
            grant_types: ["authorization_code"],
            response_types: ["code"],
            token_endpoint_auth_method: "client_secret_basic",
            id_token_signed_response_alg: "ES256",
          },
        ],
        claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
        conformIdTokenClaims: false,
        pkce: { required: () => true },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
        findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
        ttl: { AccessToken: 3600, AuthorizationCode: 60, IdToken: 3600, Grant: 3600, Session: 3600, Interaction: 3600 },
      });
      provider.use(async (ctx, next) => {
        await next();
        const { body } = ctx as unknown as { body: Record<string, unknown> };
        if (ctx.path === "/token" && body?.id_token !== undefined) issuer.alterTokens?.(body);
      });
    },
  };
  return issuer;
}

/** The sign-in page: whoever is named is signed in. */
async function interact(provider: Provider, request: http.IncomingMessage, response: http.ServerResponse) {
  const { params } = await provider.interactionDetails(request, response);
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/html" });
    return void response.end(`<!doctype html><title>Issuer</title><h1>Issuer</h1><form method="post" action="${request.url}">
<label>Account <input name="login"></label><button>Allow</button></form>`);
  }
  const accountId = new URLSearchParams(await text(request)).get("login")!;
  const grant = new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const result = { login: { accountId }, consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}
