import type { KeyedCall } from "../../../../chain/call.ts";
import { createBatcher, type Database, type Sql } from "../../../../platform/db/index.ts";
import { claim, keyName, usedKeys } from "../../../../platform/idempotency/index.ts";
import type { Quotas, QuotaTake } from "../../../tenancy/index.ts";
import { type Reporting, reportsOf } from "../delivery/delivery-report.ts";
import { keepParcels, type Parcel } from "../delivery/delivery-store.ts";

/** The operation that triggers are counted as. */
export const triggerQuota = "notification.trigger";

/** A trigger that is to be kept, and how many its tenant may have in a day; undefined for any number. */
export interface CountedParcel {
  readonly parcel: Parcel;
  readonly quota: number | undefined;
}

/** What became of it. duplicate: its key was used before. over_quota: the day's quota is used up. */
type Written = "kept" | "duplicate" | "over_quota";

interface Parts {
  readonly db: Database;
  readonly reporting: Reporting;
  readonly quotas: Pick<Quotas, "takeIn" | "isUsedUp" | "exceeded">;
}

/**
 * Keeps triggers, each together with what it takes from its tenant's quota. The global lock order is quota rows first,
 * then idempotency keys, then everything else.
 */
export type TriggerWriter = ReturnType<typeof createTriggerWriter>;

/** Makes this node's writer of triggers. */
export function createTriggerWriter({ db, reporting, quotas }: Parts) {
  const batcher = createBatcher<CountedParcel, Written>({
    lanes: 2,
    async flush(inputs) {
      if (inputs.some(({ parcel, quota }) => quota !== undefined || hasFailed(parcel))) {
        const { written, committed } = await db.transaction((tx) => keepIn(tx, inputs));
        committed();
        return written;
      }
      const parcels = inputs.map(({ parcel }) => parcel);
      const refused = await keepParcels(db.sql, parcels);
      const kept = parcels.filter((_, at) => !refused.has(at));
      reporting.count(kept.flatMap(({ tenantId, rows }) => reportsOf(tenantId, rows)));
      return parcels.map((_, at) => (refused.has(at) ? "duplicate" : "kept"));
    },
  });

  /** Keeps triggers in a transaction, with what they take from quotas and the events that tell of failures. */
  async function keepIn(
    tx: Sql,
    inputs: readonly CountedParcel[],
  ): Promise<{ written: Written[]; committed: () => void }> {
    const counted = inputs.filter(({ quota }) => quota !== undefined);
    const { granted, remember, giveBack } = await quotas.takeIn(tx, counted.map(takeOf));
    const over = new Set(counted.filter((_, at) => !granted[at]));
    const within = inputs.filter((input) => !over.has(input));
    const refused = await keepParcels(
      tx,
      within.map(({ parcel }) => parcel),
    );
    const duplicates = new Set(within.filter((_, at) => refused.has(at)));
    await giveBack([...duplicates].filter(({ quota }) => quota !== undefined).map(takeOf));
    const kept = within.filter((input) => !duplicates.has(input));
    const reports = kept.flatMap(({ parcel: { tenantId, rows } }) => reportsOf(tenantId, rows));
    const told = await reporting.record(tx, reports);
    return {
      written: inputs.map((input) => (over.has(input) ? "over_quota" : duplicates.has(input) ? "duplicate" : "kept")),
      committed() {
        remember();
        told.wake();
        reporting.count(reports);
      },
    };
  }

  /** Refuses what goes over the quota, unless it is a repeat: that is answered as the first was. */
  async function refuse(sql: Sql, quota: number, keyed: KeyedCall | undefined): Promise<"duplicate"> {
    if (keyed !== undefined && (await usedKeys(sql, [keyed.claim])).has(keyName(keyed.claim))) return "duplicate";
    throw quotas.exceeded({ operation: triggerQuota, limit: quota });
  }

  return {
    /** Refuses a trigger early whose quota is known to be used up; "duplicate" for a repeat. */
    async check(
      tenantId: Parcel["tenantId"],
      quota: number | undefined,
      keyed: KeyedCall | undefined,
    ): Promise<"duplicate" | "within"> {
      if (quota === undefined || !quotas.isUsedUp({ tenantId, operation: triggerQuota, limit: quota })) return "within";
      return refuse(db.sql, quota, keyed);
    },

    /** Keeps a trigger, many in one statement; throws QUOTA_EXCEEDED, and keeps nothing then. */
    async keep(input: CountedParcel, keyed: KeyedCall | undefined): Promise<"kept" | "duplicate"> {
      const written = await batcher.run(input);
      return written === "over_quota" ? refuse(db.sql, input.quota!, keyed) : written;
    },

    /**
     * Takes one from the quota and claims the key in the transaction of the effect. Throws QUOTA_EXCEEDED when none is
     * left; a duplicate takes nothing.
     */
    async admitIn(
      tx: Sql,
      tenantId: Parcel["tenantId"],
      quota: number | undefined,
      keyed: KeyedCall | undefined,
    ): Promise<"admitted" | "duplicate"> {
      const takes =
        quota === undefined ? [] : [{ tenantId, operation: triggerQuota, limit: quota, count: 1 } satisfies QuotaTake];
      const { granted, giveBack } = await quotas.takeIn(tx, takes);
      if (granted.includes(false)) return refuse(tx, quota!, keyed);
      if (keyed === undefined || (await claim(tx, keyed.claim))) return "admitted";
      await giveBack(takes);
      return "duplicate";
    },

    /** Keeps one trigger in a transaction, uncounted; what it answers with is to be called after the commit. */
    async keepUncountedIn(tx: Sql, parcel: Parcel): Promise<() => void> {
      return (await keepIn(tx, [{ parcel, quota: undefined }])).committed;
    },
  };
}

function takeOf({ parcel, quota }: CountedParcel): QuotaTake {
  return { tenantId: parcel.tenantId, operation: triggerQuota, limit: quota!, count: 1 };
}

function hasFailed({ rows }: Parcel): boolean {
  return rows.some(({ status }) => status === "failed");
}
