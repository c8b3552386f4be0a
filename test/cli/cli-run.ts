import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io } from "../../src/cli/io.ts";
import { run } from "../../src/cli/run.ts";
import { afterFile } from "../harness/after-file.ts";

/** The result of a command: exit code and output. */
export interface CliResult {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** The parts of a command's process environment that a test can set. */
export interface CliEnvironment {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly input?: string;
}

let home: string | undefined;

/** The home directory of the current test file. */
function homeOfFile(): string {
  if (home === undefined) {
    const created = mkdtempSync(join(tmpdir(), "switchyard-cli-"));
    home = created;
    afterFile(() => {
      home = undefined;
      rmSync(created, { recursive: true, force: true });
    });
  }
  return home;
}

/** Runs a command line in this process, with a home directory for the test file. */
export async function cli(words: readonly string[], surroundings: CliEnvironment = {}): Promise<CliResult> {
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
