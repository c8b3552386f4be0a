import assert from "node:assert/strict";
import type { Json } from "../harness/operations.ts";
import { restClient } from "../harness/rest.ts";
import type { TestService } from "../harness/service.ts";
import type { OAuthIssuer } from "./oauth-issuer.ts";
import type { ScriptlessBrowser, ShownPage } from "./scriptless-browser.ts";

const base = "/api/v2/connector";

/** A tenant that connects accounts of its end users. */
export type ConnectTenant = ReturnType<typeof connectTenant>;

/** Calls the operations of a tenant; every call must succeed unless it is expected to fail. */
export function connectTenant({ baseUrl, adminKey }: Pick<TestService, "baseUrl" | "adminKey">, key = adminKey) {
  const rest = restClient(baseUrl, key);
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  async function must(method: string, path: string, body?: object): Promise<any> {
    const response = await rest.call(method, base + path, body);
    assert.ok(response.status < 300, `${method} ${path}: ${response.text}`);
    return response.body.data;
  }
  return {
    rest,
    must,
    call: (method: string, path: string, body?: object) => rest.call(method, base + path, body),

    async createProvider(document: object): Promise<void> {
      await must("POST", "/manifests", { document });
    },

    /** Creates and activates a provider config. */
    async createConfig(providerKey: string, clientId: string, more: object = {}) {
      const config = await must("POST", "/provider-configs", {
        ...{ provider_key: providerKey, name: clientId, client_id: clientId },
        secrets: { client_secret: secretOf(clientId) },
        ...more,
      });
      await must("POST", `/provider-configs/${config.id}:activate`, {});
      return { id: config.id as string, ...clientOf(clientId, config.redirect_uri) };
    },

    createSession: (request: Json) => must("POST", "/connect-sessions", { end_user: { id: "u1" }, ...request }),
    session: (id: string) => must("GET", `/connect-sessions/${id}`),
    connection: (id: string) => must("GET", `/connections/${id}`),
  };
}

/** The app of a provider config at the issuer. */
function clientOf(clientId: string, redirectUri: string) {
  return { clientId, clientSecret: secretOf(clientId), redirectUri };
}

function secretOf(clientId: string): string {
  return `secret of ${clientId}`;
}

/** An action, because a manifest needs one. */
export const anyAction = {
  "account.get": {
    title: "Get the account",
    description: "Returns the account.",
    mutation: { effect: "read", idempotency: "natural" },
    input: { type: "object", properties: {}, additionalProperties: false },
    request: { method: "GET", path: "/me" },
  },
};

/** A manifest whose OAuth endpoints are those of a live issuer. */
export function issuerManifest({ url }: Pick<OAuthIssuer, "url">, key: string, more: object = {}): object {
  return {
    ...{ manifest: 1, key, version: "1.0.0", name: `Acme ${key}`, category: "generic" },
    description: "A provider of the tests.",
    docs_url: "https://acme.example/docs",
    hosts: ["localhost"],
    base_url: url,
    auth: {
      oauth2: {
        authorize: { url: `${url}/auth`, issuer: url, params: { prompt: "login consent" } },
        token: { url: `${url}/token`, client_auth: "basic" },
        scopes: {
          default: ["openid", "offline_access"],
          available: { openid: "Know who you are", offline_access: "Access while you are away" },
        },
        refresh: { mode: "rotate" },
        revoke: { url: `${url}/token/revocation`, client_auth: "basic" },
        account: { method: "GET", path: "/me", id: "/sub", label: "/sub" },
      },
    },
    actions: anyAction,
    ...more,
  };
}

/** Submits the form of the hosted page and returns the address at the provider. */
export async function depart(browser: ScriptlessBrowser, page: ShownPage, values: Record<string, string> = {}) {
  return browser.refreshOf(await browser.submit(page, values, "/submit"));
}

/** Signs in at the issuer, and returns the address of the callback without opening it. */
export async function authorizeAt(
  browser: ScriptlessBrowser,
  address: string,
  { login = "ada", verdict = "allow", callback }: { login?: string; verdict?: "allow" | "deny"; callback: string },
): Promise<string> {
  const page = await browser.open(address);
  assert.match(page.text, /<h1>Issuer/, `the issuer answered ${page.status} ${page.text}`);
  return (await browser.submit(page, { login, verdict }, "", callback)).url;
}
