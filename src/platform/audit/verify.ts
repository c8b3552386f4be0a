import { hash as digest } from "node:crypto";
import { createReadStream } from "node:fs";
import { genesis, parseLine } from "./chain.ts";
import { recoverOperation } from "./entry.ts";
import { lineBytesMax } from "./file-tail.ts";

/** The result of verifying an audit file. */
export interface AuditVerification {
  readonly ok: boolean;
  /** The number of verified entries. */
  readonly entries: number;
  /** Lines that were torn by a crash and recorded by the next start. */
  readonly recoveredLines: number;
  /** Bytes of a torn last line that no start has recorded yet. This is not an alteration. */
  readonly tornBytes: number;
  /** Sequence number and hash of the last valid entry. Stored elsewhere, it reveals later truncation. */
  readonly head: { readonly seq: number; readonly hash: string };
  readonly brokenAt?: { readonly line: number; readonly reason: string };
}

/**
 * Verifies a chained audit file from its first line to its last, in constant memory.
 *
 * It finds edits, deletions, insertions and swaps anywhere before the end. Truncation at the end leaves a shorter valid chain
 * and is found only by comparison with a head that was stored elsewhere.
 */
export async function verifyAudit(path: string): Promise<AuditVerification> {
  let head = genesis;
  let entries = 0;
  let recoveredLines = 0;
  let lineNumber = 0;
  let tornBytes = 0;
  // An invalid line is accepted only if the next entry records it as torn, with the same hash.
  let suspect: { line: number; reason: string; sha256: string } | undefined;
  const broken = (line: number, reason: string): AuditVerification => ({
    ok: false,
    entries,
    recoveredLines,
    tornBytes,
    head,
    brokenAt: { line, reason },
  });

  for await (const { bytes, ended } of readLines(path)) {
    if (!ended) {
      tornBytes = bytes.length;
      break;
    }
    lineNumber++;
    if (bytes.length > lineBytesMax) return broken(lineNumber, `longer than ${lineBytesMax} bytes`);
    const read = parseLine(bytes.toString("utf8"));
    if (typeof read === "string") {
      if (suspect !== undefined) return broken(suspect.line, suspect.reason);
      suspect = { line: lineNumber, reason: read, sha256: digest("sha256", bytes, "hex") };
      continue;
    }
    if (suspect !== undefined) {
      if (!isRecoveryOf(read.entry, suspect.sha256)) return broken(suspect.line, suspect.reason);
      recoveredLines++;
      suspect = undefined;
    }
    if (read.head.seq !== head.seq + 1) return broken(lineNumber, `entry ${read.head.seq} follows entry ${head.seq}`);
    if (read.prevHash !== head.hash) return broken(lineNumber, "its prev_hash does not match the previous entry");
    head = read.head;
    entries++;
  }
  if (suspect !== undefined) return broken(suspect.line, suspect.reason);
  return { ok: true, entries, recoveredLines, tornBytes, head };
}

function isRecoveryOf(entry: Record<string, unknown>, sha256: string): boolean {
  const details = entry.details as { torn_sha256?: unknown } | undefined;
  return entry.operation === recoverOperation && details?.torn_sha256 === sha256;
}

// Yields bytes, because a torn line may end inside a character. Part of an overlong line is yielded, to be refused.
async function* readLines(path: string): AsyncGenerator<{ bytes: Buffer; ended: boolean }> {
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
