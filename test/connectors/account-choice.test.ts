import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { startReceiver } from "../../src/platform/egress/testing/receivers.ts";
import type { Json } from "../harness/operations.ts";
import { startService, type TestService } from "../harness/service.ts";
import {
  anyAction,
  authorizeAt,
  type ConnectTenant,
  connectTenant,
  depart,
  issuerManifest,
} from "./connect-fixture.ts";
import { type OAuthIssuer, startOAuthIssuer } from "./oauth-issuer.ts";
import { ScriptlessBrowser } from "./scriptless-browser.ts";

let service: TestService;
let issuer: OAuthIssuer;
let tenant: ConnectTenant;
let redirectUri: string;
/** The sites that the signed-in person may use. */
let sites: readonly { readonly id: string; readonly name: string }[];
/** The paths of the actions that the provider received. */
const received: string[] = [];

const one = { id: "cloud-1", name: "Acme One" };
const two = { id: "cloud-2", name: "Acme Two" };
const three = { id: "cloud-3", name: "Acme Three" };

before(async () => {
  service = await startService();
  issuer = await startOAuthIssuer();
  tenant = connectTenant(service);
  const { port } = await startReceiver((request, response) => {
    const isList = request.url === "/sites";
    if (!isList) received.push(request.url!);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(isList ? sites : { ok: true }));
  });
  const url = `http://127.0.0.1:${port}`;
  const manifest = issuerManifest(issuer, "sites") as { auth: { oauth2: object } };
  const account = { method: "GET", url: `${url}/sites`, items: "", id: "/id", label: "/name" };
  await tenant.createProvider({
    ...manifest,
    hosts: ["localhost", "127.0.0.1"],
    base_url: `${url}/ex/{captured.cloud_id}`,
    auth: { oauth2: { ...manifest.auth.oauth2, account: { ...account, captured: { cloud_id: "/id" } } } },
    actions: anyAction,
  });
  const config = await tenant.createConfig("sites", "app-1");
  issuer.register(config);
  redirectUri = config.redirectUri;
});

beforeEach(() => {
  received.length = 0;
});

/** Signs in at the provider as somebody who may use these sites; returns the session. */
async function signIn(reached: typeof sites, request: Json = { allowed_provider_keys: ["sites"] }) {
  sites = reached;
  const session = await tenant.createSession(request);
  const browser = new ScriptlessBrowser();
  const address = await depart(browser, await browser.openLink(session.connect_url));
  const callback = await authorizeAt(browser, address, { callback: redirectUri });
  const uri = request.success_redirect_uri as string | undefined;
  const landing = await browser.open(callback, {}, uri);
  if (uri !== undefined) {
    const code = new URL(landing.url).searchParams.get("completion_code");
    await tenant.must("POST", `/connect-sessions/${session.id}/complete`, { completion_code: code, end_user_id: "u1" });
  }
  return tenant.session(session.id);
}

const connected = async (reached: typeof sites, request?: Json): Promise<string> =>
  (await signIn(reached, request)).result_connection_id;
const choose = (id: string, accountId: string) => tenant.call("PATCH", `/connections/${id}`, { account_id: accountId });
const execute = (id: string) =>
  tenant.call("POST", "/actions/sites.account.get:execute", { connection_id: id, input: {} });
const choices = [one, two].map(({ id, name }) => ({ id, label: name }));

