import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  discoveryRequest,
  getValidatedIdTokenClaims,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  validateApplicationLevelSignature,
  validateAuthResponse,
} from "oauth4webapi";
import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import type { Egress } from "../../../platform/egress/index.ts";
import type { PlatformServices } from "../../area.ts";
import { bindingOf, type ExternalPerson, type OidcConnection } from "../connections/index.ts";
import { derive } from "../sessions/index.ts";
import { createEgressFetch } from "./egress-fetch.ts";

/** Signs people in with OpenID Connect: the authorization code flow with PKCE. */
export type OidcFlow = ReturnType<typeof createOidcFlow>;

/** The secrets of a sign-in: the state, and the cookie that the verifier and the nonce are derived from. */
export interface AttemptSecrets {
  readonly state: string;
  readonly cookie: string;
}

interface Dependencies extends Pick<PlatformServices, "keyring" | "clock"> {
  readonly egress: Egress;
}

const discoveryMs = 10 * 60_000;
const groupsMax = 500;

/** Creates the flow. Discovery documents are cached for some minutes. */
export function createOidcFlow({ egress, keyring, clock }: Dependencies) {
  const discovered = new BoundedCache<string, { readonly server: AuthorizationServer; readonly untilMs: number }>(1000);
  const send = createEgressFetch(egress);
  const options = (issuer: string) => ({
    [customFetch]: send,
    [allowInsecureRequests]: new URL(issuer).protocol === "http:",
  });

  async function discover(issuer: string): Promise<AuthorizationServer> {
    const known = discovered.get(issuer);
    if (known !== undefined && known.untilMs > clock.now()) return known.server;
    const url = new URL(issuer);
    const server = await processDiscoveryResponse(url, await discoveryRequest(url, { ...options(issuer) }));
    discovered.set(issuer, { server, untilMs: clock.now() + discoveryMs });
    return server;
  }

  function clientAuthOf(connection: OidcConnection, server: AuthorizationServer): ClientAuth {
    if (connection.ciphertext === "") return None();
    if (keyring === undefined) throw new Error("The client secret cannot be opened without connector.encryption_key.");
    const secret = keyring.open(connection.ciphertext, bindingOf(connection));
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return methods.includes("client_secret_basic") ? ClientSecretBasic(secret) : ClientSecretPost(secret);
  }

  return {
    /** The address at the provider where the browser signs in. */
    async start({ settings }: OidcConnection, redirectUri: string, { state, cookie }: AttemptSecrets): Promise<string> {
      const server = await discover(settings.issuer);
      if (server.authorization_endpoint === undefined) throw new Error("The provider has no authorization endpoint.");
      const url = new URL(server.authorization_endpoint);
      const parameters = {
        client_id: settings.clientId,
        redirect_uri: redirectUri,
        response_type: "code",
        scope: [...new Set(["openid", "email", "profile", ...settings.scopes])].join(" "),
        state,
        nonce: nonceOf({ state, cookie }),
        code_challenge: await calculatePKCECodeChallenge(verifierOf({ state, cookie })),
        code_challenge_method: "S256",
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },

    /** Verifies the provider's answer. Throws if anything about it is wrong. */
    async finish(connection: OidcConnection, redirectUri: string, secrets: AttemptSecrets, query: URLSearchParams) {
      const { settings } = connection;
      const server = await discover(settings.issuer);
      const client: Client = { client_id: settings.clientId };
      // An `iss` that is present must be right, even if the provider does not announce that it sends one.
      const iss = query.get("iss");
      if (iss !== null && iss !== server.issuer) throw new Error("The answer names another issuer.");
      const callback = validateAuthResponse(server, client, query, secrets.state);
      const auth = clientAuthOf(connection, server);
      const sending = options(settings.issuer);
      const verifier = verifierOf(secrets);
      const response = await authorizationCodeGrantRequest(
        server,
        client,
        auth,
        callback,
        redirectUri,
        verifier,
        sending,
      );
      const tokens = await processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: nonceOf(secrets),
        requireIdToken: true,
      });
      await validateApplicationLevelSignature(server, response, sending);
      return personOf(getValidatedIdTokenClaims(tokens)!, connection);
    },
  };
}

function verifierOf({ cookie, state }: AttemptSecrets): string {
  return derive(cookie, `verifier ${state}`);
}

function nonceOf({ cookie, state }: AttemptSecrets): string {
  return derive(cookie, `nonce ${state}`);
}

function personOf(claims: Readonly<Record<string, unknown>>, { settings }: OidcConnection): ExternalPerson {
  const text = (name: string) => (typeof claims[name] === "string" ? (claims[name] as string) : "");
  const groups = claims[settings.groupsClaim || "groups"];
  const verified = claims.email_verified === true || claims.email_verified === "true";
  // A claim that says no counts more than the setting, which is for providers without the claim.
  const isTrusted = settings.trustEmail && claims.email_verified === undefined;
  return {
    subject: text("sub"),
    email: text("email"),
    isEmailVerified: verified || isTrusted,
    displayName: text("name").slice(0, 200),
    groups: (Array.isArray(groups) ? groups : [])
      .filter((each): each is string => typeof each === "string" && each !== "" && each.length <= 256)
      .slice(0, groupsMax),
    providerData: {},
  };
}
