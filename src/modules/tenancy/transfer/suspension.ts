import type { Database, TenantChanges } from "../../../platform/db/index.ts";
import { findTenant } from "./tenant-export.ts";

/** A tenant that is suspended for a move. */
export interface Suspension {
  /** The status before. */
  readonly status: "active" | "suspended";
  /** Makes the tenant active again, if it was before. */
  undo(): Promise<void>;
}

/** Suspends a tenant, so that no call and no background work changes it while it is exported. */
export async function suspendForMove(
  db: Database,
  changes: Pick<TenantChanges, "record" | "published">,
  name: string,
): Promise<Suspension> {
  const { id } = await findTenant(db.sql, name);

  const change = (from: string, to: string) =>
    db.transaction(async (tx) => {
      const { count } = await tx`
        update tenants set status = ${to}, updated_at = now(), record_version = record_version + 1
        where id = ${id} and status = ${from}`;
      if (count === 0) return false;
      await changes.record(tx, id);
      tx.afterCommit(() => changes.published(id));
      return true;
    });

  const isChanged = await change("active", "suspended");
  return {
    status: isChanged ? "active" : "suspended",
    async undo() {
      if (isChanged) await change("suspended", "active");
    },
  };
}
