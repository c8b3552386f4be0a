import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { groupUrn, patchOf, type ScimClient, scimClient, userUrn } from "./scim-client.ts";

// The steps of Okta's published SCIM 2.0 test, and the requests of its documentation, in their order.
describe("provisioning by Okta", () => {
  let service: TestService;
  let okta: ScimClient;
  let userId: string;
  const login = "test.user@okta.local";
  const user = {
    schemas: [userUrn],
    userName: login,
    name: { givenName: "Test", familyName: "User" },
    emails: [{ primary: true, value: login, type: "work" }],
    displayName: "Test User",
    locale: "en-US",
    externalId: "00ujl29u0le5T6Aj10h7",
    groups: [],
    password: "1mz050nq",
    active: true,
  };

  before(async () => {
    service = await startService({ "identity.scim.enabled": "true" });
    okta = await scimClient(service);
    await okta.call("POST", "/Users", {
      ...user,
      userName: "first@okta.local",
      emails: [{ value: "first@okta.local" }],
    });
  });

  test("required test: users endpoint", async () => {
    const { status, body } = await okta.call("GET", "/Users?count=1&startIndex=1");
    assert.equal(status, 200);
    assert.deepEqual(body.schemas, ["urn:ietf:params:scim:api:messages:2.0:ListResponse"]);
    assert.deepEqual([body.itemsPerPage, body.startIndex, body.totalResults], [1, 1, 1]);
    const [first] = body.Resources;
    assert.ok(first.id && first.name.familyName && first.name.givenName && first.userName && first.active);
    assert.ok(first.emails[0].value);
    userId = first.id;
  });

  test("required test: get a user by id", async () => {
    const { status, body } = await okta.call("GET", `/Users/${userId}`);
    assert.deepEqual([status, body.id, body.userName], [200, userId, "first@okta.local"]);
  });

  test("required test: invalid user by user name, and by id", async () => {
    const none = await okta.call("GET", `/Users?filter=${encodeURIComponent('userName eq "InvalidEmailAddress"')}`);
    assert.deepEqual([none.status, none.body.totalResults, none.body.Resources], [200, 0, []]);
    const invalid = await okta.call("GET", "/Users/919191919191919191919191919191");
    assert.equal(invalid.status, 404);
    assert.ok(invalid.body.detail);
    assert.deepEqual(invalid.body.schemas, ["urn:ietf:params:scim:api:messages:2.0:Error"]);
  });

  test("required test: random user does not exist, is created, is found, and is not created twice", async () => {
    const filter = `/Users?filter=${encodeURIComponent(`userName eq "${login}"`)}&startIndex=1&count=100`;
    assert.equal((await okta.call("GET", filter)).body.totalResults, 0);
    const created = await okta.call("POST", "/Users", user);
    assert.equal(created.status, 201);
    assert.equal(created.body.active, true);
    assert.deepEqual(
      [created.body.name, created.body.userName, created.body.externalId],
      [user.name, login, user.externalId],
    );
    assert.equal(created.body.password, undefined);
    assert.equal(created.headers.get("location"), created.body.meta.location);
    userId = created.body.id;
    const read = await okta.call("GET", `/Users/${userId}`);
    assert.deepEqual(read.body, created.body);
    const again = await okta.call("POST", "/Users", user);
    assert.deepEqual([again.status, again.body.scimType], [409, "uniqueness"]);
    const upper = await okta.call("POST", "/Users", { ...user, userName: login.toUpperCase() });
    assert.equal(upper.status, 409, "user names are compared without regard to case");
    assert.equal((await okta.call("GET", filter)).body.Resources[0].id, userId);
  });

  test("update a user with PUT", async () => {
    const changed = {
      ...user,
      id: userId,
      name: { givenName: "Another", familyName: "User" },
      displayName: "Another User",
    };
    const { status, body } = await okta.call("PUT", `/Users/${userId}`, changed);
    assert.deepEqual([status, body.name.givenName, body.active], [200, "Another", true]);
    const { body: members } = await restClient(service.baseUrl, service.adminKey).call("GET", "/api/v2/members");
    const member = members.data.find(({ email }: { email: string }) => email === login);
    assert.deepEqual([member.display_name, member.status], ["Another User", "STATUS_ACTIVE"]);
  });

  test("deactivate and activate a user", async () => {
    const off = await okta.call("PATCH", `/Users/${userId}`, patchOf({ op: "replace", value: { active: false } }));
    assert.deepEqual([off.status, off.body.active], [200, false]);
    const listed = await okta.call("GET", `/Users?filter=${encodeURIComponent(`userName eq "${login}"`)}`);
    assert.deepEqual(
      [listed.body.totalResults, listed.body.Resources[0].active],
      [1, false],
      "inactive users stay listed",
    );
    const on = await okta.call("PUT", `/Users/${userId}`, { ...user, id: userId });
    assert.equal(on.body.active, true);
  });

  test("groups: create, read, rename, change members, delete", async () => {
    const created = await okta.call("POST", "/Groups", {
      schemas: [groupUrn],
      displayName: "Test SCIMv2",
      members: [],
    });
    assert.equal(created.status, 201);
    const groupId = created.body.id;
    const list = await okta.call("GET", "/Groups?startIndex=1&count=100");
    assert.deepEqual([list.body.totalResults, list.body.Resources[0].displayName], [1, "Test SCIMv2"]);
    const rename = patchOf({ op: "replace", value: { id: groupId, displayName: "Test SCIMv2 renamed" } });
    assert.equal((await okta.call("PATCH", `/Groups/${groupId}`, rename)).body.displayName, "Test SCIMv2 renamed");
    const added = await okta.call(
      "PATCH",
      `/Groups/${groupId}`,
      patchOf({ op: "add", path: "members", value: [{ value: userId, display: login }] }),
    );
    assert.deepEqual(
      added.body.members.map(({ value, display }: { value: string; display: string }) => [value, display]),
      [[userId, login]],
    );
    const person = await okta.call("GET", `/Users/${userId}`);
    assert.equal(person.body.groups[0].value, groupId);
    const replaced = await okta.call(
      "PATCH",
      `/Groups/${groupId}`,
      patchOf(
        { op: "remove", path: `members[value eq "${userId}"]` },
        { op: "add", path: "members", value: [{ value: userId, display: login }] },
      ),
    );
    assert.equal(replaced.body.members.length, 1);
    const put = { schemas: [groupUrn], id: groupId, displayName: "Test SCIMv2", members: [] };
    assert.equal((await okta.call("PUT", `/Groups/${groupId}`, put)).body.members, undefined);
    assert.equal((await okta.call("DELETE", `/Groups/${groupId}`)).status, 204);
    assert.equal((await okta.call("GET", `/Groups/${groupId}`)).status, 404);
  });

  test("delete a user", async () => {
    assert.equal((await okta.call("DELETE", `/Users/${userId}`)).status, 204);
    assert.equal((await okta.call("GET", `/Users/${userId}`)).status, 404);
    assert.equal((await okta.call("DELETE", `/Users/${userId}`)).status, 404);
    assert.equal((await okta.call("POST", "/Users", user)).status, 201, "the user name is free again");
  });
});
