import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { audience, type Issuer, startIssuer } from "../access/issuer.ts";
import { afterFile } from "../harness/after-file.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { PlainBrowser } from "./plain-browser.ts";
import { patchOf, type ScimClient, scimClient, userUrn } from "./scim-client.ts";

describe("a directory ends the access of a person", () => {
  let issuer: Issuer;
  let first: TestService;
  let second: TestService;
  let directory: ScimClient;
  let tenantId: string;
  let auditPath: string;
  let rest: ReturnType<typeof restClient>;

  before(async () => {
    issuer = await startIssuer(["ada", "bob"]);
    afterFile(() => issuer.goDown());
    const settings = {
      "identity.scim.enabled": "true",
      "api.oidc_issuer": issuer.url,
      "api.oidc_audience": audience,
    };
    auditPath = join(await mkdtemp(join(tmpdir(), "switchyard-scim-")), "audit.log");
    first = await startService({ ...settings, "audit.sink": "file", "audit.path": auditPath });
    second = await startService({ ...settings, "auth.bootstrap_api_key": first.adminKey }, first.databaseUrl);
    directory = await scimClient(first);
    rest = restClient(first.baseUrl, first.adminKey);
    tenantId = (await rest.call("GET", "/api/tenants")).body.data[0].id;
    await rest.call("PUT", "/api/v2/identity/group-roles", { group: "Admins", roles: ["admin"] });
  });

  /** Provisions a person with a token, a key that the person created, and a browser session. */
  async function person(login: string) {
    const email = `${login}@acme.example`;
    const created = await directory.call("POST", "/Users", {
      schemas: [userUrn],
      userName: email,
      emails: [{ value: email, primary: true }],
    });
    const id: string = created.body.id;
    await directory.call("POST", "/Groups", {
      displayName: login === "ada" ? "Admins" : "admins ",
      members: [{ value: id }],
    });
    if (login !== "ada") {
      const { body } = await rest.call("GET", "/api/v2/members?limit=1000");
      const member = body.data.find((each: { email: string }) => each.email === email);
      await rest.call("PATCH", `/api/v2/members/${member.id}`, { role_set: { roles: ["admin"] } });
    }
    const claims = { tenant_id: tenantId, email, email_verified: true };
    const authorization = `Bearer ${await issuer.token(login, claims)}`;
    const asPerson = (method: string, path: string, body?: unknown) =>
      restClient(first.baseUrl).call(method, path, body, { authorization });
    const key = await asPerson("POST", "/api/v2/api-keys", { name: "own", roles: ["viewer"] });
    assert.equal(key.status, 200, key.text);
    const link = await asPerson("POST", "/api/v2/identity/login-links", {});
    const unused = await asPerson("POST", "/api/v2/identity/login-links", {});
    const browser = new PlainBrowser();
    await browser.openLink(link.body.data.url);
    const [[, cookie]] = [...browser.cookies] as [[string, string]];
    /** The status of a call with each credential at a node. */
    const statuses = async ({ baseUrl }: TestService) => {
      const path = "/api/v2/environments";
      const sent = `switchyard-session-${new URL(baseUrl).port}=${cookie}`;
      const session = await new PlainBrowser().send("GET", baseUrl + path, { headers: { cookie: sent } });
      const byToken = await restClient(baseUrl).call("GET", path, undefined, { authorization });
      const byKey = await restClient(baseUrl, key.body.data.secret).call("GET", path);
      return [session.status, byToken.status, byKey.status];
    };
    return { id, email, statuses, unused: unused.body.data.url as string };
  }

  for (const [login, how, end] of [
    [
      "ada",
      "deactivates",
      (id: string) =>
        directory.call("PATCH", `/Users/${id}`, patchOf({ op: "Replace", path: "active", value: "False" })),
    ],
    ["bob", "deletes", (id: string) => directory.call("DELETE", `/Users/${id}`)],
  ] as const) {
    test(`when it ${how} a person, sessions, keys and tokens end on the same node at once and soon on every other`, async () => {
      const { id, statuses, unused } = await person(login);
      assert.deepEqual(await statuses(first), [200, 200, 200]);
      assert.deepEqual(await statuses(second), [200, 200, 200]);
      assert.ok((await end(id)).status < 300);
      assert.deepEqual(await statuses(first), [401, 401, 401]);
      const elsewhere = await until(
        () => statuses(second),
        (seen) => !seen.includes(200),
      );
      assert.deepEqual(elsewhere, [401, 401, 401]);
      assert.equal((await new PlainBrowser().openLink(unused)).status, 403, "an unused link is void");
      if (login === "bob") return;
      await directory.call("PATCH", `/Users/${id}`, patchOf({ op: "Replace", path: "active", value: true }));
      assert.deepEqual(await statuses(first), [401, 200, 401], "neither sessions nor keys come back");
      const { body } = await rest.call("GET", "/api/events?limit=1000");
      const events = body.data.filter(({ type }: { type: string }) => type === "scim_user.deactivated");
      assert.deepEqual(events[0].data, { sessions: 1, keys: 1 });
    });
  }

  test("an endpoint of SCIM needs a key with its scope, also as a bearer token, and belongs to one tenant", async () => {
    const url = `${first.baseUrl}/scim/v2/Users`;
    const status = async (headers: Record<string, string>) => (await fetch(url, { headers })).status;
    assert.equal(await status({}), 401);
    assert.equal(await status({ authorization: "Bearer sk_test_wrong_0123456789abcdef" }), 401);
    assert.equal(await status({ "x-api-key": directory.key }), 200);
    const { body } = await rest.call("POST", "/api/v2/api-keys", { name: "viewer", roles: ["operator"] });
    assert.equal(await status({ authorization: `Bearer ${body.data.secret}` }), 403);
    assert.equal(await status({ authorization: `Bearer ${directory.key}` }), 200);
    const elsewhere = await restClient(first.baseUrl, directory.key).call("GET", "/api/v2/members");
    assert.equal(elsewhere.status, 403, "the key of a directory can do nothing else");
    const made = await rest.call("POST", "/api/tenants", { name: "Other", issue_admin_key: true });
    const other = await scimClient(first, made.body.data.admin_key);
    assert.equal((await other.call("GET", "/Users")).body.totalResults, 0);
    const [mine] = (await directory.call("GET", "/Users")).body.Resources;
    for (const method of ["GET", "DELETE"]) assert.equal((await other.call(method, `/Users/${mine.id}`)).status, 404);
    assert.equal(
      (await other.call("PATCH", `/Users/${mine.id}`, patchOf({ op: "replace", path: "active", value: false }))).status,
      404,
    );
    const foreign = await other.call("POST", "/Groups", { displayName: "Theirs", members: [{ value: mine.id }] });
    assert.equal(foreign.status, 400);
    const off = await startService();
    assert.equal((await fetch(`${off.baseUrl}/scim/v2/Users`)).status, 404, "it is off unless it is enabled");
  });

  test("an existing member is taken over, and two directories do not create a person twice", async () => {
    const email = "eve@acme.example";
    const invited = await rest.call("POST", "/api/v2/members", { email, roles: ["viewer"] });
    const body = { schemas: [userUrn], userName: email, emails: [{ value: email }], active: false };
    const answers = await Promise.all([1, 2, 3, 4].map(() => directory.call("POST", "/Users", body)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
    const member = await rest.call("GET", `/api/v2/members/${invited.body.data.id}`);
    assert.deepEqual([member.body.data.status, member.body.data.roles], ["STATUS_SUSPENDED", ["viewer"]]);
    const same = { ...body, userName: "other" };
    assert.equal((await directory.call("POST", "/Users", same)).status, 409, "an address belongs to one person");
  });

  test("malformed requests are refused in the form of SCIM", async () => {
    const send = (method: string, path: string, body: string, type = "application/scim+json") =>
      fetch(`${first.baseUrl}/scim/v2${path}`, {
        method,
        body,
        headers: { authorization: `Bearer ${directory.key}`, "content-type": type },
      });
    for (const [method, path, body, status, scimType] of [
      ["POST", "/Users", "{", 400, "invalidSyntax"],
      ["POST", "/Users", "[]", 400, "invalidSyntax"],
      ["POST", "/Users", "{}", 400, "invalidValue"],
      ["POST", "/Users", '{"userName":"  "}', 400, "invalidValue"],
      ["POST", "/Users", '{"userName":{"a":1}}', 400, "invalidValue"],
      ["POST", "/Users", '{"userName":"a\\u0000b"}', 400, "invalidValue"],
      ["POST", "/Users", '{"userName":"x","emails":"__proto__"}', 201, undefined],
      ["POST", "/Groups", '{"members":[]}', 400, "invalidValue"],
      ["PUT", "/Users", "{}", 405, undefined],
    ] as const) {
      const response = await send(method, path, body);
      const answer = (await response.json()) as { scimType?: string };
      assert.deepEqual([response.status, answer.scimType], [status, scimType], `${method} ${path} ${body}`);
    }
    assert.equal((await send("POST", "/Users", "{}", "text/plain")).status, 415);
  });

  test("a PATCH that removes active, or sets it to null, does not reactivate a person", async () => {
    const email = "ina@acme.example";
    const created = await directory.call("POST", "/Users", { userName: email, active: false });
    for (const operation of [
      { op: "remove", path: "active" },
      { op: "replace", path: "active", value: null },
      { op: "add", path: "active", value: null },
      { op: "replace", value: { active: null } },
    ]) {
      const patched = await directory.call("PATCH", `/Users/${created.body.id}`, patchOf(operation));
      assert.deepEqual([patched.status, patched.body.active], [200, false], JSON.stringify(operation));
    }
    const { body } = await rest.call("GET", "/api/v2/members?limit=1000");
    const member = body.data.find((each: { email: string }) => each.email === email);
    assert.equal(member.status, "STATUS_SUSPENDED");
  });

  test("of concurrent creations with one address one succeeds, and the others are refused as not unique", async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((number) =>
        directory.call("POST", "/Users", { userName: `joy-${number}`, emails: [{ value: "joy@acme.example" }] }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
    for (const { status, body } of answers) if (status === 409) assert.equal(body.scimType, "uniqueness");
  });

  test("a refused method names the allowed ones", async () => {
    for (const [method, path, allowed] of [
      ["DELETE", "/Users", "GET, POST"],
      ["GET", "/Users/.search", "POST"],
      ["POST", "/Groups/01ARZ3NDEKTSV4RRFFQ69G5FAV", "GET, PUT, PATCH, DELETE"],
      ["POST", "/Schemas", "GET"],
    ] as const) {
      const response = await directory.call(method, path, method === "POST" ? {} : undefined);
      assert.deepEqual([response.status, response.headers.get("allow")], [405, allowed], `${method} ${path}`);
    }
  });

  test("requests of directories pass the chain of all calls, and are refused in the form of SCIM", async () => {
    const seen = await directory.call("GET", "/Users?count=1", undefined, { "x-request-id": "from-the-directory" });
    assert.equal(seen.status, 200);
    assert.equal(seen.headers.get("x-request-id"), "from-the-directory");
    assert.equal(seen.headers.get("api-version"), "2024-01-01");
    const errorUrn = "urn:ietf:params:scim:api:messages:2.0:Error";
    const refusals: [Record<string, string>, number][] = [
      [{ "x-tenant-id": "01ARZ3NDEKTSV4RRFFQ69G5FAV" }, 403],
      [{ "api-version": "yesterday" }, 400],
      [{ authorization: "Bearer sk_live_wrong_0123456789abcdef" }, 401],
    ];
    for (const [headers, status] of refusals) {
      const refused = await directory.call("GET", "/Users", undefined, headers);
      assert.deepEqual([refused.status, refused.body.schemas], [status, [errorUrn]], JSON.stringify(refused.body));
      assert.equal(refused.body.status, String(status));
      assert.match(refused.headers.get("content-type")!, /^application\/scim\+json/);
    }
    const refused = await directory.call("PATCH", "/Users/01ARZ3NDEKTSV4RRFFQ69G5FAV", patchOf({}), {
      ...{ "x-tenant-id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x-request-id": "refused-here" },
    });
    assert.equal(refused.status, 403);
    const created = await directory.call(
      ...(["POST", "/Users", { userName: "kim@acme.example" }, { "x-request-id": "made-here" }] as const),
    );
    const entries = (await readFile(auditPath, "utf8")).split("\n").filter((line) => line !== "");
    const [denied, succeeded] = ["refused-here", "made-here"].map((id) =>
      entries.map((line) => JSON.parse(line)).find(({ request_id }) => request_id === id),
    );
    assert.deepEqual([denied.operation, denied.outcome, denied.tenant_id], ["scim/Write", "denied", tenantId]);
    assert.deepEqual([succeeded.operation, succeeded.outcome], ["scim/Write", "succeeded"]);
    assert.deepEqual(succeeded.details.records, [{ type: "scim", id: created.body.id }]);
  });

  test("a directory that sends too much is told when to come back", async () => {
    const made = await rest.call("POST", "/api/tenants", { name: "Limited", issue_admin_key: true });
    const admin = restClient(first.baseUrl, made.body.data.admin_key);
    assert.equal((await admin.call("PUT", "/api/config/values/ratelimit.tenant_rps", { value: 1 })).status, 200);
    const limited = await scimClient(first, made.body.data.admin_key);
    const send = () => limited.call("GET", "/Users");
    const { headers } = await send();
    assert.ok(Number(headers.get("x-ratelimit-limit")) > 0);
    assert.ok(headers.has("x-ratelimit-remaining"));
    const answer = await until(send, ({ status }) => status !== 200);
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers.get("retry-after")) >= 1);
    assert.equal(answer.body.status, "429");
  });
});