for (const [how, request] of [
  ["at once", undefined],
  [
    "after a confirmation",
    {
      ...{ allowed_provider_keys: ["sites"], require_completion: true },
      success_redirect_uri: "https://app.example/connected",
    },
  ],
] as const) {
  test(`a grant of several sites, connected ${how}, sends nothing until one is chosen, and then only to that one`, async () => {
    const id = await connected([one, two], request as Json | undefined);
    const waiting = await tenant.connection(id);
    assert.deepEqual([waiting.status, waiting.account, waiting.account_choices], ["needs_account", undefined, choices]);
    const refused = await execute(id);
    assert.equal(refused.status, 412, refused.text);
    const { errorCode, retryable, detail } = refused.body;
    assert.deepEqual([errorCode, retryable, received], ["CONNECTION_UNUSABLE", false, []]);
    assert.match(detail, /Choose one of its account_choices with UpdateConnection/);
    const test = await tenant.must("POST", `/connections/${id}/test`, {});
    assert.deepEqual([test.ok, test.code, test.status], [false, "needs_account", "needs_account"]);
    const listed = await tenant.call("GET", "/connections?status=needs_account");
    assert.ok(listed.text.includes(id));

    const chosen = await choose(id, two.id);
    assert.equal(chosen.status, 200, chosen.text);
    const { status, account, account_choices } = chosen.body.data;
    assert.deepEqual([status, account, account_choices ?? []], ["active", choices[1], []]);
    assert.equal((await execute(id)).status, 200);
    assert.deepEqual(received, ["/ex/cloud-2/me"]);
    assert.deepEqual((await tenant.must("POST", `/connections/${id}/test`, {})).account, choices[1]);
  });
}

test("a grant of one site is used without a choice, also if the provider lists the site twice", async () => {
  for (const reached of [[one], [one, one]]) {
    received.length = 0;
    const id = await connected(reached);
    const { status, account } = await tenant.connection(id);
    assert.deepEqual([status, account], ["active", choices[0]]);
    assert.equal((await execute(id)).status, 200);
    assert.deepEqual(received, ["/ex/cloud-1/me"]);
  }
});

test("a site that the grant does not reach cannot be chosen, and a chosen one cannot be changed", async () => {
  const id = await connected([one, two]);
  const unknown = await choose(id, three.id);
  assert.equal(unknown.status, 400, unknown.text);
  assert.match(unknown.text, /account_id: must be the id of one of account_choices, for example cloud-1 \(Acme One\)/);
  const both = await tenant.call("PATCH", `/connections/${id}`, { account_id: one.id, settings: {} });
  assert.match(both.text, /account_id: cannot be set together with credentials or settings/);
  assert.equal((await tenant.connection(id)).status, "needs_account");
  assert.equal((await choose(id, one.id)).status, 200);
  assert.equal((await choose(id, one.id)).status, 200, "the same choice again changes nothing");
  const other = await choose(id, two.id);
  assert.equal(other.status, 412, other.text);
  assert.match(other.text, /belongs to account cloud-1/);
});

test("reconnecting keeps the chosen site, and a grant without it is refused", async () => {
  const id = await connected([one, two]);
  await choose(id, two.id);
  const again = await signIn([three, two, one], { connection_id: id });
  assert.equal(again.status, "completed");
  const { status, account } = await tenant.connection(id);
  assert.deepEqual([status, account], ["active", choices[1]]);
  await tenant.must("POST", `/connections/${id}/refresh`, {});
  assert.equal((await execute(id)).status, 200);

  for (const reached of [[one, three], [one]]) {
    const refused = await signIn(reached, { connection_id: id });
    assert.deepEqual([refused.status, refused.error_code], ["failed", "account_mismatch"]);
    const lost = await tenant.must("POST", `/connections/${id}/test`, {});
    assert.deepEqual([lost.ok, lost.code], [false, "account_missing"]);
  }
  assert.equal((await execute(id)).status, 200);
  assert.deepEqual(received, ["/ex/cloud-2/me", "/ex/cloud-2/me"]);
});

test("reconnecting before a choice replaces the sites to choose from", async () => {
  const id = await connected([one, two]);
  await signIn([two, three], { connection_id: id });
  const { account_choices } = await tenant.connection(id);
  assert.deepEqual(
    account_choices.map((each: { id: string }) => each.id),
    [two.id, three.id],
  );
  await signIn([three], { connection_id: id });
  const { status, account } = await tenant.connection(id);
  assert.deepEqual([status, account.id], ["active", three.id]);
});
