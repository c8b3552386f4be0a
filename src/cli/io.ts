import { text } from "node:stream/consumers";

/** A command's access to its process. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether stdout is a terminal. */
  readonly terminal: boolean;
  /** The width of the terminal. */
  readonly columns: number;
  out(text: string | Uint8Array): void;
  err(text: string): void;
  /** Reads all of stdin. */
  input(): Promise<string>;
}

export function processIo(): Io {
  // A reader that closes the pipe early, such as head, is not an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  return {
    env: process.env,
    terminal: process.stdout.isTTY === true,
    columns: process.stdout.columns ?? Number.POSITIVE_INFINITY,
    out: (chunk) => void process.stdout.write(chunk),
    err: (chunk) => void process.stderr.write(chunk),
    input: () => text(process.stdin),
  };
}
