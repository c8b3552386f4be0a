import assert from "node:assert/strict";
import { before, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import type { ResponseData } from "../routing/tenant-fixture.ts";
import { type DnsServer, startDnsServer } from "./dns-server.ts";
import { type SignInIssuer, startSignInIssuer } from "./oidc-issuer.ts";
import { type BrowserResponse, PlainBrowser } from "./plain-browser.ts";

interface Provider {
  readonly issuer: SignInIssuer;
  readonly id: string;
  readonly signInUrl: string;
}

let service: TestService;
let dns: DnsServer;
let rest: ReturnType<typeof restClient>;
let own: Provider;
let other: Provider;
before(async () => {
  dns = await startDnsServer();
  service = await startService({ "egress.name_servers": dns.address });
  rest = restClient(service.baseUrl, service.adminKey);
  own = await connect("Own", ["acme.example", "other.example"]);
  other = await connect("Other", []);
});

async function connect(name: string, domains: readonly string[]): Promise<Provider> {
  const issuer = await startSignInIssuer();
  const data = await ok("POST", "/api/v2/identity/connections", {
    ...{ name, email_domains: domains, just_in_time: true, default_roles: ["viewer"] },
    oidc: { issuer: issuer.url, client_id: issuer.clientId, client_secret: issuer.clientSecret },
  });
  issuer.register(data.callback_url);
  return { issuer, id: data.id, signInUrl: data.sign_in_url };
}

async function ok(method: string, path: string, body?: object): Promise<ResponseData> {
  const response = await rest.call(method, path, body);
  assert.equal(response.status, 200, response.text);
  return response.body.data;
}

/** Signs in with a provider, up to the first page of the service that does not lead back to it. */
async function signIn({ issuer, signInUrl }: Provider, email: string, browser = new PlainBrowser()) {
  const [login] = email.split("@") as [string];
  issuer.accounts[login] = { email, email_verified: true };
  let at = signInUrl;
  let response = await browser.send("GET", at);
  while (response.status === 303 || response.status === 302) {
    at = new URL(response.headers.location!, at).href;
    if (at.endsWith("/console")) return { browser, page: response };
    response = await browser.send("GET", at, { headers: { "sec-fetch-site": "cross-site" } });
    if (response.body.includes("<h1>Issuer</h1>")) response = await browser.send("POST", at, { form: { login } });
  }
  return { browser, page: response };
}

const isSignedIn = async (browser: PlainBrowser) =>
  (await browser.send("GET", `${service.baseUrl}/api/v2/identity/session`)).status === 200;

/** Opens a login link that a browser creates for itself, in another browser. */
async function openOwnLink(browser: PlainBrowser): Promise<() => Promise<BrowserResponse>> {
  const headers = { "x-switchyard-session": "1" };
  const created = await browser.send("POST", `${service.baseUrl}/api/v2/identity/login-links`, { headers, json: {} });
  const token = created.json().data.url.split("#token=")[1];
  const opening = new PlainBrowser();
  return () => opening.send("POST", `${service.baseUrl}/auth/link`, { form: { token } });
}

const verify = () => ok("POST", `/api/v2/identity/connections/${own.id}:verify_domains`, {});
const enforce = (enforced: boolean) => rest.call("PATCH", `/api/v2/identity/connections/${own.id}`, { enforced });

test("a domain is verified by the TXT record of the connection, and not by another one", async () => {
  const { domains } = await verify();
  assert.deepEqual(
    domains.map(({ domain, verified }: ResponseData) => [domain, verified]),
    [
      ["acme.example", false],
      ["other.example", false],
    ],
  );
  assert.equal((await enforce(true)).body.errorCode, "FAILED_PRECONDITION");
  const [acme] = domains;
  dns.records.set(acme.record_name, ["v=spf1 -all", `switchyard-connection=${other.id}`]);
  assert.equal((await verify()).domains[0].verified, false);
  dns.records.set(acme.record_name, ["v=spf1 -all", acme.record_value]);
  assert.deepEqual(
    (await verify()).domains.map(({ verified }: ResponseData) => verified),
    [true, false],
  );
});

test("members of an enforced domain can sign in only with its connection, and their other sessions end", async () => {
  const [ada] = [await signIn(other, "ada@acme.example")];
  assert.ok(await isSignedIn(ada.browser), ada.page.body);
  const link = await openOwnLink(ada.browser);
  assert.equal((await enforce(true)).status, 200);
  assert.ok(!(await isSignedIn(ada.browser)));
  for (const email of ["ada@acme.example", "new@ACME.example", "new@acme.example."]) {
    const { page } = await signIn(other, email);
    assert.match(page.body, /identity provider of your organization/);
  }
  const { data } = (await rest.call("GET", "/api/v2/members?limit=100")).body;
  assert.ok(!data.some((member: ResponseData) => member.email.startsWith("new@")), "nobody was created");
  assert.match((await link()).body, /identity provider of your organization/);
  assert.ok(await isSignedIn((await signIn(own, "ada@acme.example")).browser));
  assert.ok(await isSignedIn((await signIn(other, "eve@other.example")).browser), "this domain is not verified");
});

test("an admin of an enforced domain can still open a login link, and stays signed in with it", async () => {
  const { browser } = await signIn(own, "root@acme.example");
  const { data } = (await rest.call("GET", "/api/v2/members?limit=100")).body;
  const { id } = data.find((member: ResponseData) => member.email === "root@acme.example");
  await ok("PATCH", `/api/v2/members/${id}`, { role_set: { roles: ["admin"] } });
  const link = await openOwnLink(browser);
  assert.equal((await link()).status, 303);
  await ok("PATCH", `/api/v2/members/${id}`, { role_set: { roles: ["viewer"] } });
  assert.match((await (await openOwnLink(browser))()).body, /identity provider of your organization/);
});

test("a domain that is removed from the connection is not enforced any more", async () => {
  await ok("PATCH", `/api/v2/identity/connections/${own.id}`, { enforced: false });
  const set = (domains: string[]) =>
    ok("PATCH", `/api/v2/identity/connections/${own.id}`, { email_domain_set: { domains } });
  await set(["other.example"]);
  dns.records.clear();
  await set(["acme.example", "other.example"]);
  assert.equal((await verify()).domains[0].verified, false);
  assert.ok(await isSignedIn((await signIn(other, "ada@acme.example")).browser));
});
