import { notFound, type Sql } from "../db/index.ts";
import { requireEnvironmentAccess } from "./environment-access.ts";
import { type Principal, productionKey, type TenantId } from "./principal.ts";

/** An environment that a request refers to. */
export interface ReferredEnvironment {
  readonly id: string;
  readonly key: string;
  readonly mode: "live" | "sandbox";
  readonly status: "active" | "disabled";
}

interface Caller {
  readonly sql: Sql;
  readonly tenantId: TenantId;
  readonly principal: Principal;
}

/**
 * Finds an environment that is not deleted by its id or its key. No key looks like an id: keys are lower case, and ids are
 * upper case.
 */
export function findEnvironment(sql: Sql, tenantId: TenantId, idOrKey: string) {
  return sql<ReferredEnvironment[]>`
    select id, key, mode, status from environments
    where tenant_id = ${tenantId} and status <> 'deleted' and (id = ${idOrKey} or key = ${idOrKey})
    order by id = ${idOrKey} desc limit 1`.first();
}

/** Returns an environment by its id or key, production for an empty one. Throws if the caller may not use it. */
export async function requireEnvironment(caller: Caller, idOrKey: string): Promise<ReferredEnvironment> {
  const environment = await findEnvironment(caller.sql, caller.tenantId, idOrKey || productionKey);
  if (environment === undefined) throw notFound("environment");
  requireEnvironmentAccess(caller, environment.key);
  return environment;
}

/** The id of an environment by its id or its key. Empty stays empty. Throws if the caller may not use it. */
export async function requireEnvironmentId(caller: Caller, idOrKey: string): Promise<string> {
  return idOrKey === "" ? "" : (await requireEnvironment(caller, idOrKey)).id;
}

/**
 * The id that a filter of a list means by an id or a key. A reference to no environment stays as it is: it may be the id of a
 * deleted environment, whose records can still be listed. Empty stays empty.
 */
export async function environmentIdOf({ sql, tenantId }: Omit<Caller, "principal">, idOrKey: string): Promise<string> {
  if (idOrKey === "") return "";
  return (await findEnvironment(sql, tenantId, idOrKey))?.id ?? idOrKey;
}
