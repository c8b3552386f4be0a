import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { type SignInIssuer, startSignInIssuer } from "./oidc-issuer.ts";
import { type BrowserResponse, PlainBrowser } from "./plain-browser.ts";

describe("sign-in with OpenID Connect", () => {
  let service: TestService;
  let issuer: SignInIssuer;
  let rest: ReturnType<typeof restClient>;
  let connection: { id: string; sign_in_url: string; callback_url: string };

  before(async () => {
    service = await startService();
    issuer = await startSignInIssuer();
    rest = restClient(service.baseUrl, service.adminKey);
    const created = await rest.call("POST", "/api/v2/identity/connections", {
      name: "Issuer",
      email_domains: ["acme.example"],
      oidc: { issuer: issuer.url, client_id: issuer.clientId, client_secret: issuer.clientSecret },
    });
    assert.equal(created.status, 200, created.text);
    connection = created.body.data;
    issuer.register(connection.callback_url);
  });

  const update = (change: object) => rest.call("PATCH", `/api/v2/identity/connections/${connection.id}`, change);

  /** Follows redirects, and signs in where the provider asks, until the service answers with something else. */
  async function follow(browser: PlainBrowser, response: BrowserResponse, login: string): Promise<BrowserResponse> {
    let current = response;
    let at = service.baseUrl;
    while (current.status === 303 || current.status === 302) {
      at = new URL(current.headers.location!, at).href;
      if (at.startsWith(service.baseUrl) && !at.includes("/auth/callback/")) return current;
      current = await browser.send("GET", at, { headers: { "sec-fetch-site": "cross-site" } });
      if (current.body.includes("<h1>Issuer</h1>")) {
        current = await browser.send("POST", at, { form: { login } });
      }
    }
    return current;
  }

  /** Signs in up to the callback, whose address it returns. */
  async function untilCallback(browser: PlainBrowser, login: string): Promise<string> {
    let current = await browser.send("GET", connection.sign_in_url);
    let at = service.baseUrl;
    for (;;) {
      at = new URL(current.headers.location!, at).href;
      if (at.includes("/auth/callback/")) return at;
      current = await browser.send("GET", at);
      if (current.body.includes("<h1>Issuer</h1>")) current = await browser.send("POST", at, { form: { login } });
    }
  }

  async function signIn(login: string, browser = new PlainBrowser()): Promise<BrowserResponse> {
    return follow(browser, await browser.send("GET", connection.sign_in_url), login);
  }

  const me = async (browser: PlainBrowser) =>
    (await browser.send("GET", `${service.baseUrl}/api/v2/identity/session`)).json().data;

  test("an invited member signs in, with the roles of the member and of the groups", async () => {
    issuer.accounts.ada = {
      email: "ada@acme.example",
      email_verified: true,
      name: "Ada",
      groups: ["Operators", "Others"],
    };
    const invited = await rest.call("POST", "/api/v2/members", { email: "ada@acme.example", roles: ["viewer"] });
    const browser = new PlainBrowser();
    const done = await signIn("ada", browser);
    assert.equal(done.headers.location, "/console", done.body);
    const caller = await me(browser);
    assert.deepEqual(
      [caller.kind, caller.subject, caller.roles],
      ["user", `member:${invited.body.data.id}`, ["viewer"]],
    );
    assert.equal(caller.session.method, "oidc");
    const group = await rest.call("PUT", "/api/v2/identity/group-roles", { group: "operators", roles: ["operator"] });
    assert.deepEqual((await me(browser)).roles, ["viewer", "operator"]);
    const access = async () => (await rest.call("GET", `/api/v2/members/${invited.body.data.id}`)).body.data.access;
    const operator = { role: "operator", sources: ["session"] };
    const viewer = { role: "viewer", sources: ["direct"] };
    assert.deepEqual(await access(), [viewer, operator], "the member shows the roles of the sign-in");
    issuer.accounts.ada.groups = ["Others"];
    await signIn("ada");
    assert.deepEqual(await access(), [viewer], "the last sign-in counts");
    issuer.accounts.ada.groups = ["Operators"];
    await signIn("ada");
    assert.deepEqual(await access(), [viewer, operator]);
    await rest.call("DELETE", `/api/v2/identity/group-roles/${group.body.data.id}`);
    assert.deepEqual(await access(), [viewer]);
    assert.deepEqual((await me(browser)).roles, ["viewer"]);
    const member = await rest.call("GET", `/api/v2/members/${invited.body.data.id}`);
    assert.equal(member.body.data.status, "STATUS_ACTIVE");
    const updates = await rest.call("GET", `/api/events?types=member.updated&subject=${invited.body.data.id}`);
    assert.deepEqual(
      updates.body.data.map(({ data }: { data: object }) => data),
      [{ fields: ["status"] }],
    );
  });

  test("a suspended member loses the session at once, and cannot sign in", async () => {
    issuer.accounts.sue = { email: "sue@acme.example", email_verified: true };
    const { body } = await rest.call("POST", "/api/v2/members", { email: "sue@acme.example", roles: ["viewer"] });
    const browser = new PlainBrowser();
    await signIn("sue", browser);
    assert.equal((await me(browser)).kind, "user");
    await rest.call("PATCH", `/api/v2/members/${body.data.id}`, { status: "STATUS_SUSPENDED" });
    assert.equal((await browser.send("GET", `${service.baseUrl}/api/v2/identity/session`)).status, 401);
    assert.match((await signIn("sue")).body, /Your access was ended/);
  });

  test("strangers are refused; just in time they become members with the default roles", async () => {
    issuer.accounts.tim = { email: "tim@acme.example", email_verified: true, name: "Tim" };
    assert.match((await signIn("tim")).body, /You are not a member/);
    await update({ just_in_time: true, default_role_set: { roles: ["viewer"] } });
    const browser = new PlainBrowser();
    assert.equal((await signIn("tim", browser)).status, 303);
    assert.deepEqual((await me(browser)).roles, ["viewer"]);
    // The address may change; the account stays the same member.
    issuer.accounts.tim.email = "timothy@acme.example";
    const again = new PlainBrowser();
    await signIn("tim", again);
    assert.equal((await me(again)).subject, (await me(browser)).subject);
    // Somebody else with the address of a member does not become that member.
    issuer.accounts.mallory = { email: "tim@acme.example", email_verified: true };
    assert.match((await signIn("mallory")).body, /You are not a member/);
    issuer.accounts.eve = { email: "eve@acme.example", email_verified: false };
    assert.match((await signIn("eve")).body, /has not verified your email address/);
    issuer.accounts.oscar = { email: "oscar@other.example", email_verified: true };
    assert.match((await signIn("oscar")).body, /not of a domain/);
    await update({ just_in_time: false });
  });

  test("login CSRF: the callback of another browser signs nobody in, and does not end the sign-in", async () => {
    const attacker = new PlainBrowser();
    const callback = await untilCallback(attacker, "ada");
    const victim = new PlainBrowser();
    for (const started of [false, true]) {
      if (started) await victim.send("GET", connection.sign_in_url);
      const response = await victim.send("GET", callback, { headers: { "sec-fetch-site": "cross-site" } });
      assert.deepEqual([response.status, response.headers["set-cookie"]], [403, undefined]);
      assert.match(response.body, /another browser/);
    }
    assert.equal((await attacker.send("GET", callback)).status, 303, "the browser that started it finishes");
    assert.equal((await attacker.send("GET", callback)).status, 400, "and only once");
  });

  test("mixed-up and altered answers are refused", async () => {
    for (const alter of [
      (url: URL) => url.searchParams.set("iss", "https://evil.example"),
      (url: URL) => url.searchParams.set("code", "stolen"),
      (url: URL) => url.searchParams.delete("code"),
      (url: URL) => url.searchParams.append("code", "second"),
      (url: URL) => url.searchParams.set("error", "access_denied"),
    ]) {
      const browser = new PlainBrowser();
      const url = new URL(await untilCallback(browser, "ada"));
      alter(url);
      const response = await browser.send("GET", url.href);
      assert.deepEqual([response.status, response.headers["set-cookie"]], [403, undefined], url.search);
    }
    const browser = new PlainBrowser();
    const url = new URL(await untilCallback(browser, "ada"));
    url.searchParams.set("state", "A".repeat(43));
    assert.equal((await browser.send("GET", url.href)).status, 400);
  });

  test("an id token with another nonce, audience or signature is refused", async () => {
    const part = (token: string, at: number) => JSON.parse(Buffer.from(token.split(".")[at]!, "base64url").toString());
    const altered = (token: string, change: object): string => {
      const [head, , signature] = token.split(".");
      const body = Buffer.from(JSON.stringify({ ...part(token, 1), ...change })).toString("base64url");
      return `${head}.${body}.${signature}`;
    };
    for (const alter of [
      (token: string) => altered(token, { nonce: "other" }),
      (token: string) => altered(token, { aud: "other" }),
      (token: string) => altered(token, { iss: "https://evil.example" }),
      (token: string) => altered(token, { sub: "admin" }),
      (token: string) => altered(token, { exp: 1 }),
      (token: string) => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${token.split(".")[1]}.`,
    ]) {
      issuer.alterTokens = (answer) => {
        answer.id_token = alter(answer.id_token as string);
      };
      const response = await signIn("ada");
      assert.deepEqual([response.status, response.headers["set-cookie"]], [403, undefined]);
    }
    issuer.alterTokens = (answer) => {
      delete answer.id_token;
    };
    assert.equal((await signIn("ada")).status, 403);
    issuer.alterTokens = undefined;
  });

  test("the sign-in page offers the connections of a workspace, and a disabled one ends its sessions", async () => {
    const { body } = await rest.call("GET", "/api/tenants");
    const page = await new PlainBrowser().send("GET", `${service.baseUrl}/auth/sign-in?workspace=${body.data[0].slug}`);
    assert.match(page.body, new RegExp(`/auth/start/${connection.id}.*Continue with Issuer`));
    const plain = await new PlainBrowser().send("GET", `${service.baseUrl}/auth/sign-in`);
    assert.match(plain.body, /service login-link/, "how to sign in without an identity provider");
    const browser = new PlainBrowser();
    await signIn("ada", browser);
    await update({ status: "disabled" });
    assert.equal((await browser.send("GET", `${service.baseUrl}/api/v2/identity/session`)).status, 401);
    assert.equal((await browser.send("GET", connection.sign_in_url)).status, 404);
    await update({ status: "active" });
  });

  test("a connection says when somebody first signed in with its settings", async () => {
    const firstSignIn = async () =>
      (await rest.call("GET", `/api/v2/identity/connections/${connection.id}`)).body.data.first_sign_in_at;
    await signIn("ada");
    const at = await firstSignIn();
    assert.ok(at);
    await update({ name: "Renamed", oidc: { issuer: issuer.url, client_id: issuer.clientId } });
    assert.equal(await firstSignIn(), at, "the same settings");
    await update({ oidc: { issuer: issuer.url, client_id: "other" } });
    assert.equal(await firstSignIn(), undefined, "settings that nobody has used");
    await update({ oidc: { issuer: issuer.url, client_id: issuer.clientId } });
    await signIn("ada");
    assert.ok(await firstSignIn());
  });

  test("the client secret is never shown", async () => {
    const { text } = await rest.call("GET", `/api/v2/identity/connections/${connection.id}`);
    assert.ok(!text.includes(issuer.clientSecret));
  });
});
