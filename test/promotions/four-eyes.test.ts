import assert from "node:assert/strict";
import { before, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { type SignInIssuer, startSignInIssuer } from "../identity/oidc-issuer.ts";
import { PlainBrowser } from "../identity/plain-browser.ts";
import { scimClient, userUrn } from "../identity/scim-client.ts";
import type { ResponseData } from "../routing/tenant-fixture.ts";
import {
  base,
  easyGuardrails,
  type GovernedNode,
  type Person,
  routingArtifact,
  runToStoppedCanary,
  stagedPool,
  startGovernedNode,
} from "./promotion-fixture.ts";

let node: GovernedNode;
let idp: SignInIssuer;
let signInUrl: string;
before(async () => {
  node = await startGovernedNode(undefined, { "identity.scim.enabled": "true" });
  idp = await startSignInIssuer();
  const { data } = await node.tenant.ok("POST", "/api/v2/identity/connections", {
    name: "Issuer",
    email_domains: ["acme.example"],
    oidc: { issuer: idp.url, client_id: idp.clientId, client_secret: idp.clientSecret },
  });
  idp.register(data.callback_url);
  signInUrl = data.sign_in_url;
});

/** Creates a candidate and leads it to a canary that passed. */
async function createCandidate(create: Person): Promise<string> {
  const pool = await stagedPool(node.tenant);
  const request = { artifacts: [routingArtifact(pool)], guardrails: easyGuardrails };
  const { body, text } = await create("POST", base, request);
  assert.ok(body.data, text);
  await runToStoppedCanary(node.tenant, body.data.id, [pool]);
  return body.data.id;
}

/** A person of the directory, who is a member and signs in with the provider. */
async function signIn(login: string, email: string): Promise<(method: string, path: string) => Promise<ResponseData>> {
  const { service, tenant } = node;
  const directory = await scimClient(service, tenant.key);
  const added = await directory.call("POST", "/Users", { schemas: [userUrn], userName: email, active: true });
  assert.equal(added.status, 201);
  const { data } = await tenant.ok("GET", "/api/v2/members");
  const { id } = data.find((each: ResponseData) => each.email === email);
  await tenant.ok("PATCH", `/api/v2/members/${id}`, { role_set: { roles: ["promotion_approver"] } });
  idp.accounts[login] = { email, email_verified: true };
  const browser = new PlainBrowser();
  let response = await browser.send("GET", signInUrl);
  let at = signInUrl;
  while (response.headers.location !== "/console") {
    at = new URL(response.headers.location!, at).href;
    response = await browser.send("GET", at, { headers: { "sec-fetch-site": "cross-site" } });
    if (response.body.includes("<h1>Issuer</h1>")) response = await browser.send("POST", at, { form: { login } });
  }
  return async (method, path) => {
    const headers = { "x-switchyard-session": "1" };
    const json = method === "GET" ? undefined : {};
    return (await browser.send(method, `${service.baseUrl}${path}`, { headers, json })).json();
  };
}

test("a chain of 12 keys leads to its first creator, who cannot approve what the last one created", async () => {
  const ada = await node.person("ada", ["admin"]);
  let create = ada;
  for (let length = 0; length < 12; length++) {
    const { body, text } = await create("POST", "/api/v2/api-keys", { name: `key ${length}`, roles: ["admin"] });
    assert.ok(body.data, text);
    const { call } = restClient(node.service.baseUrl, body.data.secret);
    create = (method, path, request) => call(method, path, request);
  }
  const id = await createCandidate(create);
  const refused = await ada("POST", `${base}/${id}/approve`, {});
  assert.deepEqual([refused.status, refused.body.reason], [403, "approver_is_creator"]);
});

for (const [how, subject, login, claims] of [
  ["with the same subject", "ada", "ada", {}],
  ["with the same address", "bob", "robert", { email: "robert@acme.example" }],
] as const) {
  test(`who created a candidate before the membership cannot approve it by single sign-on ${how}`, async () => {
    const own = await createCandidate(await node.person(subject, ["admin"], claims));
    const others = await createCandidate((method, path, body) => node.tenant.rest.call(method, path, body));
    const session = await signIn(login, `${login}@acme.example`);
    assert.equal((await session("POST", `${base}/${own}/approve`)).reason, "approver_is_creator");
    assert.equal((await session("POST", `${base}/${others}/approve`)).data?.state, "approved");
  });
}

test("a person with only the role promotion_approver can read their own session, which the console needs to start", async () => {
  const session = await signIn("carol", "carol@acme.example");
  const { data } = await session("GET", "/api/v2/identity/session");
  assert.deepEqual(data.roles, ["promotion_approver"]);
  assert.ok(data.scopes.includes("promotion:approve"));
});
