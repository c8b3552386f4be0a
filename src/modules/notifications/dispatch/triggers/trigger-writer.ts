import type { Message } from "@bufbuild/protobuf";
import { createBatcher, type Database, type Sql } from "../../../../platform/db/index.ts";
import { isRecorded, type KeyedCall, withIdempotency } from "../../../../platform/idempotency/index.ts";
import type { QuotaRequest, Quotas } from "../../../tenancy/index.ts";
import { type DeliveryReporter, toReports } from "../delivery/delivery-report.ts";
import { type DeliveryBatch, insertDeliveries } from "../delivery/delivery-store.ts";

/** The quota operation that triggers count against. */
export const triggerQuota = "notification.trigger";

/** A trigger's deliveries and its tenant's daily quota of triggers; undefined for no limit. */
export interface MeteredBatch {
  readonly batch: DeliveryBatch;
  readonly quota: number | undefined;
}

/** A call that triggers, with its tenant's daily quota of triggers; undefined for no limit. */
interface Admission extends Pick<DeliveryBatch, "tenantId"> {
  readonly quota: number | undefined;
  readonly count: number;
  readonly keyed: KeyedCall | undefined;
}

/** The result of a write. duplicate: the key was already used. over_quota: the daily quota is used up. */
type WriteResult = "written" | "duplicate" | "over_quota";

interface Dependencies {
  readonly db: Database;
  readonly reporter: DeliveryReporter;
  readonly quotas: Pick<Quotas, "takeIn" | "isUsedUp" | "exceeded">;
}

/**
 * Stores triggers and charges them to their tenants' quotas. The global lock order is quota rows first, then idempotency
 * keys, then everything else.
 */
export type TriggerWriter = ReturnType<typeof createTriggerWriter>;

export function createTriggerWriter({ db, reporter, quotas }: Dependencies) {
  const batcher = createBatcher<MeteredBatch, WriteResult>({
    lanes: 2,
    async flush(inputs) {
      if (inputs.some(({ batch, quota }) => quota !== undefined || hasFailed(batch))) {
        return db.transaction((tx) => writeIn(tx, inputs));
      }
      const batches = inputs.map(({ batch }) => batch);
      const refused = await insertDeliveries(db.sql, batches);
      const accepted = batches.filter((_, at) => !refused.has(at));
      reporter.count(accepted.flatMap(({ tenantId, rows }) => toReports(tenantId, rows)));
      return batches.map((_, at) => (refused.has(at) ? "duplicate" : "written"));
    },
  });

  /** Stores triggers in a transaction, charges quotas and records failure events. */
  async function writeIn(tx: Sql, inputs: readonly MeteredBatch[]): Promise<WriteResult[]> {
    const counted = inputs.filter(({ quota }) => quota !== undefined);
    const { granted, remember, refund } = await quotas.takeIn(tx, counted.map(takeOf));
    const over = new Set(counted.filter((_, at) => !granted[at]));
    const within = inputs.filter((input) => !over.has(input));
    const refused = await insertDeliveries(
      tx,
      within.map(({ batch }) => batch),
    );
    const duplicates = new Set(within.filter((_, at) => refused.has(at)));
    await refund([...duplicates].filter(({ quota }) => quota !== undefined).map(takeOf));
    const accepted = within.filter((input) => !duplicates.has(input));
    const reports = accepted.flatMap(({ batch: { tenantId, rows } }) => toReports(tenantId, rows));
    await reporter.record(tx, reports);
    tx.afterCommit(remember);
    tx.afterCommit(() => reporter.count(reports));
    return inputs.map((input) => (over.has(input) ? "over_quota" : duplicates.has(input) ? "duplicate" : "written"));
  }

  /** Refuses a trigger that exceeds the quota, unless its key was already used: a repeat gets the first response. */
  async function refuse(sql: Sql, quota: number, keyed: KeyedCall | undefined): Promise<"duplicate"> {
    if (await isRecorded(sql, keyed)) return "duplicate";
    throw quotas.exceeded({ operation: triggerQuota, limit: quota });
  }

  return {
    /** Refuses a trigger early when its quota is known to be used up; "duplicate" for a repeat. */
    async check(
      tenantId: DeliveryBatch["tenantId"],
      quota: number | undefined,
      keyed: KeyedCall | undefined,
    ): Promise<"duplicate" | "within"> {
      if (quota === undefined || !quotas.isUsedUp({ tenantId, operation: triggerQuota, limit: quota })) return "within";
      return refuse(db.sql, quota, keyed);
    },

    /** Stores a trigger, batched with concurrent ones; throws QUOTA_EXCEEDED without storing anything. */
    async write(input: MeteredBatch, keyed: KeyedCall | undefined): Promise<"written" | "duplicate"> {
      const written = await batcher.run(input);
      return written === "over_quota" ? refuse(db.sql, input.quota!, keyed) : written;
    },

    /**
     * Charges the quota for a number of triggers and runs the work that stores them, once per idempotency key, in the caller's
     * transaction. Throws QUOTA_EXCEEDED when the quota is used up; a duplicate is not charged.
     */
    async admitIn<T extends { readonly response: Message }>(
      tx: Sql,
      { tenantId, quota, count, keyed }: Admission,
      work: () => Promise<T>,
    ): Promise<T | "duplicate"> {
      const takes: QuotaRequest[] =
        quota === undefined || count === 0 ? [] : [{ tenantId, operation: triggerQuota, limit: quota, count }];
      const { granted, refund } = await quotas.takeIn(tx, takes);
      if (granted.includes(false)) return refuse(tx, quota!, keyed);
      const done = await withIdempotency(tx, keyed, work);
      if (done === "duplicate") await refund(takes);
      return done;
    },

    /** Stores triggers in a transaction without charging a quota. */
    async writeUncountedIn(tx: Sql, batches: readonly DeliveryBatch[]): Promise<void> {
      const inputs = batches.map((batch) => ({ batch, quota: undefined }));
      if (inputs.length > 0) await writeIn(tx, inputs);
    },
  };
}

function takeOf({ batch, quota }: MeteredBatch): QuotaRequest {
  return { tenantId: batch.tenantId, operation: triggerQuota, limit: quota!, count: 1 };
}

function hasFailed({ rows }: DeliveryBatch): boolean {
  return rows.some(({ status }) => status === "failed");
}
