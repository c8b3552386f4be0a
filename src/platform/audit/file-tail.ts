import { hash as digest } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Failure, fail } from "../../errors/index.ts";
import { genesis, type Head, parseLine } from "./chain.ts";

/** The maximum length of a line in bytes. */
export const lineBytesMax = 64 * 1024;

/** The state at the end of an existing file. */
export interface FileTail {
  readonly head: Head;
  readonly sizeBytes: number;
  /** Bytes after the last line break: a write that was interrupted by a crash and never acknowledged. */
  readonly torn: { readonly bytes: number; readonly sha256: string } | undefined;
}

/**
 * Reads the end of an audit file in order to continue it.
 *
 * A torn last line is expected after a crash and is reported. A last complete line that does not verify was altered, and
 * continuing the file would hide that. Such a file is refused until an operator has moved it aside.
 */
export async function readTail(file: FileHandle, path: string, chained: boolean): Promise<FileTail> {
  const { size } = await file.stat();
  const start = Math.max(0, size - 3 * lineBytesMax);
  const window = Buffer.alloc(size - start);
  for (let at = 0; at < window.length; ) {
    const { bytesRead } = await file.read(window, at, window.length - at, start + at);
    if (bytesRead === 0) throw refusal(path, "it shrank while it was read");
    at += bytesRead;
  }
  const wholeEnd = window.lastIndexOf(10) + 1;
  const rest = window.subarray(wholeEnd);
  if (wholeEnd === 0 && start > 0) throw refusal(path, `its last line is longer than ${lineBytesMax} bytes`);
  const torn = rest.length === 0 ? undefined : { bytes: rest.length, sha256: digest("sha256", rest, "hex") };
  if (wholeEnd === 0) return { head: genesis, sizeBytes: size, torn };

  const lineStart = window.lastIndexOf(10, wholeEnd - 2) + 1;
  const line = window.toString("utf8", lineStart, wholeEnd - 1);
  return { head: chained ? chainedHead(line, path) : plainHead(line, path), sizeBytes: size, torn };
}

function chainedHead(line: string, path: string): Head {
  const read = parseLine(line);
  if (typeof read !== "string") return read.head;
  if (read === "not chained") throw refusal(path, "it was written with audit.hash_chain off");
  throw refusal(path, `its last line does not verify (${read})`);
}

function plainHead(line: string, path: string): Head {
  let entry: { seq?: unknown; hash?: unknown };
  try {
    entry = JSON.parse(line);
  } catch {
    throw refusal(path, "its last line is not JSON");
  }
  if (entry.hash !== undefined) throw refusal(path, "it was written with audit.hash_chain on");
  if (!Number.isSafeInteger(entry.seq)) throw refusal(path, "its last line has no sequence number");
  return { seq: entry.seq as number, hash: "" };
}

function refusal(path: string, why: string): Failure {
  return fail("FAILED_PRECONDITION", {
    public: `The audit file ${path} cannot be continued: ${why}. Keep it as evidence, move it aside and start again.`,
  });
}
