// Runs the tests that kill processes, in their long form: node scripts/chaos.mjs [name …] [option of scripts/test.mjs …]
// A name selects the files whose path contains it (for example: failover).
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

const all = globSync([
  "test/chaos/*.test.ts",
  "test/chaos/long/failover.ts",
  "test/**/*crash*.test.ts",
  "test/prove/*.test.ts",
  "test/routing/limits.test.ts",
]).sort();
const names = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const options = process.argv.slice(2).filter((word) => word.startsWith("--"));
const files = all.filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
if (files.length === 0) {
  console.error(`No file has ${names.join(" or ")} in its path. There are:\n${all.join("\n")}`);
  process.exit(1);
}
const { status } = spawnSync(process.execPath, ["scripts/test.mjs", "--long", ...options, ...files], {
  stdio: "inherit",
});
process.exitCode = status ?? 1;
