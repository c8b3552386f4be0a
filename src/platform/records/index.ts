/**
 * Records: the fields that every stored record has, the usual statements of their tables, and their conversion to messages.
 *
 * stamps: the time of creation, the time of the last update, and the record version.
 * record table: a table that is declared by its columns; inserts, reads, versioned updates and lists follow from them.
 */
import { isDeepStrictEqual } from "node:util";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { invalid } from "../../errors/index.ts";
import { snakeCase } from "../text/index.ts";

export { createMessageConverter, type Plain } from "./plain.ts";
export { recordTable } from "./record-table.ts";

/** The fields that every record has. */
export interface Stamps {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly recordVersion: number;
}

export function newStamps(nowMs: number): Stamps {
  const now = new Date(nowMs);
  return { createdAt: now, updatedAt: now, recordVersion: 1 };
}

/** The fields of a change that are given. */
export function definedFields<T extends object>(change: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as never;
}

/** Converts an optional time to a message field. */
export function optionalTime(time: Date | null | undefined): Timestamp | undefined {
  return time === null || time === undefined ? undefined : timestampFromDate(time);
}

/** Converts a timestamp to a date. It is truncated to milliseconds, because rounding up could leave the valid range of years. */
export function dateOf({ seconds, nanos }: Timestamp): Date {
  return new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000));
}

const weekMs = 7 * 86_400_000;
/** The earliest time that a response can contain. */
const earliestMs = Date.parse("0001-01-01T00:00:00Z");

/** The time range of a request: until now and from a week before, unless it says otherwise. Throws if it is empty. */
export function timeRangeOf(request: { readonly from?: Timestamp; readonly until?: Timestamp }, nowMs: number) {
  const until = request.until === undefined ? new Date(nowMs) : dateOf(request.until);
  const weekBefore = new Date(Math.max(until.getTime() - weekMs, earliestMs));
  const from = request.from === undefined ? weekBefore : dateOf(request.from);
  if (from >= until) throw invalid("from", "order", "must be before until");
  return { from, until };
}

const versionMax = 2 ** 31 - 1;

/** The version that a conditional update expects; undefined for an unconditional update. */
export function expectedVersion(recordVersion: bigint | undefined): number | undefined {
  if (recordVersion === undefined) return undefined;
  // An out-of-range version matches no record. It must not reach the database, where it would overflow the column's type.
  return recordVersion < 0n || recordVersion > versionMax ? -1 : Number(recordVersion);
}

/** The names of the fields that a change sets. */
export function changedFields(change: object): string[] {
  return Object.entries(change).flatMap(([field, value]) => (value === undefined ? [] : [field]));
}

/** The API names of those fields that a change sets to other values. */
export function differingFields<F extends string>(
  current: Readonly<Record<F, unknown>>,
  change: Readonly<Partial<Record<F, unknown>>>,
  fields: readonly F[],
): string[] {
  const isOther = (field: F) => change[field] !== undefined && !isDeepStrictEqual(change[field], current[field]);
  return fields.filter(isOther).map(snakeCase);
}

/** Whether a change sets no field at all. */
export function isEmptyChange(change: object): boolean {
  return changedFields(change).length === 0;
}

/** The numbers of an enum's values by their names in the domain: in lower case, and empty for an unspecified value. */
export function enumNumbers<E extends Readonly<Record<string, string | number>>>(values: E) {
  const named = Object.entries(values).filter(([, number]) => typeof number === "number");
  return Object.fromEntries(
    named.map(([name, number]) => [name === "UNSPECIFIED" ? "" : name.toLowerCase(), number]),
  ) as { readonly [K in keyof E as K extends "UNSPECIFIED" ? "" : Lowercase<K & string>]: E[K] };
}

/** The name of an enum number; undefined for an unspecified or unknown number. */
export function nameOf<N extends string>(
  numbers: Readonly<Record<N, number>>,
  number: number,
): Exclude<N, ""> | undefined {
  return ((Object.keys(numbers) as N[]).find((name) => numbers[name] === number) as Exclude<N, "">) || undefined;
}
