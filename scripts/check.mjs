// Runs every static check.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBadVersions } from "./known-bad-versions.ts";

const steps = [
  ["generated code matches the definitions", checkGenerated],
  ["lint of the definitions", () => run("buf", ["lint"])],
  [
    "no breaking change to a released operation",
    () => run("buf", ["breaking", "--against", "definitions/released.binpb"]),
  ],
  ["the reference matches the definitions, settings and errors", () => run("node", ["scripts/docs.ts", "--check"])],
  ["the dashboards match their declaration", () => run("node", ["scripts/dashboards.ts", "--check"])],
  ["format and lint", () => run("biome", ["ci", "--error-on-warnings", "--colors=off"])],
  ["types", () => run("node", ["node_modules/typescript-native/bin/tsc", "-p", "."])],
  [
    "types of the client",
    () => run("node", ["node_modules/typescript-native/bin/tsc", "-p", "clients/typescript", "--noEmit"]),
  ],
  ["types of the console", () => run("node", ["node_modules/typescript-native/bin/tsc", "-p", "console"])],
  ["the built console matches its sources", checkConsole],
  ["import boundaries", checkBoundaries],
  ["no dead code", () => run("knip", [])],
  ["no package with known faults", () => findBadVersions(JSON.parse(readFileSync("package-lock.json", "utf8")))],
];

let failed = 0;
for (const [name, step] of steps) {
  const startedAt = performance.now();
  const problem = step();
  const took = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  process.stdout.write(`${problem === undefined ? "ok  " : "FAIL"} ${name} (${took})\n`);
  if (problem !== undefined) {
    process.stdout.write(`${problem}\n`);
    failed++;
  }
}
process.exitCode = failed === 0 ? 0 : 1;

/** Runs a tool and returns its output if it failed. */
function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", maxBuffer: 64 << 20 });
  if (error !== undefined) return String(error);
  return status === 0 ? undefined : `${stdout}${stderr}`;
}

function checkGenerated() {
  const fresh = mkdtempSync(join(tmpdir(), "switchyard-gen-"));
  try {
    execFileSync("node", ["scripts/generate.mjs", fresh], { stdio: "ignore" });
    const drift = ["gen", "clients/typescript/src/gen", "clients/python/switchyard/generated"]
      .map((folder) => run("git", ["diff", "--no-index", "--stat", folder, join(fresh, folder)]) ?? "")
      .join("");
    return drift === "" ? undefined : `Run npm run generate and commit the changes:\n${drift}`;
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

/** A clean build of the console must be byte-identical to the committed one, which nodes serve. */
function checkConsole() {
  const fresh = mkdtempSync(join(tmpdir(), "switchyard-console-"));
  try {
    execFileSync("node", ["scripts/console-build.mjs", fresh], { stdio: "inherit" });
    const drift = run("git", ["diff", "--no-index", "--stat", "console/dist", fresh]);
    return drift && `Run npm run console:build and commit the changes:\n${drift}`;
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

function checkBoundaries() {
  const { stdout, stderr } = spawnSync(
    "depcruise",
    ["src", "--config", ".dependency-cruiser.mjs", "--output-type", "json"],
    {
      encoding: "utf8",
      maxBuffer: 256 << 20,
    },
  );
  if (stdout === "") return stderr;
  const { summary } = JSON.parse(stdout);
  // With an unsupported TypeScript version the tool reads no files and reports no violation.
  if (summary.totalCruised < 100) return `only ${summary.totalCruised} modules were read`;
  const broken = summary.violations.filter(({ rule }) => rule.severity === "error");
  return broken.length === 0
    ? undefined
    : broken.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).join("\n");
}
