import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { enterpriseUrn, groupUrn, patchOf, type ScimClient, scimClient, userUrn } from "./scim-client.ts";

// The requests of Microsoft's "Develop a SCIM endpoint for user provisioning to apps from Microsoft Entra ID", in their order.
describe("provisioning by Entra ID", () => {
  let service: TestService;
  let entra: ScimClient;
  let rest: ReturnType<typeof restClient>;
  let userId: string;
  let groupId: string;
  const user = {
    schemas: [userUrn, enterpriseUrn],
    externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    userName: "Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1",
    active: true,
    emails: [{ primary: true, type: "work", value: "Test_User_fd0ea19b-0777-472c-9f96-4f70d2226f2e@testuser.com" }],
    meta: { resourceType: "User" },
    name: { formatted: "givenName familyName", familyName: "familyName", givenName: "givenName" },
    roles: [],
  };
  const listed = (resource: string, filter: string, more = "") =>
    entra.call("GET", `/${resource}?filter=${encodeURIComponent(filter)}${more}`);

  before(async () => {
    service = await startService({ "identity.scim.enabled": "true" });
    entra = await scimClient(service);
    rest = restClient(service.baseUrl, service.adminKey);
  });

  test("the connection test: a user that does not exist is an empty list", async () => {
    const { status, body } = await listed("Users", 'userName eq "non-existent user"');
    assert.deepEqual([status, body.totalResults, body.Resources], [200, 0, []]);
  });

  test("create, get, and query users", async () => {
    const created = await entra.call("POST", "/Users", user);
    assert.equal(created.status, 201);
    userId = created.body.id;
    assert.deepEqual(
      [created.body.userName, created.body.externalId, created.body.active],
      [user.userName, user.externalId, true],
    );
    assert.equal((await entra.call("GET", `/Users/${userId}`)).body.userName, user.userName);
    assert.equal((await listed("Users", `userName eq "${user.userName}"`)).body.totalResults, 1);
    assert.equal((await listed("Users", `externalId eq "${user.externalId}"`)).body.totalResults, 1);
    const byEmail = await listed("Users", `emails[type eq "work"].value eq "${user.emails[0]!.value}"`);
    assert.equal(byEmail.body.Resources[0].id, userId);
  });

  test("update users: several values, one value, and the quirks of the default flags", async () => {
    const several = await entra.call(
      "PATCH",
      `/Users/${userId}`,
      patchOf(
        { op: "Replace", path: 'emails[type eq "work"].value', value: "updatedEmail@microsoft.com" },
        { op: "Replace", path: "name.familyName", value: "updatedFamilyName" },
      ),
    );
    assert.equal(several.status, 200);
    assert.equal(several.body.emails[0].value, "updatedEmail@microsoft.com");
    assert.equal(several.body.name.familyName, "updatedFamilyName");
    const one = await entra.call(
      "PATCH",
      `/Users/${userId}`,
      patchOf({ op: "Replace", path: "userName", value: "5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com" }),
    );
    assert.equal(one.body.userName, "5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com");
    const manager = await entra.call(
      "PATCH",
      `/Users/${userId}`,
      patchOf(
        { op: "Add", path: `${enterpriseUrn}:manager`, value: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef" },
        { op: "Add", value: { [`${enterpriseUrn}:department`]: "Sales", "name.givenName": "Bo", displayName: "Bo U" } },
      ),
    );
    assert.deepEqual(manager.body[enterpriseUrn], {
      manager: { value: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef" },
      department: "Sales",
    });
    assert.deepEqual([manager.body.name.givenName, manager.body.displayName], ["Bo", "Bo U"]);
    const { body } = await rest.call("GET", "/api/v2/members");
    const member = body.data.find(({ email }: { email: string }) => email === "updatedEmail@microsoft.com");
    assert.equal(member.display_name, "Bo U");
  });

  test("disable a user, with a boolean and with a text", async () => {
    for (const value of [false, "False"]) {
      const off = await entra.call("PATCH", `/Users/${userId}`, patchOf({ op: "Replace", path: "active", value }));
      assert.deepEqual([off.status, off.body.active], [200, false]);
      const on = await entra.call(
        "PATCH",
        `/Users/${userId}`,
        patchOf({ op: "Replace", path: "active", value: "True" }),
      );
      assert.equal(on.body.active, true);
    }
  });

  test("create groups, get them without members, and find them by name", async () => {
    const created = await entra.call("POST", "/Groups", {
      schemas: [groupUrn, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
      externalId: "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
      displayName: "displayName",
      meta: { resourceType: "Group" },
    });
    assert.equal(created.status, 201);
    groupId = created.body.id;
    const read = await entra.call("GET", `/Groups/${groupId}?excludedAttributes=members`);
    assert.deepEqual([read.status, read.body.displayName, read.body.members], [200, "displayName", undefined]);
    const found = await listed("Groups", 'displayName eq "displayName"', "&excludedAttributes=members");
    assert.deepEqual([found.body.totalResults, found.body.Resources[0].id], [1, groupId]);
  });

  test("rename a group, add members and remove them; mapped groups give roles to their members", async () => {
    await rest.call("PUT", "/api/v2/identity/group-roles", { group: "engineers", roles: ["operator"] });
    const rename = patchOf({ op: "Replace", path: "displayName", value: "Engineers" });
    assert.equal((await entra.call("PATCH", `/Groups/${groupId}`, rename)).status, 200);
    const rolesOf = async () => {
      const rows = await rest.call("GET", "/api/v2/members");
      const { id } = rows.body.data.find(({ email }: { email: string }) => email === "updatedEmail@microsoft.com");
      const sql = connect(service.databaseUrl, 1);
      const [row] = await sql<{ group_roles: string[] }[]>`select group_roles from members where id = ${id}`;
      await sql.end();
      return row!.group_roles;
    };
    assert.deepEqual(await rolesOf(), []);
    const members = [{ $ref: null, value: userId }];
    const added = await entra.call(
      "PATCH",
      `/Groups/${groupId}`,
      patchOf({ op: "Add", path: "members", value: members }),
    );
    assert.equal(added.body.members[0].value, userId);
    assert.deepEqual(await rolesOf(), ["operator"]);
    const hidden = await entra.call("GET", `/Groups/${groupId}?excludedAttributes=members`);
    assert.equal(hidden.body.members, undefined);
    assert.equal((await listed("Groups", `id eq "${groupId}" and members eq "${userId}"`)).body.totalResults, 1);
    await entra.call("PATCH", `/Groups/${groupId}`, patchOf({ op: "Replace", path: "displayName", value: "Others" }));
    assert.deepEqual(await rolesOf(), [], "a group with another name has other roles");
    await entra.call(
      "PATCH",
      `/Groups/${groupId}`,
      patchOf({ op: "Replace", path: "displayName", value: "ENGINEERS" }),
    );
    assert.deepEqual(await rolesOf(), ["operator"]);
    const removed = await entra.call(
      "PATCH",
      `/Groups/${groupId}`,
      patchOf({ op: "Remove", path: "members", value: members }),
    );
    assert.equal(removed.body.members, undefined);
    assert.deepEqual(await rolesOf(), []);
    const stranger = [{ value: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }];
    const refused = await entra.call(
      "PATCH",
      `/Groups/${groupId}`,
      patchOf({ op: "Add", path: "members", value: stranger }),
    );
    assert.deepEqual([refused.status, refused.body.scimType], [400, "invalidValue"]);
    assert.equal((await entra.call("DELETE", `/Groups/${groupId}`)).status, 204);
  });

  test("versions: a stale one is refused, a known one is not sent again", async () => {
    const { headers, body } = await entra.call("GET", `/Users/${userId}`);
    const etag = headers.get("etag")!;
    assert.equal(body.meta.version, etag);
    assert.equal((await entra.call("GET", `/Users/${userId}`, undefined, { "if-none-match": etag })).status, 304);
    const rename = (value: string, version: string) =>
      entra.call("PATCH", `/Users/${userId}`, patchOf({ op: "replace", path: "title", value }), {
        "if-match": version,
      });
    const first = await rename("One", etag);
    assert.equal(first.status, 200);
    assert.notEqual(first.headers.get("etag"), etag);
    assert.equal((await rename("Two", etag)).status, 412);
    assert.equal((await entra.call("DELETE", `/Users/${userId}`, undefined, { "if-match": etag })).status, 412);
    assert.equal((await rename("Two", "*")).status, 200);
  });

  test("delete a user", async () => {
    assert.equal((await entra.call("DELETE", `/Users/${userId}`)).status, 204);
    assert.equal((await entra.call("GET", `/Users/${userId}`)).status, 404);
  });

  test("the discovery documents", async () => {
    const config = (await entra.call("GET", "/ServiceProviderConfig")).body;
    assert.deepEqual([config.patch.supported, config.bulk.supported, config.etag.supported], [true, false, true]);
    const types = (await entra.call("GET", "/ResourceTypes")).body;
    assert.deepEqual(
      types.Resources.map(({ id }: { id: string }) => id),
      ["User", "Group"],
    );
    const schemas = (await entra.call("GET", "/Schemas")).body;
    assert.deepEqual(
      [schemas.totalResults, schemas.Resources.map(({ id }: { id: string }) => id)],
      [3, [userUrn, enterpriseUrn, groupUrn]],
    );
    assert.equal((await entra.call("GET", `/Schemas/${userUrn}`)).body.name, "User");
    assert.equal((await entra.call("POST", "/Bulk", {})).status, 501);
    assert.equal((await entra.call("GET", "/Nothing")).status, 404);
  });

  test("pages, projections and searches", async () => {
    for (let at = 0; at < 5; at++) {
      const email = `page${at}@testuser.com`;
      await entra.call("POST", "/Users", {
        ...user,
        userName: email,
        externalId: `p${at}`,
        emails: [{ type: "work", value: email }],
      });
    }
    const second = await entra.call("GET", "/Users?startIndex=3&count=2&attributes=userName,name.givenName");
    assert.deepEqual([second.body.totalResults, second.body.itemsPerPage, second.body.startIndex], [5, 2, 3]);
    assert.deepEqual(Object.keys(second.body.Resources[0]).sort(), ["id", "name", "schemas", "userName"]);
    assert.deepEqual(second.body.Resources[0].name, { givenName: "givenName" });
    assert.equal((await entra.call("GET", "/Users?count=0")).body.totalResults, 5);
    const search = { filter: 'userName sw "page" and externalId ne "p1"', startIndex: 2, count: 2 };
    const found = await entra.call("POST", "/Users/.search", search);
    assert.deepEqual([found.body.totalResults, found.body.Resources.length], [4, 2]);
    assert.equal((await listed("Users", "userName eq")).body.scimType, "invalidFilter");
  });
});
