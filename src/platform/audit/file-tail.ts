import { hash as digest } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Failure, fail } from "../../errors/index.ts";
import { genesis, type Head, readLine } from "./chain.ts";

/** Bytes of the longest line that is ever written. */
export const lineBytesMax = 64 * 1024;

/** Where an existing file ends. */
export interface FileTail {
  readonly head: Head;
  readonly sizeBytes: number;
  /** Bytes after the last line end: a write that a crash cut short, never acknowledged. */
  readonly torn: { readonly bytes: number; readonly sha256: string } | undefined;
}

/**
 * Reads the end of an audit file, to continue it.
 *
 * A torn last line is expected after a crash and is reported. A last whole line that does not verify is not: somebody
 * altered it, and continuing would bury that. So the file is refused until an operator has moved it aside.
 */
export async function readTail(file: FileHandle, path: string, chained: boolean): Promise<FileTail> {
  const { size } = await file.stat();
  const start = Math.max(0, size - 3 * lineBytesMax);
  const window = Buffer.alloc(size - start);
  for (let at = 0; at < window.length; ) {
    const { bytesRead } = await file.read(window, at, window.length - at, start + at);
    if (bytesRead === 0) throw refuse(path, "it shrank while it was read");
    at += bytesRead;
  }
  const wholeEnd = window.lastIndexOf(10) + 1;
  const rest = window.subarray(wholeEnd);
  if (wholeEnd === 0 && start > 0) throw refuse(path, "its last line is longer than any that is ever written");
  const torn = rest.length === 0 ? undefined : { bytes: rest.length, sha256: digest("sha256", rest, "hex") };
  if (wholeEnd === 0) return { head: genesis, sizeBytes: size, torn };

  const lineStart = window.lastIndexOf(10, wholeEnd - 2) + 1;
  const line = window.toString("utf8", lineStart, wholeEnd - 1);
  return { head: chained ? chainedHead(line, path) : plainHead(line, path), sizeBytes: size, torn };
}

function chainedHead(line: string, path: string): Head {
  const read = readLine(line);
  if (typeof read !== "string") return read.head;
  if (read === "not chained") throw refuse(path, "it was written with audit.hash_chain off");
  throw refuse(path, `its last line does not verify (${read})`);
}

function plainHead(line: string, path: string): Head {
  let entry: { seq?: unknown; hash?: unknown };
  try {
    entry = JSON.parse(line);
  } catch {
    throw refuse(path, "its last line is not JSON");
  }
  if (entry.hash !== undefined) throw refuse(path, "it was written with audit.hash_chain on");
  if (!Number.isSafeInteger(entry.seq)) throw refuse(path, "its last line has no sequence number");
  return { seq: entry.seq as number, hash: "" };
}

function refuse(path: string, why: string): Failure {
  return fail("FAILED_PRECONDITION", {
    public: `The audit file ${path} cannot be continued: ${why}. Keep it as evidence, move it aside and start again.`,
  });
}
