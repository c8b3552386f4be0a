import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterFile } from "../harness/after-file.ts";

/** A program of a README, with what it prints. */
export interface ReadmeSample {
  /** The heading of its section. */
  readonly title: string;
  readonly code: string;
  readonly output: string;
}

/** Reads the programs of a README in one language. Each has an output. */
export function readSamples(file: string, language: string): ReadmeSample[] {
  const readme = readFileSync(file, "utf8");
  const samples = readme.split(/^## /m).flatMap((section) => {
    const title = section.slice(0, section.indexOf("\n"));
    const found = section.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\`\n\n\`\`\`text\n(.*?)\`\`\``, "gs"));
    return [...found].map(([, code, output]) => ({ title, code: code!, output: output! }));
  });
  assert.equal(samples.length, readme.split(`\`\`\`${language}\n`).length - 1, "every sample has an output");
  return samples;
}

/** Runs a program and checks what it prints. Workers are stopped when they have printed `shipped`. */
export async function runSample({ code, output }: ReadmeSample, command: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(command[0]!, command.slice(1), { env });
  afterFile(() => child.kill("SIGKILL"));
  let printed = "";
  // A worker runs until it is stopped. Its last line follows the signal.
  let isEndless = /^(await runWorkers\(\[worker\], \{ drainMs|run_workers\()/m.test(code);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (isEndless && printed.includes("shipped")) isEndless = !child.kill("SIGTERM");
    });
  }
  const [exitCode] = await once(child, "close");
  assert.equal(printed, output);
  assert.equal(exitCode, 0);
}
