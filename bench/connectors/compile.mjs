// The time to compile manifests, in a process of its own: the first compilation of a node is a cold one.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { compileManifest } from "../../src/modules/connectors/manifests/index.ts";

const run = promisify(execFile);
const folder = new URL("../../gen/connectors/", import.meta.url);
const manifests = 60;

export async function measureCompile(rounds) {
  const results = [];
  for (let round = 0; round < rounds; round++) {
    results.push(JSON.parse((await run(process.execPath, [import.meta.filename, "measure"])).stdout));
  }
  const middle = (name) => results.map((each) => each[name]).toSorted((a, b) => a - b)[results.length >> 1];
  return { manifests, coldMs: middle("coldMs"), warmMs: middle("warmMs"), warmCpuMs: middle("warmCpuMs") };
}

if (process.argv[2] === "measure") {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const documents = Array.from({ length: manifests }, (_, at) => {
    const { document } = JSON.parse(readFileSync(new URL(names[at % names.length], folder), "utf8"));
    return JSON.stringify(document);
  });
  const compileAll = () => {
    const startedAt = performance.now();
    for (const text of documents) {
      if (compileManifest(JSON.parse(text)).provider === undefined) throw new Error("a manifest is invalid");
    }
    return performance.now() - startedAt;
  };
  const coldMs = compileAll();
  for (let nth = 0; nth < 5; nth++) compileAll();
  const before = process.cpuUsage();
  const warmMs = compileAll();
  const { user, system } = process.cpuUsage(before);
  // On a busy machine only the CPU time says what the work costs.
  console.log(JSON.stringify({ coldMs, warmMs, warmCpuMs: (user + system) / 1000 }));
}
