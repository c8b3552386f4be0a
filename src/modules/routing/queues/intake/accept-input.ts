import type { TenantId } from "../../../../platform/access/index.ts";
import { type Fragment, lines, type Sql } from "../../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { type ConstraintKind, constraintKinds, type ItemGroups, type OwnedGroup } from "../../admission/index.ts";
import type { ItemDependencies } from "../domain/dependency.ts";
import { rankOf } from "../domain/queue-item.ts";
import type { ItemRetry } from "../domain/retry-policy.ts";

export interface DecisionRow {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly type: string;
  readonly key: string;
  readonly attributesJson: string;
  readonly requirementsJson: string;
  readonly payloadJson: string;
  readonly priority: number;
  readonly outcome: string;
  readonly recipientId: string;
  /** In hexadecimal. */
  readonly snapshotDigest: string;
  readonly seed: number;
  readonly evidenceJson: string;
}

/** The queue item that a decision creates. */
export interface ItemRow {
  readonly recipientId: string;
  /** undecided: the rules have not been applied yet, and until then the item cannot be leased. */
  readonly delivery: "pull" | "push" | "none" | "undecided";
  readonly state: "pending" | "held" | "ready" | "leased";
  /** The seconds of waiting that one point of priority is worth. */
  readonly ageingS: number;
  /** For a decision-only item: how long it counts as in flight. */
  readonly leaseS?: number | undefined;
  /** When the item is due, by the deciding node's clock; returned to the caller. */
  readonly dueAtMs: number | undefined;
  /** How long the item is held from now on, by the database's clock. */
  readonly heldForMs?: number | undefined;
  /** The item cannot be leased before this time, by the database's clock. */
  readonly notBeforeMs?: number | undefined;
  readonly holdReason: string;
  readonly expiresAtMs: number;
  readonly ownTtl: boolean;
  readonly groups: ItemGroups;
  /** The groups among them that limit leasing; they are created on first use. */
  readonly limitGroups: readonly OwnedGroup[];
  /** The unfinished items that it waits for; undefined for none. */
  readonly dependencies?: ItemDependencies | undefined;
  /** Its own retries; undefined if it follows its pool. */
  readonly retry?: ItemRetry | undefined;
}

