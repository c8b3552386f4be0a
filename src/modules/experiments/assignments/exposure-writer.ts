import { createBatcher, type Database, type Sql } from "../../../platform/db/index.ts";
import type { QuotaRequest, Quotas } from "../../tenancy/index.ts";
import {
  type Exposure,
  type ExposureKey,
  exposureName,
  insertExposures,
  type NewExposure,
  readExposures,
} from "./exposure-store.ts";

/** The quota operation that first exposures count against. */
export const assignQuota = "experiment.assign";

/** Exposures of one call, with the tenant's daily quota; undefined for no limit. */
export interface ExposureRequest {
  readonly exposures: readonly NewExposure[];
  readonly quota: number | undefined;
}

/** The stored exposures of a call by name, and how many of them are new; "over_quota" if nothing was stored. */
export type ExposureResult = { readonly stored: ReadonlyMap<string, Exposure>; readonly added: number } | "over_quota";

interface Dependencies {
  readonly db: Database;
  readonly quotas: () => Pick<Quotas, "takeIn">;
}

/** Stores and reads exposures, those of many calls per statement. */
export type ExposureWriter = ReturnType<typeof createExposureWriter>;

/** Creates the writer of this node. */
export function createExposureWriter({ db, quotas }: Dependencies) {
  const writes = createBatcher<ExposureRequest, ExposureResult>({
    lanes: 2,
    batchMax: 1000,
    concurrentMin: 64,
    weigh: ({ exposures }) => exposures.length,
    async flush(requests) {
      if (requests.every(({ quota }) => quota === undefined)) return store(db.sql, requests);
      const { results, remember } = await db.transaction((tx) => storeMetered(tx, requests));
      remember();
      return results;
    },
  });

  const reads = createBatcher<readonly ExposureKey[], ReadonlyMap<string, Exposure>>({
    lanes: 2,
    batchMax: 1000,
    weigh: (keys) => keys.length,
    async flush(requests) {
      const found = await readExposures(db.sql, requests.flat());
      return requests.map(() => found);
    },
  });

  async function store(sql: Sql, requests: readonly ExposureRequest[]): Promise<ExposureResult[]> {
    const { stored, added } = await insertExposures(
      sql,
      requests.flatMap(({ exposures }) => exposures),
    );
    const fresh = new Set(added);
    return requests.map(({ exposures }) => {
      // A unit that several calls expose is new for the first of them.
      const count = exposures.filter((each) => fresh.delete(exposureName(each))).length;
      return { stored, added: count };
    });
  }

  /** The global lock order is quota rows, then everything else. */
  async function storeMetered(tx: Sql, requests: readonly ExposureRequest[]) {
    const metered = requests.filter(({ quota }) => quota !== undefined);
    const { granted, remember, refund } = await quotas().takeIn(
      tx,
      metered.map((each) => takeOf(each)),
    );
    const over = new Set(metered.filter((_, at) => !granted[at]));
    const within = requests.filter((request) => !over.has(request));
    const stored = within.length === 0 ? [] : await store(tx, within);
    const results = new Map(within.map((request, at) => [request, stored[at]!]));
    const unused = metered.flatMap((request) => {
      const result = results.get(request);
      if (result === undefined || result === "over_quota") return [];
      const count = request.exposures.length - result.added;
      return count === 0 ? [] : [takeOf(request, count)];
    });
    await refund(unused);
    return { results: requests.map((request) => results.get(request) ?? ("over_quota" as const)), remember };
  }

  return {
    /** Commits first exposures, together with those of other calls. */
    write: (request: ExposureRequest): Promise<ExposureResult> => writes.run(request),

    /** Stores first exposures in the caller's transaction. */
    async writeIn(tx: Sql, request: ExposureRequest): Promise<{ readonly result: ExposureResult; remember(): void }> {
      const { results, remember } = await storeMetered(tx, [request]);
      return { result: results[0]!, remember };
    },

    /** Reads exposures, together with those of other calls. */
    read: (keys: readonly ExposureKey[]): Promise<ReadonlyMap<string, Exposure>> => reads.run(keys),

    /** Resolves when nothing is being stored or read. */
    async idle(): Promise<void> {
      await writes.idle();
      await reads.idle();
    },
  };
}

function takeOf({ exposures, quota }: ExposureRequest, count = exposures.length): QuotaRequest {
  return { tenantId: exposures[0]!.tenantId, operation: assignQuota, limit: quota!, count };
}
