import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Io } from "../../src/cli/io.ts";
import { run } from "../../src/cli/run.ts";

/** What a command left behind. */
export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** What a test may choose of the process that a command believes to run in. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly input?: string;
}

const home = mkdtempSync(join(tmpdir(), "switchyard-cli-"));
after(() => rmSync(home, { recursive: true, force: true }));

/** Runs a command line within this process, in a home of the test file's own. */
export async function cli(words: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const out: Buffer[] = [];
  const err: string[] = [];
  const io: Io = {
    env: { HOME: home, ...surroundings.env },
    terminal: surroundings.terminal ?? false,
    columns: surroundings.columns ?? Number.POSITIVE_INFINITY,
    out: (chunk) => void out.push(Buffer.from(chunk)),
    err: (chunk) => void err.push(chunk),
    input: async () => surroundings.input ?? "",
  };
  const exitCode = await run(words, io);
  return { exitCode, out: Buffer.concat(out).toString(), err: err.join("") };
}
