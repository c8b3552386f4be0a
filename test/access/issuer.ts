import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import Provider from "oidc-provider";

/** Claims of a token besides its subject. */
export type Claims = Record<string, unknown>;

/** A live OpenID Connect issuer. */
export interface Issuer {
  readonly url: string;
  /** Requests a token from the issuer for a subject, claims and audience. */
  token(subject: string, claims: Claims, audience?: string): Promise<string>;
  /** A token signed with the issuer's key that the issuer never issued. */
  forge(claims: Claims): Promise<string>;
  /** The public part of the current signing key. */
  publicKey(): JWK;
  /** Rotates the signing key; the previous one stays published. */
  rotate(): Promise<void>;
  /** Drops all connections until it is reachable again. Its port stays its own. */
  setReachable(reachable: boolean): void;
  goDown(): Promise<void>;
}

/** The default audience of tokens. */
export const audience = "https://api.switchyard.example";

const clientSecret = "only for tests";

/** Starts an issuer on a free port, with one client per subject. */
export async function startIssuer(subjects: readonly string[]): Promise<Issuer> {
  let isReachable = true;
  const server = http.createServer((request, response) => handle(request, response));
  server.on("connection", (socket) => {
    if (!isReachable) socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  let keys = [await newKey("k1")];
  let claimsOf: Claims = {};
  let handle = provider();

  function provider(): http.RequestListener {
    return new Provider(url, {
      jwks: { keys },
      cookies: { keys: ["only for tests"] },
      clients: subjects.map((subject) => ({
        client_id: subject,
        client_secret: clientSecret,
        token_endpoint_auth_method: "client_secret_post" as const,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: "ES256",
      })),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_ctx: unknown, resource: string) => ({
            scope: "",
            audience: resource,
            accessTokenFormat: "jwt" as const,
            accessTokenTTL: 300,
            jwt: { sign: { alg: "ES256" as const } },
          }),
        },
      },
      extraTokenClaims: () => claimsOf,
    }).callback();
  }

  return {
    url,
    publicKey: () => {
      const { d: _, ...shown } = keys[0]!;
      return shown;
    },
    async token(subject, claims, resource = audience) {
      claimsOf = claims;
      const answer = await fetch(`${url}/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "client_credentials",
          client_id: subject,
          client_secret: clientSecret,
          resource,
        }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`The issuer returned ${answer.status}: ${text}`);
      return JSON.parse(text).access_token;
    },
    async forge(claims) {
      const key = keys[0]!;
      return new SignJWT({ iss: url, aud: audience, sub: "ada", exp: Date.now() / 1000 + 60, ...claims })
        .setProtectedHeader({ alg: "ES256", kid: key.kid! })
        .sign(await importJWK(key, "ES256"));
    },
    async rotate() {
      keys = [await newKey(`k${keys.length + 1}`), ...keys];
      handle = provider();
    },
    setReachable(reachable) {
      isReachable = reachable;
      if (!reachable) server.closeAllConnections();
    },
    async goDown() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "ES256", use: "sig" };
}
