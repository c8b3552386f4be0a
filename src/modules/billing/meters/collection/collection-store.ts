import type { Sql } from "../../../../platform/db/index.ts";

/** How far a meter of the service is counted. */
export interface Progress {
  readonly countedUntil: Date;
  readonly settledUntil: Date;
}

/** The SQL queries of the collection of the service's own usage. */
export function collectionStore(sql: Sql) {
  return {
    /** Reads the progress of a meter and locks it until the transaction ends. A new meter starts at the given time. */
    async lock(meterKey: string, start: Date): Promise<Progress> {
      await sql`
        insert into billing_collections (meter_key, counted_until, settled_until)
        values (${meterKey}, ${start}, ${start}) on conflict do nothing`;
      const [row] = await sql<Progress[]>`
        select counted_until, settled_until from billing_collections where meter_key = ${meterKey} for update`;
      return row!;
    },

    async move(meterKey: string, { countedUntil, settledUntil }: Progress): Promise<void> {
      await sql`
        update billing_collections set counted_until = ${countedUntil}, settled_until = ${settledUntil}
        where meter_key = ${meterKey}`;
    },

    /** The time up to which all given meters are counted, and counted for the last time; undefined before the first. */
    async watermark(meterKeys: readonly string[]): Promise<Progress | undefined> {
      const [row] = await sql<{ meters: number; countedUntil: Date; settledUntil: Date }[]>`
        select count(*)::int as meters, min(counted_until) as counted_until, min(settled_until) as settled_until
        from billing_collections where meter_key = any(${meterKeys as string[]})`;
      return row!.meters < meterKeys.length ? undefined : row;
    },
  };
}
