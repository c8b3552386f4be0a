import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/harness/random.ts";
import { readOperations } from "../../definitions/index.ts";
import {
  covers,
  grantedScopes,
  mayUseEnvironment,
  type Principal,
  roleBeyond,
  roleGrants,
  unknownRole,
} from "./index.ts";

/** Roles for what every signed-in person needs, so that the console can start. */
const everybody = Object.keys(roleGrants);

/** The roles that grant each scope, for every scope that an operation requires. */
const table: Readonly<Record<string, readonly string[]>> = {
  "analytics:read": ["viewer", "operator", "admin"],
  "anomaly:read": ["viewer", "operator", "admin"],
  "api_key:read": ["viewer", "operator", "admin"],
  "api_key:verify": ["admin"],
  "api_key:write": ["admin"],
  "billing:read": ["viewer", "operator", "admin"],
  "billing:write": ["admin"],
  "browser_session:read": everybody,
  "browser_session:write": everybody,
  "config:read": ["viewer", "operator", "admin", "config_manager"],
  "config:write": ["admin", "config_manager"],
  "conformance:read": ["viewer", "operator", "admin"],
  "conformance:run": ["operator", "admin"],
  "connect_session:read": ["viewer", "operator", "admin"],
  "connect_session:write": ["admin"],
  "connection:read": ["viewer", "operator", "admin"],
  "connection:write": ["admin"],
  "connector:read": ["viewer", "operator", "admin"],
  "connector:write": ["admin"],
  "connector_proxy:execute": ["admin"],
  "connector_action:execute": ["operator", "admin", "service"],
  "connector_action:read": ["viewer", "operator", "admin", "service"],
  "connector_trigger:delete": ["admin"],
  "connector_trigger:read": ["viewer", "operator", "admin"],
  "connector_trigger:write": ["operator", "admin"],
  "decision:read": ["viewer", "operator", "admin", "service"],
  "discovery:read": everybody,
  "dlq:delete": ["admin"],
  "dlq:read": ["viewer", "operator", "admin"],
  "dlq:write": ["operator", "admin"],
  "entitlement:read": ["viewer", "operator", "admin", "service"],
  "entitlement:write": ["admin"],
  "environment:delete": ["admin"],
  "environment:read": everybody,
  "environment:write": ["operator", "admin"],
  "event:read": ["viewer", "operator", "admin", "service"],
  "event:write": ["operator", "admin", "service"],
  "explanation:read": ["viewer", "operator", "admin", "service"],
  "history:read": ["viewer", "operator", "admin"],
  "invoice:read": ["viewer", "operator", "admin"],
  "invoice:write": ["admin"],
  "evidence:export": ["viewer", "operator", "admin"],
  "evidence:read": ["viewer", "operator", "admin", "service", "promotion_approver"],
  "evidence:rotate": ["admin"],
  "evidence:run": ["operator", "admin", "service"],
  "evidence:write": ["operator", "admin"],
  "experiment:assign": ["operator", "admin", "service"],
  "experiment:read": ["viewer", "operator", "admin", "service"],
  "experiment:score": ["operator", "admin", "service"],
  "experiment:write": ["operator", "admin"],
  "layout:read": ["viewer", "operator", "admin", "service", "notification_admin"],
  "layout:write": ["operator", "admin", "notification_admin"],
  "marketplace:install": ["operator", "admin"],
  "marketplace:publish": ["admin"],
  "marketplace:read": ["viewer", "operator", "admin"],
  "marketplace:trust": ["admin"],
  "member:delete": ["admin"],
  "member:read": ["viewer", "operator", "admin"],
  "member:write": ["admin"],
  "meter:read": ["viewer", "operator", "admin"],
  "meter:write": ["admin"],
  "notification:admin": ["admin", "notification_admin"],
  "notification:read": ["viewer", "operator", "admin", "service", "notification_admin"],
  "notification:simulate": ["admin", "notification_admin"],
  "notification:write": ["operator", "admin", "service", "notification_admin"],
  "operational_health:read": ["viewer", "operator", "admin"],
  "outcome:read": ["viewer", "operator", "admin", "service"],
  "outcome:write": ["operator", "admin", "service"],
  "plan:read": ["viewer", "operator", "admin"],
  "plan:write": ["admin"],
  "pool:delete": ["admin"],
  "pool:read": ["viewer", "operator", "admin", "service"],
  "pool:write": ["operator", "admin"],
  "promotion:approve": ["admin", "promotion_approver"],
  "promotion:read": ["viewer", "operator", "admin", "promotion_approver", "promotion_waiver"],
  "promotion:waive": ["admin", "promotion_waiver"],
  "promotion:write": ["operator", "admin"],
  "provider_config:read": ["viewer", "operator", "admin"],
  "provider_config:write": ["admin"],
  "queue:read": ["viewer", "operator", "admin", "service"],
  "queue:write": ["operator", "admin"],
  "recipient:delete": ["admin"],
  "recipient:read": ["viewer", "operator", "admin", "service"],
  "recipient:write": ["operator", "admin"],
  "route:write": ["operator", "admin", "service"],
  "rule:delete": ["admin"],
  "rule:read": ["viewer", "operator", "admin"],
  "rule:write": ["operator", "admin"],
  "schedule:delete": ["admin"],
  "schedule:read": ["viewer", "operator", "admin"],
  "schedule:write": ["operator", "admin"],
  "secret:access": ["admin", "secret_manager"],
  "secret:delete": ["admin", "secret_manager"],
  "secret:read": ["admin", "secret_manager"],
  "secret:write": ["admin", "secret_manager"],
  "sso:delete": ["admin"],
  "sso:read": ["viewer", "operator", "admin"],
  "sso:write": ["admin"],
  "tenant:create": ["admin"],
  "tenant:delete": ["admin"],
  "tenant:read": ["viewer", "operator", "admin"],
  "tenant:write": ["admin"],
  "usage:read": ["viewer", "operator", "admin"],
  "usage:write": ["operator", "admin", "service"],
  "webhook:delete": ["admin"],
  "webhook:read": ["viewer", "operator", "admin"],
  "webhook:write": ["operator", "admin"],
  "work:read": ["viewer", "operator", "admin", "service"],
  "work:write": ["operator", "admin", "service"],
  "workflow_definition:read": ["viewer", "operator", "admin", "service"],
  "workflow_definition:write": ["operator", "admin"],
  "workflow_dlq:purge": ["admin"],
  "workflow_dlq:read": ["viewer", "operator", "admin"],
  "workflow_dlq:write": ["operator", "admin"],
  "workflow_run:approve": ["operator", "admin", "workflow_approver"],
  "workflow_run:read": ["viewer", "operator", "admin", "service", "workflow_approver"],
  "workflow_run:write": ["operator", "admin", "service"],
  "workflow_stream:hold": ["admin"],
  "workflow_stream:read": ["viewer", "operator", "admin", "service"],
  "workflow_stream:write": ["operator", "admin", "service"],
  "workflow_task:read": ["viewer", "operator", "admin", "service"],
  "workflow_task:write": ["operator", "admin", "service"],
  "workflow_trigger:delete": ["admin"],
  "workflow_trigger:read": ["viewer", "operator", "admin"],
  "workflow_trigger:write": ["operator", "admin"],
};

