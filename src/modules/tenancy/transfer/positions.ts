import type { Sql } from "../../../platform/db/index.ts";
import { quoted, stampColumns } from "../../../platform/db/move/stored-tables.ts";
import { snapshotColumns, type TenantTable } from "./tenant-tables.ts";

/** The stamps of one era that the rows of a tenant contain. */
interface EraRange {
  readonly first: string;
  readonly last: string;
}

/** Every era of a running installation begins above this, so that imported positions are older than whatever it writes. */
const positionMax = 1n << 44n;

/**
 * Numbers the stamps of a tenant anew, in the same order, from 1: the eras follow each other without the gaps between them. Stamps
 * compare transactions of one installation; these numbers are valid in each.
 */
export async function createPositions(sql: Sql, tables: readonly TenantTable[]) {
  const ranges = await readRanges(sql, tables);
  let end = 0n;
  const cases = ranges.map(({ first, last }) => {
    const shift = BigInt(first) - end - 1n;
    end += BigInt(last) - BigInt(first) + 2n;
    return (stamp: string) => `when ${stamp} <= ${last} then ${stamp} - ${shift}`;
  });
  if (end >= positionMax) throw new Error("The stamps of the tenant do not fit into one era.");
  // A tenant that has been quiet for long may have no stamp.
  const positionOf = (stamp: string) =>
    `case ${cases.map((toCase) => toCase(stamp)).join(" ") || "when false then 0"} end`;
  return (table: string, column: string): string | undefined => {
    const value = `t.${quoted(column)}`;
    const { snapshots, stamps } = columnsOf(tables.filter(({ name }) => name === table));
    if (stamps.some((each) => each.column === column)) return positionOf(value);
    if (!snapshots.some((each) => each.column === column)) return undefined;
    const [xmin, xmax] = [1, 2].map((part) => positionOf(`split_part(${value}, ':', ${part})::bigint`));
    const running = `string_to_table(nullif(split_part(${value}, ':', 3), ''), ',') with ordinality as running(stamp, nth)`;
    const list = `(select string_agg((${positionOf("stamp::bigint")})::text, ',' order by nth) from ${running})`;
    return `concat(${xmin}, ':', ${xmax}, ':', ${list})`;
  };
}

function columnsOf(tables: readonly TenantTable[]) {
  const snapshots = tables.flatMap(({ name, columns }) =>
    columns.filter((column) => snapshotColumns.has(column)).map((column) => ({ table: name, column })),
  );
  return { snapshots, stamps: stampColumns(tables) };
}

/** The stamps of each era, lowest first. */
async function readRanges(sql: Sql, tables: readonly TenantTable[]): Promise<EraRange[]> {
  const { snapshots, stamps } = columnsOf(tables);
  const rowsOf = (table: string) => `from ${quoted(table)} t where ${tables.find(({ name }) => name === table)!.where}`;
  const selects = [
    ...stamps.map(({ table, column }) => `select t.${quoted(column)} as stamp ${rowsOf(table)}`),
    ...snapshots.flatMap(({ table, column }) =>
      [1, 2].map((part) => `select split_part(t.${quoted(column)}, ':', ${part})::bigint ${rowsOf(table)}`),
    ),
  ];
  return sql.unsafe<EraRange[]>(`
    select min(stamp)::text as first, max(stamp)::text as last from (${selects.join(" union all ")}) used
    where stamp is not null group by stamp >> 44 order by min(stamp)`);
}
