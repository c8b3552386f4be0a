import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { afterFile } from "../harness/after-file.ts";

/** A program of a document, with what it prints. */
export interface ReadmeSample {
  readonly name: string;
  readonly code: string;
  readonly output: string;
}

/** Reads the programs of a document in one language. Each has an output. */
export function readSamples(file: string, language: string): ReadmeSample[] {
  const document = readFileSync(file, "utf8");
  const samples = document.split(/^##? /m).flatMap((section) => {
    const title = section.slice(0, section.indexOf("\n"));
    const found = section.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\`\n\n\`\`\`text\n(.*?)\`\`\``, "gs"));
    return [...found].map(([, code, output]) => ({ title, code: code!, output: output! }));
  });
  assert.equal(samples.length, programsOf(document, language).length, "every sample has an output");
  const of = basename(file);
  return samples.map(({ title, ...sample }, at) => ({ ...sample, name: `sample ${at + 1} of ${of} (${title})` }));
}

/** Checks that a moved program has fewer lines than the original, which is in the same document. */
export function assertShorter(file: string, original: string, moved: string): void {
  const document = readFileSync(file, "utf8");
  const [before, after] = [original, moved].map(
    (language) =>
      programsOf(document, language)[0]!
        .split("\n")
        .filter((line) => line.trim() !== "").length,
  );
  assert.ok(after! < before!, `${after} lines instead of ${before}`);
}

function programsOf(document: string, language: string): string[] {
  return [...document.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, code]) => code!);
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
