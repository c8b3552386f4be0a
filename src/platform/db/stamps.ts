import type { Connections } from "./database.ts";
import { lockFor } from "./locks.ts";

/** The server that stamps belong to: what readers of the log need to know of it. */
export interface StampServer {
  /** The time when PostgreSQL started. Timelines change only at a start, or at the promotion of a server that wrote nothing before. */
  readonly startedAt: string;
  readonly era: number;
  /** Whether the rows came from another server, so that the era was raised above all of theirs. */
  readonly isMoved: boolean;
}

interface Stored {
  readonly server: string;
  readonly startedAt: string;
  readonly eraOffset: number;
  readonly era: number;
}

/** Above all eras that a failover has begun and no node has stored. */
const eraStep = 16;

/**
 * Prepares the stamps of this server (migrations/0001_kernel.sql): raises the era if the rows were restored from another server,
 * and stores the era as a constant of this start of the server. Costs one statement when there is nothing to do. The era is also
 * raised above `highest`, a stamp that was found in a row.
 */
export function prepareStamps(db: Pick<Connections, "transaction">, highest = 0n): Promise<StampServer> {
  return db.transaction(async (tx) => {
    await lockFor(tx, "stamps");
    const [row] = await tx<
      { server: string; startedAt: string; timeline: number; xmax: string; stored: Stored | null }[]
    >`
      select system_identifier::text as server, pg_postmaster_start_time()::text as "startedAt",
        ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint::float8 as timeline,
        txid_snapshot_xmax(txid_current_snapshot())::text as xmax,
        (select value from instance where name = 'stamps') as stored
      from pg_control_system()`;
    const { server, startedAt, timeline, xmax, stored } = row!;
    const highestEra = Number(highest >> 44n);
    const known = (stored?.eraOffset ?? 0) + timeline;
    const isForeign = stored !== null && (stored.server !== server || known < stored.era);
    const isMoved = isForeign || highestEra > known || (highestEra === known && highest % (1n << 44n) >= BigInt(xmax));
    const era = isMoved ? Math.max(stored?.era ?? 0, highestEra) + eraStep : known;
    const eraOffset = era - timeline;
    if (!isMoved && stored?.startedAt === startedAt && stored.era === era) return { startedAt, era, isMoved };
    const value: Stored = { server, startedAt, eraOffset, era };
    await tx`
      insert into instance (name, value) values ('stamps', ${tx.json(value)})
      on conflict (name) do update set value = excluded.value`;
    await tx.unsafe(`
      create or replace function stamp_base() returns bigint language sql stable
        return case when pg_postmaster_start_time() = '${startedAt}' then ${BigInt(era) << 44n} else read_stamp_base() end`);
    return { startedAt, era, isMoved };
  });
}
