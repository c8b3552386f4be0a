import { hash as digest } from "node:crypto";
import { createReadStream } from "node:fs";
import { genesis, readLine } from "./chain.ts";
import { recoverOperation } from "./entry.ts";
import { lineBytesMax } from "./file-tail.ts";

/** What a check of an audit file found. */
export interface AuditVerdict {
  readonly ok: boolean;
  /** Entries that verified. */
  readonly entries: number;
  /** Lines that a crash tore and that the next start recorded. */
  readonly recoveredLines: number;
  /** Bytes of a torn last line that no start has recorded yet; not an alteration. */
  readonly tornBytes: number;
  /** Number and hash of the last good entry. Kept elsewhere, it shows later whether the end was cut off. */
  readonly head: { readonly seq: number; readonly hash: string };
  readonly brokenAt?: { readonly line: number; readonly reason: string };
}

/**
 * Checks a chained audit file from its first line to its last, in constant memory.
 *
 * Finds edits, deletions, insertions, swaps and cuts anywhere before the end. Lines cut off the very end leave a
 * shorter chain that is whole: only a head that was kept elsewhere shows them.
 */
export async function verifyAudit(path: string): Promise<AuditVerdict> {
  let head = genesis;
  let entries = 0;
  let recoveredLines = 0;
  let lineNumber = 0;
  let tornBytes = 0;
  // A line that does not read is forgiven only if the very next entry records it, hash and all.
  let suspect: { line: number; reason: string; sha256: string } | undefined;
  const broken = (line: number, reason: string): AuditVerdict => ({
    ok: false,
    entries,
    recoveredLines,
    tornBytes,
    head,
    brokenAt: { line, reason },
  });

  for await (const { bytes, ended } of linesOf(path)) {
    if (!ended) {
      tornBytes = bytes.length;
      break;
    }
    lineNumber++;
    if (bytes.length > lineBytesMax) return broken(lineNumber, "longer than any line that is ever written");
    const read = readLine(bytes.toString("utf8"));
    if (typeof read === "string") {
      if (suspect !== undefined) return broken(suspect.line, suspect.reason);
      suspect = { line: lineNumber, reason: read, sha256: digest("sha256", bytes, "hex") };
      continue;
    }
    if (suspect !== undefined) {
      if (!records(read.entry, suspect.sha256)) return broken(suspect.line, suspect.reason);
      recoveredLines++;
      suspect = undefined;
    }
    if (read.head.seq !== head.seq + 1) return broken(lineNumber, `entry ${read.head.seq} follows entry ${head.seq}`);
    if (read.prevHash !== head.hash) return broken(lineNumber, "its link does not fit the entry before");
    head = read.head;
    entries++;
  }
  if (suspect !== undefined) return broken(suspect.line, suspect.reason);
  return { ok: true, entries, recoveredLines, tornBytes, head };
}

function records(entry: Record<string, unknown>, sha256: string): boolean {
  const details = entry.details as { torn_sha256?: unknown } | undefined;
  return entry.operation === recoverOperation && details?.torn_sha256 === sha256;
}

// Bytes, not text: a torn line may end inside a character. A line beyond the bound is passed on in part, to be refused.
async function* linesOf(path: string): AsyncGenerator<{ bytes: Buffer; ended: boolean }> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(10, start); end !== -1; end = bytes.indexOf(10, start)) {
      yield { bytes: bytes.subarray(start, end), ended: true };
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > 4 * lineBytesMax) {
      yield { bytes: rest, ended: true };
      return;
    }
  }
  if (rest.length > 0) yield { bytes: rest, ended: false };
}