/** An event about an item, written in the same statement. */
export interface ItemEventRow {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One call's rows. All are written, or none when the call's idempotency key was used before. */
export interface AcceptedBatch {
  readonly rows: readonly {
    readonly decision: DecisionRow;
    /** The item's priority after rules were applied. */
    readonly priority: number;
    readonly item: ItemRow | undefined;
    readonly events: readonly ItemEventRow[];
  }[];
  readonly record: IdempotencyRecord | undefined;
}

export type InputRow = AcceptedBatch["rows"][number];

/** The optional columns of a statement. Columns that no item uses are left out. */
export interface Shape {
  /** Whether some item needs the optional columns, for example because it is not ready. Few items do. */
  readonly unusual: boolean;
  /** The kinds of groups that items are in. */
  readonly kinds: readonly ConstraintKind[];
  /** Whether some item waits for others. */
  readonly dependent: boolean;
  /** Whether some item is offered to its recipient. */
  readonly offered: boolean;
  /** Whether some item has its own retries. */
  readonly retried: boolean;
}

export function shapeOf(rows: readonly InputRow[]): Shape {
  return {
    unusual: !rows.every(isUsual),
    kinds: constraintKinds.filter((kind) => rows.some(({ item }) => item !== undefined && item.groups[kind] !== "")),
    dependent: rows.some(({ item }) => item?.dependencies !== undefined),
    offered: rows.some(({ item }) => item?.holdReason === "offer"),
    retried: rows.some(({ item }) => item?.retry !== undefined),
  };
}

function isUsual({ decision, priority, item }: InputRow): boolean {
  if (item === undefined || item.state !== "ready" || item.ownTtl) return false;
  return item.recipientId === decision.recipientId && priority === decision.priority;
}

type Cell = string | number | boolean | undefined;

/** A column of the input: its name, and its value in a row. Undefined and "" are null. No value contains a line break. */
type Column = readonly [name: string, value: (row: InputRow, nth: number) => Cell];

const decided = (name: string, value: (decision: DecisionRow) => Cell): Column => [
  name,
  ({ decision }) => value(decision),
];
const queued = (name: string, value: (item: ItemRow) => Cell): Column => [name, ({ item }) => item && value(item)];

/** Columns in which most rows of a statement differ. */
const ownColumns: readonly Column[] = [
  decided("id", ({ id }) => id),
  decided("attributes", ({ attributesJson }) => attributesJson),
  decided("payload", ({ payloadJson }) => payloadJson),
  decided("seed", ({ seed }) => seed),
  decided("evidence", ({ evidenceJson }) => evidenceJson),
  ["rank", ({ decision, item, priority }) => item && rankOf(ulidMs(decision.id), priority, item.ageingS)],
  queued("expires_at_ms", ({ expiresAtMs }) => expiresAtMs),
];

/** Columns that have the same value for the items of one pool. */
const poolColumns: readonly Column[] = [
  decided("tenant_id", ({ tenantId }) => tenantId),
  decided("pool_id", ({ poolId }) => poolId),
  decided("snapshot_digest", ({ snapshotDigest }) => snapshotDigest),
];

/** Columns that have the same value for usual items of any pool. */
const usualColumns: readonly Column[] = [
  decided("requirements", ({ requirementsJson }) => requirementsJson),
  decided("priority", ({ priority }) => priority),
  decided("outcome", ({ outcome }) => outcome),
  decided("decided_for", ({ recipientId }) => recipientId),
  queued("state", ({ state }) => state),
  queued("delivery", ({ delivery }) => delivery),
];

const unusualColumns: readonly Column[] = [
  queued("recipient_id", ({ recipientId }) => recipientId),
  ["item_priority", ({ priority }) => priority],
  queued("held_for_ms", ({ heldForMs }) => heldForMs),
  queued("not_before_ms", ({ notBeforeMs }) => notBeforeMs),
  queued("hold_reason", ({ holdReason }) => holdReason),
  queued("own_ttl", ({ ownTtl }) => ownTtl),
  queued("lease_s", ({ leaseS }) => leaseS),
];

const resumeColumn = queued("resume", ({ dependencies }) => dependencies && JSON.stringify(dependencies.resume));
const retryColumn = queued("retry", ({ retry }) => retry && JSON.stringify(retry));

/**
 * The input rows, sent by column. A list costs PostgreSQL time for the column and for each row, so unused columns are left out,
 * and columns in which all rows agree are sent as one value. They are compared in sets, so that there are few different
 * statements. Only type and key, which callers choose freely, may contain a line break. The batch is sent if calls have keys.
 */
export function inputRows(
  sql: Sql,
  rows: readonly InputRow[],
  batchIndices: readonly number[] | undefined,
  { unusual, kinds, dependent, retried }: Shape,
): Fragment {
  const sets = [poolColumns, usualColumns];
  if (batchIndices !== undefined) sets.push([["batch", (_row, nth) => batchIndices[nth]]]);
  // There is no row if every call repeats an earlier one.
  const [first] = rows;
  const common = first === undefined ? [] : sets.filter((columns) => columns.every((column) => isCommon(rows, column)));
  const listed = [
    ...ownColumns,
    ...sets.filter((columns) => !common.includes(columns)).flat(),
    ...kinds.map((kind) => queued(`${kind}_group`, ({ groups }) => groups[kind])),
    ...(unusual ? unusualColumns : []),
    ...(dependent ? [resumeColumn] : []),
    ...(retried ? [retryColumn] : []),
  ];
  const single = (value: Cell) => (value === undefined || value === "" ? null : String(value));
  return sql`
    select ${each(sql, common.flat(), ([name, value]) => sql`${single(value(first!, 0))}::text as ${sql(name)},`)} listed.*
    from rows from (
      unnest(${rows.map(({ decision }) => decision.type)}::text[]),
      unnest(${rows.map(({ decision }) => decision.key)}::text[])
      ${each(sql, listed, ([, value]) => sql`, string_to_table(${lines(rows, value)}, E'\\n', '')`)}
    ) as listed(type, key ${each(sql, listed, ([name]) => sql`, ${sql(name)}`)})`;
}

function isCommon(rows: readonly InputRow[], [, value]: Column): boolean {
  const first = value(rows[0]!, 0);
  return rows.every((row, nth) => value(row, nth) === first);
}

function each(sql: Sql, columns: readonly Column[], part: (column: Column) => Fragment): Fragment {
  return columns.reduce((before, column) => sql`${before}${part(column)}`, sql``);
}