const roles = Object.keys(roleGrants);

test("the table lists exactly the scopes that operations require", () => {
  // A waiver is a field of an operation that others may use without it.
  const asked = new Set(["promotion:waive", ...readOperations().flatMap((operation) => [...operation.scopes])]);
  assert.deepEqual(Object.keys(table).sort(), [...asked].sort());
});

for (const [scope, holders] of Object.entries(table)) {
  test(`${scope} is granted by ${holders.join(", ")} and by no other role`, () => {
    for (const role of roles) {
      assert.equal(covers(grantedScopes([role], []), scope), holders.includes(role), role);
    }
  });
}

test("a scope is covered by itself, by the wildcard of its resource or action, and by *:*", () => {
  const cases: [granted: string, wanted: string, covered: boolean][] = [
    ["pool:read", "pool:read", true],
    ["pool:read", "pool:write", false],
    ["pool:read", "pools:read", false],
    ["pool:*", "pool:write", true],
    ["pool:*", "pool2:write", false],
    ["*:read", "pool:read", true],
    ["*:read", "pool:write", false],
    ["*:*", "pool:write", true],
    ["*:*", "secret:read", true],
    ["*:*", "*:*", true],
    // `*:read` does not cover secrets.
    ["*:read", "secret:read", false],
    ["*:access", "secret:access", false],
    ["secret:read", "secret:read", true],
    // A required wildcard needs the same or a wider wildcard.
    ["pool:read", "pool:*", false],
    ["*:read", "*:*", false],
    ["*:read", "*:read", true],
    ["pool:*", "*:read", false],
    ["secret:*", "secret:*", true],
    ["*:*", "secret:*", true],
  ];
  for (const [granted, wanted, covered] of cases) {
    assert.equal(covers(new Set([granted]), wanted), covered, `${granted} and ${wanted}`);
  }
});

test("additional scopes never reduce coverage, and no scopes cover nothing", () => {
  const part = fc.constantFrom("*", "pool", "secret", "event", "read", "write");
  const scope = fc.tuple(part, part).map(([resource, action]) => `${resource}:${action}`);
  fc.assert(
    fc.property(fc.array(scope), fc.array(scope), scope, (few, more, wanted) => {
      assert.equal(covers(new Set(), wanted), false);
      if (covers(new Set(few), wanted)) assert.ok(covers(new Set([...few, ...more]), wanted));
    }),
  );
});

test("a caller that may grant a role has every scope of that role", () => {
  const given = fc.subarray(roles);
  fc.assert(
    fc.property(given, given, (own, gifts) => {
      const scopes = grantedScopes(own, []);
      const beyond = roleBeyond({ roles: own, scopes }, gifts);
      const gained = grantedScopes(gifts, []);
      if (beyond === undefined)
        for (const scope of Object.keys(table)) assert.ok(!covers(gained, scope) || covers(scopes, scope));
      else assert.ok(gifts.includes(beyond));
    }),
  );
});

test("an unknown role grants nothing, even if its name is a property of Object.prototype", () => {
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty", "ADMIN", ""]) {
    assert.deepEqual([...grantedScopes([name], [])], []);
    assert.equal(unknownRole(["viewer", name]), 1);
  }
  assert.equal(unknownRole(roles), -1);
});

test("a caller that is restricted to some environments cannot use others", () => {
  const may = (environmentMode: Principal["environmentMode"], key: string) =>
    mayUseEnvironment({ environmentMode } as Principal, key);
  const cases = [
    ["any", true, true],
    ["production_only", true, false],
    ["non_production_only", false, true],
  ] as const;
  for (const [mode, production, other] of cases) {
    assert.equal(may(mode, "production"), production);
    for (const key of ["staging", "Production", "productions", ""]) assert.equal(may(mode, key), other);
  }
});
