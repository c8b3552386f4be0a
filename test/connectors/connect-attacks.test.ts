import assert from "node:assert/strict";
import { before, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import type { Json } from "../harness/operations.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { authorizeAt, type ConnectTenant, connectTenant, depart, issuerManifest } from "./connect-fixture.ts";
import { type OAuthIssuer, startOAuthIssuer } from "./oauth-issuer.ts";
import { ScriptlessBrowser } from "./scriptless-browser.ts";

let service: TestService;
let issuer: OAuthIssuer;
let tenant: ConnectTenant;
let sql: TestSql;
let config: { readonly id: string; readonly redirectUri: string };
let otherConfig: { readonly id: string; readonly redirectUri: string };

before(async () => {
  service = await startService();
  sql = connect(service.databaseUrl, 2);
  afterFile(() => sql.end({ timeout: 1 }));
  issuer = await startOAuthIssuer();
  tenant = connectTenant(service);
  await tenant.createProvider(issuerManifest(issuer, "acme"));
  await tenant.createProvider(issuerManifest(issuer, "other"));
  const [own, other] = [await tenant.createConfig("acme", "app-1"), await tenant.createConfig("other", "app-2")];
  issuer.register(own, other);
  [config, otherConfig] = [own, other];
});

/** Opens a session and goes as far as the issuer's page. */
async function started(request: Json = {}) {
  const session = await tenant.createSession({ allowed_provider_keys: ["acme"], ...request });
  const browser = new ScriptlessBrowser();
  const page = await browser.openLink(session.connect_url);
  return { session, browser, address: await depart(browser, page) };
}

/** Goes as far as the callback, which is not opened yet. */
async function authorized(request: Json = {}) {
  const { session, browser, address } = await started(request);
  const callback = await authorizeAt(browser, address, { callback: config.redirectUri });
  return { session, browser, callback, address };
}

const statusOf = async (id: string) => {
  const { status, error_code: code, result_connection_id: connection } = await tenant.session(id);
  return { status, code, isConnected: connection !== "" };
};

test("an end user who grants access is connected, with PKCE and an unguessable state of their own", async () => {
  const { session, browser, callback, address } = await authorized();
  const sent = new URL(address).searchParams;
  assert.equal(sent.get("code_challenge_method"), "S256");
  assert.match(sent.get("code_challenge")!, /^[A-Za-z0-9_-]{43}$/);
  assert.match(sent.get("state")!, /^[0-9A-Z]{26}[A-Za-z0-9_-]{43}$/);
  assert.equal(sent.get("redirect_uri"), config.redirectUri);
  assert.equal((await statusOf(session.id)).status, "authorizing");
  const [row] =
    await sql`select row_to_json(s)::text as text from connector_connect_sessions s where id = ${session.id}`;
  assert.ok(!row!.text.includes(sent.get("state")!), "only the hash of the state is stored");
  const done = await browser.open(callback);
  assert.equal(done.url, `${service.baseUrl}/connect/${session.id}`, "the code does not stay in the address");
  assert.match(done.text, /Account connected/);
  assert.deepEqual(await statusOf(session.id), { status: "completed", code: "", isConnected: true });
  const { result_connection_id: id } = await tenant.session(session.id);
  assert.equal((await tenant.connection(id)).account.id, "ada");
  const [kept] = await sql`select ciphertext, state_hash from connector_connect_sessions where id = ${session.id}`;
  assert.deepEqual({ ...kept }, { ciphertext: "", state_hash: null });
});

test("state replay: a callback works once", async () => {
  const { session, browser, callback } = await authorized();
  await browser.open(callback);
  const { result_connection_id: first } = await tenant.session(session.id);
  const requests = issuer.tokenRequests.length;
  const again = await browser.open(callback);
  assert.equal(again.status, 400);
  assert.match(again.text, /cannot be continued/);
  assert.equal(issuer.tokenRequests.length, requests, "the code is not sent again");
  assert.equal((await tenant.session(session.id)).result_connection_id, first);
});

test("state replay: of two callbacks at once, one is served", async () => {
  const { session, browser, callback } = await authorized();
  const requests = issuer.tokenRequests.length;
  const pages = await Promise.all([browser.open(callback), browser.open(callback), browser.open(callback)]);
  assert.equal(pages.filter(({ status }) => status === 400).length, 2);
  assert.equal(issuer.tokenRequests.length, requests + 1);
  assert.equal((await statusOf(session.id)).status, "completed");
});

test("state of another browser: a callback without the cookie of its session is refused and changes nothing", async () => {
  const { session, browser, callback } = await authorized();
  const victim = await new ScriptlessBrowser().open(callback);
  assert.equal(victim.status, 403);
  assert.match(victim.text, /started in another browser/);
  assert.equal((await statusOf(session.id)).status, "authorizing");
  await browser.open(callback);
  assert.equal((await statusOf(session.id)).status, "completed", "its own browser can still use it");
});

test("state of another session: the cookie of one session does not serve the callback of another", async () => {
  const attacker = await authorized();
  const victim = await started({ end_user: { id: "victim" } });
  const page = await victim.browser.open(attacker.callback);
  assert.equal(page.status, 403);
  assert.equal((await statusOf(attacker.session.id)).status, "authorizing");
  assert.deepEqual(await statusOf(victim.session.id), { status: "authorizing", code: "", isConnected: false });
});

test("state swap: the attacker's code with the victim's state is not exchanged, because PKCE binds the code", async () => {
  const attacker = await authorized();
  const victim = await authorized({ end_user: { id: "victim" } });
  const forged = new URL(victim.callback);
  forged.searchParams.set("code", new URL(attacker.callback).searchParams.get("code")!);
  await victim.browser.open(forged.href);
  const result = await statusOf(victim.session.id);
  assert.deepEqual(result, { status: "failed", code: "provider_refused", isConnected: false });
});

test("an unknown or missing state is refused, and so is a repeated one", async () => {
  const { browser, callback } = await authorized();
  for (const change of [
    (query: URLSearchParams) => query.delete("state"),
    (query: URLSearchParams) => query.set("state", "x".repeat(43)),
    (query: URLSearchParams) => query.append("state", query.get("state")!),
  ]) {
    const url = new URL(callback);
    change(url.searchParams);
    assert.equal((await browser.open(url.href)).status, 400);
  }
});

test("wrong iss: an answer of another issuer, or without one, ends the session", async () => {
  for (const change of [
    (query: URLSearchParams) => query.set("iss", "https://evil.example"),
    (query: URLSearchParams) => query.set("iss", `${issuer.url}/`),
    (query: URLSearchParams) => query.delete("iss"),
    (query: URLSearchParams) => query.append("iss", "https://evil.example"),
  ]) {
    const { session, browser, callback } = await authorized();
    const requests = issuer.tokenRequests.length;
    const url = new URL(callback);
    change(url.searchParams);
    await browser.open(url.href);
    const result = await statusOf(session.id);
    assert.deepEqual(result, { status: "failed", code: "issuer_mismatch", isConnected: false });
    assert.equal(issuer.tokenRequests.length, requests, "no code is sent anywhere");
  }
});

test("mix-up: a state of one provider config at the redirect URI of another ends the session", async () => {
  const { session, browser, callback } = await authorized();
  const requests = issuer.tokenRequests.length;
  await browser.open(callback.replace(config.redirectUri, otherConfig.redirectUri));
  const result = await statusOf(session.id);
  assert.deepEqual(result, { status: "failed", code: "redirect_mismatch", isConnected: false });
  assert.equal(issuer.tokenRequests.length, requests, "the code reaches no other provider's token endpoint");
});

test("mix-up: a manifest that changes during the authorization does not move the token endpoint", async () => {
  await tenant.createProvider(issuerManifest(issuer, "moving"));
  const moving = await tenant.createConfig("moving", "app-3");
  issuer.register(moving);
  const session = await tenant.createSession({ allowed_provider_keys: ["moving"] });
  const browser = new ScriptlessBrowser();
  const address = await depart(browser, await browser.openLink(session.connect_url));
  const callback = await authorizeAt(browser, address, { callback: moving.redirectUri });
  // Nothing listens at the new token endpoint.
  const changed = issuerManifest({ url: "http://localhost:9" }, "moving", { version: "1.1.0" });
  await tenant.createProvider(changed);
  await browser.open(callback);
  const { status, error_detail: detail } = await tenant.session(session.id);
  assert.equal(status, "completed", detail);
  issuer.register({ ...clientOf("app-1", config) }, { ...clientOf("app-2", otherConfig) });
});

function clientOf(clientId: string, { redirectUri }: { redirectUri: string }) {
  return { clientId, clientSecret: `secret of ${clientId}`, redirectUri };
}

test("session fixation: a session that an attacker opened cannot be continued in the victim's browser", async () => {
  const attacker = await started({ end_user: { id: "attacker" } });
  const victim = new ScriptlessBrowser();
  // The attacker sends the victim to the provider with the attacker's state.
  const callback = await authorizeAt(victim, attacker.address, { login: "victim", callback: config.redirectUri });
  assert.equal((await victim.open(callback)).status, 403);
  assert.deepEqual(await statusOf(attacker.session.id), { status: "authorizing", code: "", isConnected: false });
  // The victim cannot open the link either, because it works once.
  const link = await victim.open(attacker.session.connect_url);
  assert.deepEqual([link.status, victim.cookies.has(`127.0.0.1 connect-${attacker.session.id}`)], [403, false]);
  assert.match(link.text, /already opened/);
});

test("session fixation: with require_completion the victim's account is connected only after the backend confirms them", async () => {
  const uri = "https://app.example/connected";
  const request = { end_user: { id: "attacker" }, require_completion: true, success_redirect_uri: uri };
  // The attacker sends their own link to the victim, who follows it to the end.
  const { session, browser, callback } = await authorized(request);
  const requests = issuer.tokenRequests.length;
  const landing = await browser.open(callback, {}, uri);
  assert.equal(issuer.tokenRequests.length, requests, "no code is exchanged before the confirmation");
  const code = new URL(landing.url).searchParams.get("completion_code")!;
  assert.match(code, /^[A-Za-z0-9_-]{43}$/);
  assert.equal((await tenant.session(session.id)).awaiting_completion, true);
  const complete = (body: object) => tenant.call("POST", `/connect-sessions/${session.id}/complete`, body);
  // The attacker does not have the code, because it went to the victim's browser.
  const guessed = await complete({ completion_code: "x".repeat(43), end_user_id: "attacker" });
  assert.match(guessed.text, /CONNECT_SESSION_INVALID/);
  // The victim returns to the application and is signed in as somebody else.
  const refused = await complete({ completion_code: code, end_user_id: "victim" });
  assert.match(refused.text, /is not the end user of the connect session/);
  const result = await statusOf(session.id);
  assert.deepEqual(result, { status: "failed", code: "end_user_mismatch", isConnected: false });
  assert.match((await complete({ completion_code: code, end_user_id: "attacker" })).text, /CONNECT_SESSION_INVALID/);
  assert.equal(issuer.tokenRequests.length, requests);
});

test("a confirmed end user is connected once, and a repeated confirmation returns the same session", async () => {
  const uri = "https://app.example/connected";
  const { session, browser, callback } = await authorized({ require_completion: true, success_redirect_uri: uri });
  const landing = await browser.open(callback, {}, uri);
  const body = { completion_code: new URL(landing.url).searchParams.get("completion_code")!, end_user_id: "u1" };
  const waiting = await browser.open(`${service.baseUrl}/connect/${session.id}`);
  assert.match(waiting.text, /Almost done/);
  assert.ok(!waiting.text.includes(body.completion_code));
  const [row] =
    await sql`select row_to_json(s)::text as text from connector_connect_sessions s where id = ${session.id}`;
  const code = new URL(callback).searchParams.get("code")!;
  assert.ok(
    !row!.text.includes(code) && !row!.text.includes(body.completion_code),
    "nothing usable is stored in the clear",
  );
  const requests = issuer.tokenRequests.length;
  const path = `/connect-sessions/${session.id}/complete`;
  const first = await tenant.must("POST", path, body);
  assert.equal(first.status, "completed");
  assert.equal((await tenant.must("POST", path, body)).result_connection_id, first.result_connection_id);
  assert.equal(issuer.tokenRequests.length, requests + 1);
});

test("a session whose completion was cut off with its node can be completed a minute later", async () => {
  const uri = "https://app.example/connected";
  const { session, browser, callback } = await authorized({ require_completion: true, success_redirect_uri: uri });
  const landing = await browser.open(callback, {}, uri);
  const body = { completion_code: new URL(landing.url).searchParams.get("completion_code")!, end_user_id: "u1" };
  const complete = () => tenant.call("POST", `/connect-sessions/${session.id}/complete`, body);
  // What a node leaves that ends after it has taken the callback.
  const leave = (agoS: number) => sql`
    update connector_connect_sessions set awaiting_completion = false, updated_at = now() - make_interval(secs => ${agoS})
    where id = ${session.id}`;
  await leave(30);
  assert.match((await complete()).text, /Another request is completing the connect session/);
  await leave(61);
  const { status, text } = await complete();
  assert.equal(status, 200, text);
  assert.equal((await statusOf(session.id)).status, "completed");
});

test("an expired session is not continued, not even by its callback", async () => {
  const { session, browser, callback } = await authorized({ error_redirect_uri: "https://app.example/bad" });
  await sql`update connector_connect_sessions set expires_at = now() where id = ${session.id}`;
  const requests = issuer.tokenRequests.length;
  const page = await browser.open(callback, {}, "https://app.example");
  assert.equal(page.url, `https://app.example/bad?session_id=${session.id}&status=expired&error=expired`);
  assert.equal(issuer.tokenRequests.length, requests);
  const unopened = await tenant.createSession({ allowed_provider_keys: ["acme"] });
  await sql`update connector_connect_sessions set expires_at = now() where id = ${unopened.id}`;
  const opened = await new ScriptlessBrowser().openLink(unopened.connect_url);
  assert.equal(opened.status, 410);
});

test("a state that is older than ten minutes is refused, and the end user can start again", async () => {
  const { session, browser, callback } = await authorized();
  const [row] = await sql`
    select extract(epoch from state_expires_at - updated_at)::int as seconds from connector_connect_sessions
    where id = ${session.id}`;
  assert.equal(row!.seconds, 600);
  await sql`update connector_connect_sessions set state_expires_at = now() where id = ${session.id}`;
  const page = await browser.open(callback);
  assert.match(page.text, /took too long/);
  assert.equal((await statusOf(session.id)).status, "pending");
  const address = browser.refreshOf(await browser.submit(page, {}, "/submit"));
  await browser.open(await authorizeAt(browser, address, { callback: config.redirectUri }));
  assert.equal((await statusOf(session.id)).status, "completed");
});

test("a session that is revoked while the end user is at the provider connects nothing", async () => {
  const { session, browser, callback } = await authorized();
  await tenant.must("POST", `/connect-sessions/${session.id}/revoke`, {});
  const requests = issuer.tokenRequests.length;
  assert.equal((await browser.open(callback)).status, 400);
  assert.equal(issuer.tokenRequests.length, requests);
  assert.deepEqual(await statusOf(session.id), { status: "revoked", code: "", isConnected: false });
});

test("a session that is revoked while its code is exchanged connects nothing", async () => {
  const endUser = { id: "revoked-in-time" };
  const { session, browser, callback } = await authorized({ end_user: endUser });
  issuer.beforeToken = () => tenant.must("POST", `/connect-sessions/${session.id}/revoke`, {});
  const page = await browser.open(callback);
  issuer.beforeToken = undefined;
  assert.match(page.text, /The link was withdrawn/);
  assert.deepEqual(await statusOf(session.id), { status: "revoked", code: "", isConnected: false });
  assert.deepEqual(await tenant.must("GET", `/connections?end_user_id=${endUser.id}`), []);
});

test("an authorization that was started again replaces the earlier one", async () => {
  const { session, browser, address } = await started();
  const page = await browser.open(`${service.baseUrl}/connect/${session.id}`);
  const again = await depart(browser, page);
  const late = await authorizeAt(browser, address, { callback: config.redirectUri });
  assert.equal((await browser.open(late)).status, 400);
  await browser.open(await authorizeAt(browser, again, { callback: config.redirectUri }));
  assert.equal((await statusOf(session.id)).status, "completed");
});

test("code replay: a code that was exchanged elsewhere connects nothing", async () => {
  const first = await authorized();
  await first.browser.open(first.callback);
  const second = await authorized({ end_user: { id: "u2" } });
  const forged = new URL(second.callback);
  forged.searchParams.set("code", new URL(first.callback).searchParams.get("code")!);
  await second.browser.open(forged.href);
  const result = await statusOf(second.session.id);
  assert.deepEqual(result, { status: "failed", code: "provider_refused", isConnected: false });
  assert.equal((await tenant.session(second.session.id)).error_detail, "invalid_grant");
});

test("tampered redirect URI: the provider refuses it, and the exchange names the one that was fixed at the start", async () => {
  const { session, browser, address } = await started();
  const tampered = new URL(address);
  tampered.searchParams.set("redirect_uri", "https://evil.example/callback");
  const page = await browser.open(tampered.href);
  assert.equal(page.status, 400);
  assert.match(page.text, /redirect_uri/);
  const callback = await authorizeAt(browser, address, { callback: config.redirectUri });
  await browser.open(
    `${callback}&redirect_uri=https%3A%2F%2Fevil.example&success_redirect_uri=https%3A%2F%2Fevil.example`,
  );
  assert.equal(issuer.tokenRequests.at(-1)!.get("redirect_uri"), config.redirectUri);
  assert.equal((await statusOf(session.id)).status, "completed");
  assert.ok(browser.requested.every((url) => !url.startsWith("https://evil.example")));
});

test("an end user who denies access ends the session with access_denied", async () => {
  const { session, browser, address } = await started({ error_redirect_uri: "https://app.example/bad" });
  const callback = await authorizeAt(browser, address, { verdict: "deny", callback: config.redirectUri });
  const page = await browser.open(callback, {}, "https://app.example");
  assert.equal(page.url, `https://app.example/bad?session_id=${session.id}&status=failed&error=access_denied`);
  assert.deepEqual(await statusOf(session.id), { status: "failed", code: "access_denied", isConnected: false });
});

test("an answer that no token endpoint gives ends the session, which says what came", async () => {
  for (const [status, detail] of [
    [302, "http_302"],
    [400, "http_400"],
    [200, "empty_answer"],
  ] as const) {
    const { session, browser, callback } = await authorized();
    issuer.tokenStatus = status;
    const page = await browser.open(callback);
    issuer.tokenStatus = undefined;
    assert.match(page.text, /answer could not be used/);
    const { error_code, error_detail } = await tenant.session(session.id);
    assert.deepEqual([error_code, error_detail], ["provider_malformed", detail]);
  }
});

test("a provider that cannot exchange the code lets the end user start again", async () => {
  const { session, browser, callback } = await authorized();
  issuer.tokenStatus = 503;
  const page = await browser.open(callback);
  issuer.tokenStatus = undefined;
  assert.match(page.text, /could not be reached \(http_503\)/);
  assert.equal((await statusOf(session.id)).status, "pending");
});
