/** Records: the fields that every stored record has, and how they look in messages. */
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";

/** What every record carries. */
export interface Stamps {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly recordVersion: number;
}

/** The stamps of a new record. */
export function newStamps(nowMs: number): Stamps {
  const now = new Date(nowMs);
  return { createdAt: now, updatedAt: now, recordVersion: 1 };
}

/** The stamps as messages carry them. */
export function stampFields({ createdAt, updatedAt, recordVersion }: Stamps) {
  return {
    createdAt: timestampFromDate(createdAt),
    updatedAt: timestampFromDate(updatedAt),
    recordVersion: BigInt(recordVersion),
  };
}

/** A time that may be absent, as messages carry it. */
export function optionalTime(time: Date | null | undefined): Timestamp | undefined {
  return time === null || time === undefined ? undefined : timestampFromDate(time);
}

/** The moment that a message names, cut to the millisecond: rounded up, the last one of 9999 would lie outside. */
export function dateOf({ seconds, nanos }: Timestamp): Date {
  return new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000));
}

const versionMax = 2 ** 31 - 1;

/** The version that a conditional update names; undefined for an unconditional one. */
export function expectedVersion(recordVersion: bigint | undefined): number | undefined {
  if (recordVersion === undefined) return undefined;
  // One that no record can have is no version of any, and must not reach the database as a number too large for it.
  return recordVersion < 0n || recordVersion > versionMax ? -1 : Number(recordVersion);
}

/** The names of the fields that a change sets. */
export function changedFields(change: object): string[] {
  return Object.entries(change).flatMap(([field, value]) => (value === undefined ? [] : [field]));
}

/** Whether a change sets no field at all. */
export function isEmptyChange(change: object): boolean {
  return changedFields(change).length === 0;
}

/** The name that stands for an enum's number; undefined for one that has none. */
export function nameOf<N extends string>(numbers: Readonly<Record<N, number>>, number: number): N | undefined {
  return (Object.keys(numbers) as N[]).find((name) => numbers[name] === number);
}
