// npm run bench -- <name> [--seconds 5] [--rounds 3]: measures side by side, prints a table and JSON.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";

const here = import.meta.dirname;
const names = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(`${here}/${entry.name}/bench.mjs`))
  .map(({ name }) => name);
const name = process.argv[2];
if (!names.includes(name)) {
  process.stderr.write(`Which one? npm run bench -- ${names.join(" | ")}\n`);
  process.exit(2);
}
const option = (flag, fallback) => {
  const at = process.argv.indexOf(`--${flag}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
// Peers are not part of the product, so they are installed only in this folder, again whenever their versions change.
const changedMs = (file) => statSync(`${here}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (changedMs("node_modules/.package-lock.json") < changedMs("package-lock.json")) {
  execFileSync("npm", ["ci"], { cwd: here, stdio: "inherit" });
}

const { bench, defaults = { seconds: 5, rounds: 3 } } = await import(`./${name}/bench.mjs`);
const options = ["seconds", "rounds", "items"].map((flag) => [flag, option(flag, defaults[flag])]);
const result = await bench(Object.fromEntries(options));
mkdirSync(`${here}/results`, { recursive: true });
writeFileSync(`${here}/results/${name}.json`, `${JSON.stringify(result, null, 2)}\n`);
console.log(`\n${JSON.stringify(result)}`);
