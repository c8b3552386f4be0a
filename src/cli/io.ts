import { text } from "node:stream/consumers";

/** What a command sees of the process that it runs in. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a person reads the output. */
  readonly terminal: boolean;
  /** How wide the output may be. */
  readonly columns: number;
  out(text: string | Uint8Array): void;
  err(text: string): void;
  /** Everything that standard input holds. */
  input(): Promise<string>;
}

/** The io of this process. */
export function processIo(): Io {
  // Whoever reads only the beginning, such as head, is no error.
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
