import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { compileManifest, type OAuth2Auth } from "../../manifests/index.ts";
import { authorizationUrl, declaredIssuer, requestedScopes } from "./authorization-request.ts";

function oauthOf(oauth2: object) {
  const { provider, violations } = compileManifest({
    ...{ manifest: 1, key: "acme", version: "1.0.0", name: "Acme", category: "generic", description: "A provider." },
    docs_url: "https://acme.example/docs",
    hosts: ["*.acme.example"],
    base_url: "https://{settings.shop}.acme.example",
    settings: { shop: { title: "Shop", pattern: "^[a-z.]+$", example: "one" } },
    auth: {
      oauth2: {
        authorize: {
          ...{
            url: "https://{settings.shop}.acme.example/auth?fixed=1",
            scope_separator: ",",
            scope_param: "user_scope",
          },
          params: {
            access_type: "offline",
            state: "forged",
            redirect_uri: "https://evil.example",
            client_id: "forged",
          },
          issuer: "https://{settings.shop}.acme.example",
        },
        token: { url: "https://login.acme.example/token" },
        scopes: { default: ["a"], available: { a: "A", b: "B" } },
        ...oauth2,
      },
    },
    actions: { "x.get": { title: "X", mutation: { effect: "read" }, request: { method: "GET", path: "/x" } } },
  });
  assert.deepEqual(violations, []);
  return { provider: provider!, auth: provider!.auth("oauth2") as OAuth2Auth };
}

const account = (shop: string) => ({
  ...({ mode: "oauth2", settings: { shop }, captured: {}, account: { id: "", label: "" }, credentials: {} } as const),
  config: { client_id: "app" },
});
const request = { redirectUri: "https://s.example/cb", state: "S", codeVerifier: "V", scopes: ["a", "b"] };

test("the address has the values of the session, which parameters of the manifest cannot replace", () => {
  const { provider, auth } = oauthOf({});
  const url = new URL(authorizationUrl(provider, auth, { ...request, account: account("one") }, 0)!);
  assert.equal(url.origin + url.pathname, "https://one.acme.example/auth");
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    fixed: "1",
    access_type: "offline",
    state: "S",
    redirect_uri: "https://s.example/cb",
    client_id: "app",
    user_scope: "a,b",
    response_type: "code",
    code_challenge: createHash("sha256").update("V").digest("base64url"),
    code_challenge_method: "S256",
  });
  assert.equal(declaredIssuer(auth, account("one"), 0), "https://one.acme.example");
});

test("without PKCE, which a manifest must justify, no challenge is sent", () => {
  const { provider, auth } = oauthOf({ pkce: { mode: "none", reason: "It would make the app a public client." } });
  const url = authorizationUrl(provider, auth, { ...request, codeVerifier: undefined, account: account("one") }, 0)!;
  assert.doesNotMatch(url, /code_challenge/);
});

test("a setting cannot lead to a host that the manifest does not declare", () => {
  const { provider, auth } = oauthOf({});
  for (const shop of ["one.evil", "evil.example/", "evil.example#"]) {
    assert.equal(authorizationUrl(provider, auth, { ...request, account: account(shop) }, 0), undefined, shop);
  }
});

test("scopes of a session replace the default ones, and those of a provider config are added to them", () => {
  const { auth } = oauthOf({});
  assert.deepEqual(requestedScopes(auth, [], []), ["a"]);
  assert.deepEqual(requestedScopes(auth, [], ["b", "a"]), ["a", "b"]);
  assert.deepEqual(requestedScopes(auth, ["b"], ["c"]), ["b"]);
});
