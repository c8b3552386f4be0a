import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io } from "../../src/cli/io.ts";
import { run } from "../../src/cli/run.ts";
import { afterFile } from "../harness/after-file.ts";

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

let home: string | undefined;

/** The home of the current test file. */
function homeOfFile(): string {
  if (home === undefined) {
    const made = mkdtempSync(join(tmpdir(), "switchyard-cli-"));
    home = made;
    afterFile(() => {
      home = undefined;
      rmSync(made, { recursive: true, force: true });
    });
  }
  return home;
}

/** Runs a command line within this process, in a home of the test file's own. */
export async function cli(words: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const out: Buffer[] = [];
  const err: string[] = [];
  const io: Io = {
    env: { HOME: homeOfFile(), ...surroundings.env },
    terminal: surroundings.terminal ?? false,
    columns: surroundings.columns ?? Number.POSITIVE_INFINITY,
    out: (chunk) => void out.push(Buffer.from(chunk)),
    err: (chunk) => void err.push(chunk),
    input: async () => surroundings.input ?? "",
  };
  const exitCode = await run(words, io);
  return { exitCode, out: Buffer.concat(out).toString(), err: err.join("") };
}
