import { readFileSync } from "node:fs";
import { usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Resolves a value that may be `@file` or, for stdin, `-`. A trailing newline is removed. */
export async function readSource(io: Io, named: string, value: string): Promise<string> {
  if (value === "-") return withoutLineEnd(await io.input());
  if (!value.startsWith("@")) return value;
  try {
    return withoutLineEnd(readFileSync(value.slice(1), "utf8"));
  } catch (cause) {
    throw unreadable(named, value.slice(1), cause);
  }
}

/** Reads a file. Its path may start with `@`, as for other options. */
export function readBytes(named: string, value: string): Buffer {
  const path = value.replace(/^@/, "");
  try {
    return readFileSync(path);
  } catch (cause) {
    throw unreadable(named, path, cause);
  }
}

/** Parses JSON from the command line. */
export function parseJsonText(named: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (cause) {
    throw usageError(`${named}: is not valid JSON: ${(cause as Error).message}`);
  }
}

function unreadable(named: string, path: string, cause: unknown) {
  const { code } = cause as NodeJS.ErrnoException;
  return usageError(`${named}: ${path} cannot be read (${code === "ENOENT" ? "there is no such file" : code})`);
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}
