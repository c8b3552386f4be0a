import { hash as digest } from "node:crypto";
import { canonicalJson } from "../crypto/index.ts";
import type { NumberedEntry } from "./entry.ts";

/** Sequence number and hash of the last entry. */
export interface Head {
  readonly seq: number;
  /** Empty in a file without a hash chain. */
  readonly hash: string;
}

/** The `prev_hash` of the first entry in a chain. */
export const genesisHash = "0".repeat(64);

/** The head before the first entry. */
export const genesis: Head = { seq: 0, hash: genesisHash };

/** SHA-256 in hex of the previous entry's hash and the canonical JSON of the entry without its own hash. */
export function entryHash(prevHash: string, entryWithoutHash: object): string {
  return digest("sha256", prevHash + canonicalJson(entryWithoutHash), "hex");
}

/** The line of an entry (without its line break) and the head after it. */
export function chainLine(entry: NumberedEntry, head: Head): { line: string; head: Head } {
  const linked = { ...entry, prev_hash: head.hash };
  const hash = entryHash(head.hash, linked);
  return { line: JSON.stringify({ ...linked, hash }), head: { seq: entry.seq, hash } };
}

/** Parses and verifies one line on its own; returns its head, or a description of the fault. */
export function parseLine(line: string): { head: Head; prevHash: string; entry: Record<string, unknown> } | string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line);
  } catch {
    return "not JSON";
  }
  if (entry === null || typeof entry !== "object" || Array.isArray(entry)) return "not an entry";
  const { hash, ...linked } = entry;
  if (!Number.isSafeInteger(linked.seq)) return "no sequence number";
  if (typeof hash !== "string" || typeof linked.prev_hash !== "string") return "not chained";
  // The hash covers only values. This covers their serialisation, such as duplicate members, which parsers treat differently.
  if (JSON.stringify(entry) !== line) return "not serialised as it was written";
  if (entryHash(linked.prev_hash, linked) !== hash) return "its hash does not match its content";
  return { head: { seq: linked.seq as number, hash }, prevHash: linked.prev_hash, entry };
}
