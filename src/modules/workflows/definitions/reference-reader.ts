import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { DefinitionLookups } from "./domain/language/checks/check-references.ts";
import type { Definition } from "./domain/language/definition.ts";
import { callName, callsOf, referencesOf } from "./domain/language/references.ts";
import { definitionsMax } from "./domain/workflow-definition.ts";
import { definitionStore } from "./store.ts";

/** Finds which of some names exist in a tenant. */
export type FindNames = (sql: Sql, tenantId: TenantId, names: readonly string[]) => Promise<ReadonlySet<string>>;

/** The other areas that definitions refer to. */
export interface ReferenceSources {
  /** Which of these names and ids belong to pools that are not archived, in any environment. */
  readonly findPools: FindNames;
  /** Which of these keys belong to notification workflows. */
  readonly findNotificationWorkflows: FindNames;
  /** Which of these keys belong to experiments, in any environment. */
  readonly findExperiments: FindNames;
  /** A connector action that a tenant can execute, or why it cannot. */
  readonly checkActionUse: (tenantId: TenantId, key: string) => Promise<ReturnType<DefinitionLookups["actionUse"]>>;
}

/** Reads everything that a definition refers to, with one query for each kind of reference. */
export async function readLookups(
  sql: Sql,
  tenantId: TenantId,
  definition: Definition,
  { findPools, findNotificationWorkflows, findExperiments, checkActionUse }: ReferenceSources,
): Promise<DefinitionLookups> {
  const references = referencesOf(definition);
  const pools = await findNames(findPools, references.pools);
  const workflows = await findNames(findNotificationWorkflows, references.notificationWorkflows);
  const experiments = await findNames(findExperiments, references.experiments);
  const actionUses = new Map<string, ReturnType<DefinitionLookups["actionUse"]>>();
  for (const { target } of references.actions) {
    if (!actionUses.has(target)) actionUses.set(target, await checkActionUse(tenantId, target));
  }
  const store = definitionStore(sql);
  const calls = callsOf(definition);
  const called = await store.reachable(tenantId, calls);
  const inputSchemas = await store.inputSchemas(tenantId, calls);
  const callsByName = new Map(called.map((each) => [callName(each), each.calls]));
  const activeByKey = new Map(called.map(({ key, activeVersion }) => [key, activeVersion]));
  const missing = references.subworkflows.some(({ target }) => !activeByKey.has(target.key));

  async function findNames(find: FindNames, wanted: readonly { target: string }[]): Promise<ReadonlySet<string>> {
    const names = [...new Set(wanted.map(({ target }) => target))];
    return names.length === 0 ? new Set() : find(sql, tenantId, names);
  }

  return {
    hasPool: (nameOrId) => pools.has(nameOrId),
    hasNotificationWorkflow: (key) => workflows.has(key),
    hasExperiment: (key) => experiments.has(key),
    actionUse: (key) => actionUses.get(key) ?? "absent",
    definitionState(key) {
      const active = activeByKey.get(key);
      if (active === undefined) return "absent";
      return active === 0 ? "unpublished" : "published";
    },
    callsOf: (call) => callsByName.get(callName(call)),
    inputSchemaOf: (call) => inputSchemas.get(callName(call)),
    knownKeys: missing ? await store.keys(tenantId, definitionsMax) : [],
  };
}
