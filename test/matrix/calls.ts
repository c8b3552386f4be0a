import type { Operation } from "../../src/definitions/index.ts";
import { type Json, operations } from "../harness/operations.ts";
import type { TestSql } from "../harness/postgres-server.ts";
import { type Caller, callOperation, type Outcome } from "../harness/wire.ts";

/** A tenant and its callers. */
export interface TenantFixture {
  readonly tenantId: string;
  readonly isPlatform: boolean;
  /** An admin key on the external plane. */
  readonly admin: Caller;
  /** A key without roles and scopes. */
  readonly nobody: Caller;
  /** A key with every scope and no role. */
  readonly roleless: Caller;
  /** A service token on the internal plane. */
  readonly service: Caller;
  /** An admin's browser session. */
  readonly person: Caller;
  /** The tenant's database, for records that no operation creates. */
  readonly sql: TestSql;
}

/** Values of valid requests that the definition does not determine, by operation. */
export type FixtureRequests = Readonly<Record<string, (tenant: TenantFixture) => Promise<Json> | Json>>;

/** Operations that only a person can call. */
const personal: ReadonlySet<string> = new Set(["service.api.PromotionService/ApproveCandidate"]);

/** The callers of an operation: an internal one is reachable only on the internal plane. */
export function callerFor(tenant: TenantFixture, { governance, id }: Operation): Caller {
  if (personal.has(id)) return tenant.person;
  return governance.internalOnly ? tenant.service : tenant.admin;
}

/** The operation with a given name, such as "PoolService/CreatePool". */
export function operationNamed(name: string): Operation {
  const found = operations.find(({ id }) => id === `service.api.${name}`);
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return found;
}

/** Calls an operation that must succeed. */
export async function must(named: Operation | string, tenant: TenantFixture, message: Json): Promise<Outcome> {
  const operation = typeof named === "string" ? operationNamed(named) : named;
  const outcome = await callOperation("REST", operation, callerFor(tenant, operation), message);
  if (outcome.code !== "OK") throw new Error(`${operation.id} returned ${outcome.text} to ${JSON.stringify(message)}`);
  return outcome;
}
