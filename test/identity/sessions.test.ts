import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { PlainBrowser } from "./plain-browser.ts";

const own = { "x-switchyard-session": "1" };

describe("browser sessions", () => {
  let first: TestService;
  let second: TestService;
  let rest: ReturnType<typeof restClient>;

  before(async () => {
    first = await startService();
    second = await startService({ "auth.bootstrap_api_key": first.adminKey }, first.databaseUrl);
    rest = restClient(first.baseUrl, first.adminKey);
  });

  async function newLink(key = first.adminKey): Promise<string> {
    const { body } = await restClient(first.baseUrl, key).call("POST", "/api/v2/identity/login-links", {});
    return body.data.url;
  }

  async function signedIn(key?: string): Promise<PlainBrowser> {
    const browser = new PlainBrowser();
    const response = await browser.openLink(await newLink(key));
    assert.deepEqual([response.status, response.headers.location], [303, "/console"]);
    return browser;
  }

  const me = (browser: PlainBrowser, service = first, headers: Record<string, string> = {}) =>
    browser.send("GET", `${service.baseUrl}/api/v2/identity/session`, { headers });

  test("a link signs one browser in, once, with the access of its key", async () => {
    const url = await newLink();
    const browser = new PlainBrowser();
    const page = await browser.send("GET", url.slice(0, url.indexOf("#")));
    assert.match(page.headers["content-security-policy"] as string, /default-src 'none'.*frame-ancestors 'none'/);
    assert.equal(page.headers["set-cookie"], undefined, "nobody is signed in without a confirmation");
    const opened = await browser.openLink(url);
    assert.match(String(opened.headers["set-cookie"]), /; Path=\/; HttpOnly; SameSite=Lax; Max-Age=28800$/);
    const { data } = (await me(browser)).json();
    assert.deepEqual(
      [data.kind, data.roles, data.session.method, data.session.current],
      ["api_key", ["admin"], "link", true],
    );
    assert.equal(data.session.user_agent, "PlainBrowser");
    const again = await new PlainBrowser().openLink(url);
    assert.deepEqual([again.status, again.headers["set-cookie"]], [403, undefined]);
    const parallel = await newLink();
    const opens = await Promise.all([1, 2, 3, 4].map(() => new PlainBrowser().openLink(parallel)));
    assert.equal(opens.filter(({ status }) => status === 303).length, 1);
  });

  test("a browser session can write with the header, and a link leads only to paths of the service", async () => {
    const browser = await signedIn();
    const environment = { key: "by-browser" };
    const written = await browser.send("POST", `${first.baseUrl}/api/v2/environments`, {
      json: environment,
      headers: own,
    });
    assert.equal(written.status, 200);
    for (const [wanted, path] of [
      ["/docs", "/docs"],
      ["/docs?a=1#b", "/docs?a=1#b"],
      ["//evil.example", "/console"],
      ["https://evil.example", "/console"],
      ["/\\evil.example", "/console"],
      ["/%0d%0aset-cookie:a=b", "/%0d%0aset-cookie:a=b"],
      ["javascript:alert(1)", "/console"],
    ]) {
      const { body } = await rest.call("POST", "/api/v2/identity/login-links", { return_to: wanted });
      assert.equal((await new PlainBrowser().openLink(body.data.url)).headers.location, path, wanted);
    }
  });

  test("fixation: a cookie that somebody planted is never the session's, and the session before ends", async () => {
    const browser = new PlainBrowser();
    const planted = "A".repeat(43);
    const name = `switchyard-session-${new URL(first.baseUrl).port}`;
    browser.cookies.set(name, planted);
    await browser.openLink(await newLink());
    assert.notEqual(browser.cookies.get(name), planted);
    const stranger = new PlainBrowser();
    stranger.cookies.set(name, planted);
    assert.equal((await me(stranger)).status, 401);
    const before = new PlainBrowser();
    before.cookies.set(name, browser.cookies.get(name)!);
    await browser.openLink(await newLink());
    assert.equal((await me(before)).status, 401, "the session that was replaced has ended");
    assert.equal((await me(browser)).status, 200);
    browser.cookies.set("other", "1");
    const twice = await me(browser, first, { cookie: `${name}=${browser.cookies.get(name)}; ${name}=${planted}` });
    assert.equal(twice.status, 401, "two cookies of the same name are ambiguous");
  });

  test("cross-site: no request of another site uses the session, whatever its method and protocol", async () => {
    const browser = await signedIn();
    const rpc = `${first.baseUrl}/service.api.EnvironmentService/CreateEnvironment`;
    const api = `${first.baseUrl}/api/v2/environments`;
    const attempts: [string, string, Record<string, string>][] = [
      ["POST", api, {}],
      ["POST", api, { ...own, "sec-fetch-site": "cross-site" }],
      ["POST", api, { ...own, "sec-fetch-site": "same-site" }],
      ["POST", api, { ...own, "sec-fetch-site": "none" }],
      ["POST", api, { ...own, "sec-fetch-site": "", origin: "https://evil.example" }],
      ["POST", api, { ...own, "sec-fetch-site": "", origin: "null" }],
      ["POST", api, { ...own, "sec-fetch-site": "" }],
      ["POST", api, { ...own, origin: "https://evil.example" }],
      ["POST", rpc, {}],
      ["POST", rpc, { ...own, "sec-fetch-site": "cross-site" }],
      ["DELETE", `${api}/01ARZ3NDEKTSV4RRFFQ69G5FAV`, {}],
      ["GET", api, { "sec-fetch-site": "cross-site" }],
      ["GET", api, { "sec-fetch-site": "same-site" }],
      ["GET", api, { origin: "https://evil.example" }],
    ];
    for (const [method, url, headers] of attempts) {
      const json = method === "POST" ? { key: "forged" } : undefined;
      const response = await browser.send(method, url, { headers, ...(json && { json }) });
      assert.equal(response.status, 403, `${method} ${url} ${JSON.stringify(headers)}`);
    }
    const plain = { "content-type": "text/plain", "sec-fetch-site": "cross-site" };
    assert.equal((await browser.send("POST", api, { json: { key: "forged" }, headers: plain })).status, 403);
    const list = await rest.call("GET", "/api/v2/environments");
    assert.ok(!list.body.data.some(({ key }: { key: string }) => key === "forged"));
    assert.equal((await me(browser, first, { "sec-fetch-site": "none" })).status, 200, "typed addresses work");
    const old = { ...own, "sec-fetch-site": "", origin: first.baseUrl };
    const written = await browser.send("POST", api, { json: { key: "plain-http" }, headers: old });
    assert.equal(written.status, 200, "without Sec-Fetch-Site the origin decides");
  });

  test("cross-site: forms of other sites neither sign in, nor out, nor end sessions", async () => {
    const browser = await signedIn();
    const foreign = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    const token = new URLSearchParams(new URL(await newLink()).hash.slice(1)).get("token")!;
    const page = await browser.send("GET", `${first.baseUrl}/auth/sessions`);
    const form_token = browser.hidden(page, "form_token");
    for (const [path, form] of [
      ["link", { token }],
      ["sign-out", { form_token }],
      ["sessions/revoke", { form_token, id: browser.hidden(page, "id") }],
    ] as const) {
      const response = await browser.send("POST", `${first.baseUrl}/auth/${path}`, { form, headers: foreign });
      assert.deepEqual([response.status, response.headers["set-cookie"]], [403, undefined], path);
    }
    for (const wrong of ["", "x".repeat(43)]) {
      const form = { form_token: wrong };
      assert.equal((await browser.send("POST", `${first.baseUrl}/auth/sign-out`, { form })).status, 403);
    }
    assert.equal((await me(browser)).status, 200);
    const out = await browser.send("POST", `${first.baseUrl}/auth/sign-out`, { form: { form_token } });
    assert.match(out.body, /You are signed out/);
    assert.equal(browser.cookies.size, 0);
  });

  test("theft: a revoked cookie is refused on the same node at once, and soon on every other", async () => {
    const owner = await signedIn();
    const thief = new PlainBrowser();
    const name = (port: string) => `switchyard-session-${port}`;
    const stolen = owner.cookies.get(name(new URL(first.baseUrl).port))!;
    thief.cookies.set(name(new URL(first.baseUrl).port), stolen);
    thief.cookies.set(name(new URL(second.baseUrl).port), stolen);
    assert.deepEqual([(await me(thief)).status, (await me(thief, second)).status], [200, 200]);
    const { data } = (await owner.send("GET", `${first.baseUrl}/api/v2/identity/sessions`)).json();
    const current = data.find((each: { current: boolean }) => each.current);
    const revoked = await owner.send("POST", `${first.baseUrl}/api/v2/identity/sessions/${current.id}/revoke`, {
      json: {},
      headers: own,
    });
    assert.ok(revoked.json().data.ended_at);
    assert.equal((await me(thief)).status, 401, "at once on the node that revoked it");
    await until(async () => (await me(thief, second)).status === 401);
  });

  test("the session of a key ends with the key, and never has more than its key", async () => {
    const { body } = await rest.call("POST", "/api/v2/api-keys", { name: "browser", roles: ["viewer"] });
    const browser = await signedIn(body.data.secret);
    assert.deepEqual((await me(browser)).json().data.roles, ["viewer"]);
    const json = { key: "by-viewer" };
    const refused = await browser.send("POST", `${first.baseUrl}/api/v2/environments`, { json, headers: own });
    assert.equal(refused.status, 403);
    await rest.call("POST", `/api/v2/api-keys/${body.data.id}/revoke`, {});
    assert.equal((await me(browser)).status, 401);
  });

  test("callers see and end only their own sessions; an admin ends all of the tenant", async () => {
    const { body } = await rest.call("POST", "/api/v2/api-keys", { name: "viewer", roles: ["viewer"] });
    const viewer = await signedIn(body.data.secret);
    const admin = await signedIn();
    const list = async (browser: PlainBrowser) =>
      (await browser.send("GET", `${first.baseUrl}/api/v2/identity/sessions`)).json().data as { id: string }[];
    assert.equal((await list(viewer)).length, 1);
    const adminSession = (await list(admin)).at(-1)!.id;
    const end = (browser: PlainBrowser, id: string) =>
      browser.send("POST", `${first.baseUrl}/api/v2/identity/sessions/${id}/revoke`, { json: {}, headers: own });
    assert.equal((await end(viewer, adminSession)).status, 404);
    const viewerSession = (await list(viewer))[0]!.id;
    assert.equal((await end(admin, viewerSession)).status, 200);
    assert.equal((await me(viewer)).status, 401);
  });

  test("a key or a token in the request counts, not the cookie", async () => {
    const browser = await signedIn();
    const wrong = await me(browser, first, { "x-api-key": "sk_test_wrong_0123456789abcdef" });
    assert.equal(wrong.status, 401);
    const right = await me(browser, first, { "x-api-key": first.adminKey, "sec-fetch-site": "cross-site" });
    assert.equal(right.json().data.session, undefined);
  });

  test("an unused session ends, and use on another node keeps it", async () => {
    const service = await startService(
      { "auth.bootstrap_api_key": first.adminKey, "identity.sessions.idle_minutes": "1" },
      first.databaseUrl,
    );
    const browser = new PlainBrowser();
    const link = (await restClient(service.baseUrl, first.adminKey).call("POST", "/api/v2/identity/login-links", {}))
      .body;
    await browser.openLink(link.data.url);
    assert.equal((await me(browser, service)).status, 200);
    const sql = connect(first.databaseUrl, 1);
    // A fresh node knows of no use but the stored one.
    const name = (each: TestService) => `switchyard-session-${new URL(each.baseUrl).port}`;
    const other = await startService(
      { "auth.bootstrap_api_key": first.adminKey, "identity.sessions.idle_minutes": "1" },
      first.databaseUrl,
    );
    browser.cookies.set(name(other), browser.cookies.get(name(service))!);
    await sql`update browser_sessions set last_seen_at = now() - interval '2 minutes' where ended_at is null`;
    assert.equal((await me(browser, other)).status, 401);
    await sql`update browser_sessions set last_seen_at = now() where ended_at is null`;
    assert.equal((await me(browser, other)).status, 200);
    await sql.end();
  });

  test("starts and ends are events of the tenant", async () => {
    const browser = await signedIn();
    const page = await browser.send("GET", `${first.baseUrl}/auth/sessions`);
    const form = { form_token: browser.hidden(page, "form_token") };
    await browser.send("POST", `${first.baseUrl}/auth/sign-out`, { form });
    const { body } = await rest.call("GET", "/api/events?limit=1000");
    const types = body.data.map(({ type }: { type: string }) => type);
    assert.ok(types.includes("browser_session.started") && types.includes("login_link.created"));
    const ended = body.data.filter(({ type }: { type: string }) => type === "browser_session.ended");
    assert.equal(ended[0].data.reason, "signed_out");
  });
});
