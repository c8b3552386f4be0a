import type { Context } from "../../../chain/call.ts";
import { Failure } from "../../../errors/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";

/** Callers' operations on packs. */
type PackOperation = "publish" | "yank" | "export" | "preview" | "install" | "upgrade" | "rollback" | "uninstall";

export type MarketplaceMetrics = ReturnType<typeof createMarketplaceMetrics>;

export function createMarketplaceMetrics(metrics: Pick<Metrics, "counter">) {
  const operations = metrics.counter({
    name: "marketplace_operations_total",
    help: "Operations on packs of the marketplace, by outcome: ok, or the code of the error.",
    labels: ["operation", "outcome"],
  });
  const conflicts = metrics.counter({
    name: "marketplace_conflicts_total",
    help: "Conflicts between changes of tenants and of packs in upgrades, by what the caller chose.",
    labels: ["choice"],
  });
  return {
    /** Performs an operation and counts how it ended: once it is committed, or when it is refused. */
    async count<T>(operation: PackOperation, { afterCommit }: Pick<Context, "afterCommit">, action: () => Promise<T>) {
      try {
        const result = await action();
        const counted = () => operations.inc({ operation, outcome: "ok" });
        // Reads have no commit.
        if (operation === "preview" || operation === "export") counted();
        else afterCommit(counted);
        return result;
      } catch (error) {
        // Other errors have the transaction repeated, or are failures of the service that its request metrics count.
        if (error instanceof Failure) operations.inc({ operation, outcome: error.code });
        throw error;
      }
    },
    /** An upgrade found values that both the tenant and the pack changed. */
    conflicted: (choice: "refuse" | "keep" | "replace", count: number) => conflicts.inc({ choice }, count),
  };
}
