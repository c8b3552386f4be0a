import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { audience, type Issuer, startIssuer } from "../access/issuer.ts";
import { afterFile } from "../harness/after-file.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { PlainBrowser } from "./plain-browser.ts";
import { patchOf, type ScimClient, scimClient, userUrn } from "./scim-client.ts";

const probe = "/api/v2/environments";

/** A person with everything that people can act with. */
interface Person {
  readonly email: string;
  readonly userId: string;
  readonly memberId: string;
  /** The status of a call with each credential at a node. */
  statuses(node: TestService): Promise<Record<string, number>>;
  /** Links that nobody has opened. */
  readonly links: readonly string[];
}

describe("the access of a person", () => {
  let issuer: Issuer;
  let first: TestService;
  let second: TestService;
  let directory: ScimClient;
  let tenantId: string;
  let rest: ReturnType<typeof restClient>;
  const logins = ["ada", "bob", "cai", "dan", "eve", "fay", "gil"];

  before(async () => {
    issuer = await startIssuer(logins);
    afterFile(() => issuer.goDown());
    const settings = {
      "identity.scim.enabled": "true",
      "api.oidc_issuer": issuer.url,
      "api.oidc_audience": audience,
    };
    first = await startService(settings);
    second = await startService({ ...settings, "auth.bootstrap_api_key": first.adminKey }, first.databaseUrl);
    directory = await scimClient(first);
    rest = restClient(first.baseUrl, first.adminKey);
    tenantId = (await rest.call("GET", "/api/tenants")).body.data[0].id;
  });

  const scimUser = (email: string, active = true) => ({
    ...{ schemas: [userUrn], userName: email, emails: [{ value: email, primary: true }], active },
  });

  /** Creates a person with a token, a chain of admin keys, sessions and links of the person and of the keys. */
  async function person(login: string): Promise<Person> {
    const email = `${login}@acme.example`;
    const created = await directory.call("POST", "/Users", scimUser(email));
    const { body } = await rest.call("GET", "/api/v2/members?limit=1000");
    const memberId: string = body.data.find((each: { email: string }) => each.email === email).id;
    await rest.call("PATCH", `/api/v2/members/${memberId}`, { role_set: { roles: ["admin"] } });
    const claims = { tenant_id: tenantId, email, email_verified: true };
    const headers: Record<string, Record<string, string>> = {
      token: { authorization: `Bearer ${await issuer.token(login, claims)}` },
    };
    const post = async (by: string, path: string, sent: object) => {
      const response = await restClient(first.baseUrl).call("POST", path, sent, headers[by]);
      assert.equal(response.status, 200, response.text);
      return response.body.data;
    };
    const links: string[] = [];
    const cookies: Record<string, string> = {};
    let creator = "token";
    for (const name of ["key 1", "key 2", "key 3"]) {
      const key = await post(creator, "/api/v2/api-keys", { name, roles: ["admin"] });
      headers[name] = { "x-api-key": key.secret };
      creator = name;
    }
    for (const owner of ["token", "key 1", "key 3"]) {
      const browser = new PlainBrowser();
      await browser.openLink((await post(owner, "/api/v2/identity/login-links", {})).url);
      cookies[`session of ${owner}`] = [...browser.cookies.values()][0]!;
      links.push((await post(owner, "/api/v2/identity/login-links", {})).url);
    }
    const statuses = async ({ baseUrl }: TestService) => {
      const seen: Record<string, number> = {};
      for (const [name, sent] of Object.entries(headers)) {
        seen[name] = (await restClient(baseUrl).call("GET", probe, undefined, sent)).status;
      }
      for (const [name, cookie] of Object.entries(cookies)) {
        const sent = { cookie: `switchyard-session-${new URL(baseUrl).port}=${cookie}` };
        seen[name] = (await new PlainBrowser().send("GET", baseUrl + probe, { headers: sent })).status;
      }
      return seen;
    };
    return { email, userId: created.body.id, memberId, statuses, links };
  }

  /** Waits until nothing works at a node, which takes less than a second on an idle machine. */
  async function nothingWorks(node: TestService, statuses: Person["statuses"], endedAtMs: number): Promise<void> {
    for (;;) {
      const startedAtMs = Date.now();
      const seen = await statuses(node);
      if (Object.values(seen).every((status) => status === 401)) return;
      assert.ok(startedAtMs < endedAtMs + 5000, `still works after 5 seconds: ${JSON.stringify(seen)}`);
      await delay(20);
    }
  }

  const restore = (email: string) => directory.call("POST", "/Users", scimUser(email));
  const ways: readonly [
    how: string,
    end: (person: Person) => Promise<{ status: number }>,
    restore: (person: Person) => Promise<{ status: number }>,
  ][] = [
    [
      "a directory patches active to false",
      ({ userId }) =>
        directory.call("PATCH", `/Users/${userId}`, patchOf({ op: "replace", path: "active", value: false })),
      ({ userId }) =>
        directory.call("PATCH", `/Users/${userId}`, patchOf({ op: "replace", path: "active", value: true })),
    ],
    [
      "a directory replaces the person with an inactive one",
      ({ userId, email }) => directory.call("PUT", `/Users/${userId}`, scimUser(email, false)),
      ({ userId, email }) => directory.call("PUT", `/Users/${userId}`, scimUser(email)),
    ],
    [
      "a directory deletes the person",
      ({ userId }) => directory.call("DELETE", `/Users/${userId}`),
      ({ email }) => restore(email),
    ],
    [
      "an admin suspends the member",
      ({ memberId }) => rest.call("PATCH", `/api/v2/members/${memberId}`, { status: "STATUS_SUSPENDED" }),
      ({ memberId }) => rest.call("PATCH", `/api/v2/members/${memberId}`, { status: "STATUS_ACTIVE" }),
    ],
    [
      "an admin removes the member",
      ({ memberId }) => rest.call("DELETE", `/api/v2/members/${memberId}`),
      ({ email }) => rest.call("POST", "/api/v2/members", { email, roles: ["admin"] }),
    ],
  ];

  for (const [at, [how, end, restorePerson]] of ways.entries()) {
    test(`when ${how}, no key, session, link or token of the person works a second later, on any node`, async () => {
      const ended = await person(logins[at]!);
      const { statuses, links } = ended;
      for (const node of [first, second]) {
        for (const [name, status] of Object.entries(await statuses(node))) assert.equal(status, 200, name);
      }
      assert.ok((await end(ended)).status < 300);
      const endedAtMs = Date.now();
      await Promise.all([first, second].map((node) => nothingWorks(node, statuses, endedAtMs)));
      for (const link of links) assert.equal((await new PlainBrowser().openLink(link)).status, 403, "a link is void");
      assert.ok((await restorePerson(ended)).status < 300);
      const { token: _, ...lasting } = await statuses(first);
      for (const [name, status] of Object.entries(lasting)) assert.equal(status, 401, `${name} does not come back`);
    });
  }

  test("one call signs a person out everywhere: sessions, links and tokens end, keys stay", async () => {
    const { memberId, statuses, links } = await person("fay");
    const keys = { "key 1": 200, "key 2": 200, "key 3": 200 };
    const ended = { token: 401, "session of token": 401, "session of key 1": 401, "session of key 3": 401 };
    const viewer = await rest.call("POST", "/api/v2/api-keys", { name: "viewer", roles: ["viewer"] });
    const signOut = (key: string, body: object) =>
      restClient(first.baseUrl, key).call("POST", "/api/v2/identity/sign-out", body);
    const others = await signOut(viewer.body.data.secret, { member_id: memberId });
    assert.equal(others.status, 404, "only an admin can sign others out");
    assert.equal((await signOut(first.adminKey, {})).status, 400, "a key is not a member");
    const done = await signOut(first.adminKey, { member_id: memberId });
    assert.deepEqual([done.status, done.body.data.sessions], [200, 3], done.text);
    assert.deepEqual(await statuses(first), { ...keys, ...ended });
    for (const link of links) assert.equal((await new PlainBrowser().openLink(link)).status, 403, "a link is void");
    const claims = { tenant_id: tenantId, email: "fay@acme.example", email_verified: true };
    // Tokens of the second of the sign-out are refused, too.
    const call = async () => {
      const authorization = `Bearer ${await issuer.token("fay", claims)}`;
      return restClient(first.baseUrl).call("GET", probe, undefined, { authorization });
    };
    await until(call, ({ status }) => status === 200);
  });

  test("the link of a suspended member opens no session, not even one that lives after the reinstatement", async () => {
    const { memberId } = await person("gil");
    const authorization = `Bearer ${await issuer.token("gil", { tenant_id: tenantId })}`;
    const link = await restClient(first.baseUrl).call("POST", "/api/v2/identity/login-links", {}, { authorization });
    const member = (change: object) => rest.call("PATCH", `/api/v2/members/${memberId}`, change);
    await member({ status: "STATUS_SUSPENDED" });
    const browser = new PlainBrowser();
    assert.equal((await browser.openLink(link.body.data.url)).status, 403);
    assert.equal(browser.cookies.size, 0);
    await member({ status: "STATUS_ACTIVE" });
    assert.equal((await browser.openLink(link.body.data.url)).status, 403, "the link does not come back either");
  });

  test("member lists show every role that a person has, and where it comes from", async () => {
    await rest.call("PUT", "/api/v2/identity/group-roles", { group: "Operators", roles: ["operator", "viewer"] });
    const hal = await directory.call("POST", "/Users", scimUser("hal@acme.example"));
    await directory.call("POST", "/Groups", { displayName: "Operators", members: [{ value: hal.body.id }] });
    const found = async () => {
      const { body } = await rest.call("GET", "/api/v2/members?limit=1000");
      return body.data.find(({ email }: { email: string }) => email === "hal@acme.example");
    };
    const { id, roles, access } = await found();
    assert.deepEqual(roles, []);
    assert.deepEqual(access, [
      { role: "operator", sources: ["group"] },
      { role: "viewer", sources: ["group"] },
    ]);
    await rest.call("PATCH", `/api/v2/members/${id}`, { role_set: { roles: ["viewer"] } });
    assert.deepEqual((await found()).access[0], { role: "viewer", sources: ["direct", "group"] });
    await rest.call("PATCH", `/api/v2/members/${id}`, { status: "STATUS_SUSPENDED" });
    assert.deepEqual((await found()).access, []);
  });
});
