// Makes the npm package that others install: node scripts/package.mjs [folder]
// The folder (dist/package by default) gets what `npm pack` and `npm publish` take; its path is printed.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundlePackage } from "./service-bundle.mjs";

const root = join(import.meta.dirname, "..");
const folder = resolve(process.argv[2] ?? join(root, "dist/package"));
/** What the service reads at run time, besides its bundle. */
const files = [
  "migrations",
  "connectors/packs",
  "connectors/providers",
  "gen/connectors",
  "console/dist",
  "docs/guides",
  "docs/runbooks",
  "config/development.yaml",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  ...globSync("src/**/assets", { cwd: root }),
];

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, "bin"), { recursive: true });
const bundled = await bundlePackage(folder);
for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true });
for (const file of globSync("scripts/package/*.mjs", { cwd: root })) copyProgram(file);
writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), bundled.map(licenseOf).join("\n"));
writeJson("package.json", manifest());
writeJson("npm-shrinkwrap.json", shrinkwrap());
console.log(folder);

function copyProgram(file) {
  const target = join(folder, "bin", file.split("/").at(-1));
  cpSync(join(root, file), target);
  chmodSync(target, 0o755);
}

function manifest() {
  const { private: _, scripts, devDependencies, dependencies, ...rest } = read("package.json");
  const { GITHUB_REPOSITORY, GITHUB_SERVER_URL } = process.env;
  return {
    ...rest,
    bin: { switchyard: "bin/switchyard.mjs", service: "bin/service.mjs" },
    // The bundle has all others.
    dependencies: { bcrypt: dependencies.bcrypt, node: dependencies.node },
    // A registry compares the provenance of a release with this address.
    ...(GITHUB_REPOSITORY && {
      repository: { type: "git", url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git` },
    }),
    publishConfig: { access: "public", provenance: true },
    build: { commit: commit(), date: builtAt() },
  };
}

/** The locked versions of the packages that npm installs, so that an installation is the one that was tested. */
function shrinkwrap() {
  const { packages, ...rest } = read("package-lock.json");
  const { name, version, license, dependencies, optionalDependencies, bin, engines } = manifest();
  const needed = {};
  const add = (names) => {
    for (const path of Object.keys(names ?? {}).map((each) => `node_modules/${each}`)) {
      if (needed[path] !== undefined || packages[path] === undefined) continue;
      needed[path] = packages[path];
      add(packages[path].dependencies);
      add(packages[path].optionalDependencies);
    }
  };
  add({ ...dependencies, ...optionalDependencies });
  const top = { name, version, license, dependencies, optionalDependencies, bin, engines };
  return { ...rest, packages: { "": top, ...needed } };
}

/** The license of a package whose code is in the bundle. */
function licenseOf(bundledFolder) {
  const { name, version, license } = read(join(bundledFolder, "package.json"));
  const [file] = globSync("{LICENSE,LICENCE,License,license}*", { cwd: join(root, bundledFolder) });
  const text = file === undefined ? "" : `\n${readFileSync(join(root, bundledFolder, file), "utf8").trim()}\n`;
  return `${name} ${version} (${license})\n${text}\n${"-".repeat(80)}\n`;
}

/** The commit of this clone; a build that sees only the files is told by SOURCE_COMMIT. */
function commit() {
  if (process.env.SOURCE_COMMIT) return process.env.SOURCE_COMMIT;
  const { stdout, status } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "unknown";
}

/** Now, or the time that makes a repeated build the same: https://reproducible-builds.org/specs/source-date-epoch */
function builtAt() {
  const { SOURCE_DATE_EPOCH } = process.env;
  return (SOURCE_DATE_EPOCH === undefined ? new Date() : new Date(Number(SOURCE_DATE_EPOCH) * 1000)).toISOString();
}

function read(name) {
  return JSON.parse(readFileSync(join(root, name), "utf8"));
}

function writeJson(name, value) {
  writeFileSync(join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`);
}
