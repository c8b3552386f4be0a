import assert from "node:assert/strict";
import { test } from "node:test";
import { grantedScopes, roleBeyond, unknownRole } from "../../../../platform/access/index.ts";
import { type Member, type MemberStatus, statusAfter, toMemberRoles } from "./member.ts";

const member = (status: MemberStatus, subject: string) =>
  ({ status, subject, roles: ["viewer"], groupRoles: ["viewer"], sessionRoles: [] }) as unknown as Member;

test("only a member with a subject can be set to active; others wait for their first call", () => {
  const table = [
    ["invited", "", "active", undefined],
    ["invited", "", "suspended", "suspended"],
    ["invited", "s", "active", "active"],
    ["invited", "s", "suspended", "suspended"],
    ["active", "s", "active", "active"],
    ["active", "s", "suspended", "suspended"],
    ["suspended", "", "active", "invited"],
    ["suspended", "", "suspended", "suspended"],
    ["suspended", "s", "active", "active"],
    ["suspended", "s", "suspended", "suspended"],
  ] as const;
  for (const [status, subject, wanted, next] of table) {
    assert.equal(statusAfter(member(status, subject), wanted), next, `${status} "${subject}" ${wanted}`);
  }
});

test("only an active member has roles", () => {
  assert.deepEqual(toMemberRoles(member("active", "s")).roles, ["viewer"]);
  for (const status of ["invited", "suspended", "removed"] as const) {
    assert.deepEqual(toMemberRoles(member(status, "s")).roles, []);
  }
});

test("the name of an inherited object property is not a role", () => {
  assert.equal(unknownRole(["viewer", "admin", "secret_manager"]), -1);
  assert.equal(unknownRole(["viewer", "constructor"]), 1);
});

test("a caller without one of a role's scopes cannot grant the role", () => {
  const beyond = (roles: string[], scopes: string[], given: string[]) =>
    roleBeyond({ roles, scopes: grantedScopes(roles, scopes) }, given);
  assert.equal(beyond(["admin"], [], ["admin", "secret_manager"]), undefined);
  assert.equal(beyond(["operator"], [], ["viewer", "operator"]), undefined);
  assert.equal(beyond([], ["*:*"], ["viewer", "secret_manager"]), undefined);
  assert.equal(beyond([], ["*:*"], ["admin"]), "admin");
  assert.equal(beyond(["viewer"], [], ["viewer", "operator"]), "operator");
  assert.equal(beyond(["operator"], ["member:*"], ["admin"]), "admin");
  assert.equal(beyond(["viewer"], [], ["secret_manager"]), "secret_manager");
});
