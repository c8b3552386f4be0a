import { inEnvironment, nameSource } from "../name-source.ts";

/** Shows a row to callers that may use the environment of its pool. */
const byPool = (poolId: string) => (inProduction: boolean) =>
  `(
  select (e.key = 'production') = ${inProduction}
  from pools p join environments e on e.tenant_id = p.tenant_id and e.id = p.environment_id
  where p.tenant_id = t.tenant_id and p.id = ${poolId})`;

const inPool = { parent: "pool_id", isVisible: byPool("t.pool_id") };
const item = {
  ...inPool,
  name: "case when key = '' then type else type || ' · ' || key end",
  isAmbiguous: "key = ''",
};

/** The names of what routing works with. Removed recipients and archived pools keep theirs. */
export const routingNames = [
  nameSource("pool", "pool:read", "pools", {
    isVisible: byPool("t.id"),
    key: { column: "name", exists: "status <> 'archived'" },
  }),
  nameSource("recipient", "recipient:read", "recipients", inPool),
  nameSource("rule", "rule:read", "rules", inPool),
  nameSource("schedule", "schedule:read", "routing_schedules", { ...inEnvironment, key: { column: "name" } }),
  nameSource("queue_item", "queue:read", "(select * from all_items where delivery <> 'none')", item),
  nameSource("decision", "decision:read", "decisions", item),
  nameSource("bulk_operation", "queue:read", "bulk_operations", {
    name: "initcap(action)",
    parent: "pool_id",
    isAmbiguous: "true",
    ...inEnvironment,
  }),
];
