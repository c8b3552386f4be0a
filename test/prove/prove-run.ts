import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EvidenceReceipt } from "../../clients/typescript/src/index.ts";
import type { ProofReport } from "../../src/cli/prove/report.ts";
import { afterFile } from "../harness/after-file.ts";
import { nodeMain } from "../harness/node-process.ts";

/** A run of `service prove`. */
export interface ProveRun {
  readonly process: ChildProcess;
  /** The folder for all its temporary files. */
  readonly folder: string;
  /** Resolves with what it printed. */
  readonly ended: Promise<{ readonly exitCode: number | null; readonly out: string; readonly err: string }>;
}

interface Options {
  /** The CLI to run. */
  readonly main?: string;
  /** Environment variables for the run and its nodes. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `service prove` with a temporary folder of its own. */
export async function startProve(
  args: readonly string[],
  { main = nodeMain, env = {} }: Options = {},
): Promise<ProveRun> {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-test-prove-"));
  const child = spawn(process.execPath, [main, "prove", ...args], {
    env: { ...process.env, ...env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  afterFile(async () => {
    process.off("exit", kill);
    kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 20 });
  });
  const ended = Promise.all([
    child.stdout.setEncoding("utf8").toArray(),
    child.stderr.setEncoding("utf8").toArray(),
    once(child, "exit"),
  ]).then(([out, err, [exitCode]]) => ({ exitCode, out: out.join(""), err: err.join("") }));
  return { process: child, folder, ended };
}

/** Runs `service prove` to its end and reads its report. */
export async function prove(args: readonly string[], options?: Options) {
  const run = await startProve([...args, "--json"], options);
  const { exitCode, out, err } = await run.ended;
  if (!out.startsWith("{")) throw new Error(`There is no report: ${out}${err}`);
  return { exitCode, report: JSON.parse(out) as ProofReport & { receipt?: EvidenceReceipt }, folder: run.folder };
}
