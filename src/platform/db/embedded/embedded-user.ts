import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fail } from "../../../errors/index.ts";

/** How a PostgreSQL program is started as a user other than root, because it refuses to run as root. */
export interface ServerUser {
  /** The command line prefix of the program. */
  readonly prefix: readonly string[];
  readonly id: { readonly uid: number; readonly gid: number } | undefined;
  /** The path of the working folder as the program sees it. */
  nameOf(folder: string): string;
}

const nobody = { uid: 65534, gid: 65534 };
const namespace = ["unshare", "--user", `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, "--"];

/** Chooses the user of a cluster: the current user, the current user in a user namespace, or as a last resort another user. */
export function serverUser(cluster: string, options: { userNamespaces: boolean }): ServerUser {
  if (process.geteuid?.() !== 0) return { prefix: [], id: undefined, nameOf: (folder) => folder };
  if (process.platform !== "linux") {
    throw fail("FAILED_PRECONDITION", { public: "PostgreSQL does not run as root: start as an ordinary user." });
  }
  const owner = statSync(cluster, { throwIfNoEntry: false });
  // Data of an ordinary user keeps its owner: one start with sudo must not lock the user out.
  if (owner && owner.uid !== 0) return another({ uid: owner.uid, gid: owner.gid });
  // In a user namespace, the program sees itself as "nobody" but keeps root's access to folders.
  if (options.userNamespaces && spawnSync(namespace[0]!, [...namespace.slice(1), "true"]).status === 0) {
    return { prefix: namespace, id: undefined, nameOf: (folder) => folder };
  }
  if (owner) giveTo(cluster, nobody);
  return another(nobody);
}

function another(id: { uid: number; gid: number }): ServerUser {
  // The parent folders stay accessible to root only, so other programs of this user cannot enter. The program enters the
  // folder before it drops root, and the relative path of its working folder needs no access to the parents.
  return { prefix: [], id, nameOf: () => "/proc/self/cwd" };
}

/** Changes the owner of a folder and its content. The folder itself comes last, so that an interrupted change is repeated. */
function giveTo(folder: string, id: { uid: number; gid: number }): void {
  for (const path of readdirSync(folder, { recursive: true }) as string[])
    lchownSync(join(folder, path), id.uid, id.gid);
  lchownSync(folder, id.uid, id.gid);
}

/** The PostgreSQL installation that this user can run: the given one, or a copy of it in `store`. */
export function reachable(native: string, user: ServerUser, store = "/var/lib/switchyard"): string {
  const runs = (folder: string) =>
    spawnSync(join(folder, "bin", "postgres"), ["--version"], { ...user.id, cwd: "/" }).status === 0;
  if (!user.id || runs(native)) return native;
  const version = spawnSync(join(native, "bin", "postgres"), ["--version"], { encoding: "utf8" }).stdout ?? "";
  const copy = join(store, version.trim().replaceAll(/[^\w.]+/g, "-") || basename(native));
  if (runs(copy)) return copy;
  mkdirSync(dirname(copy), { recursive: true });
  chmodSync(dirname(copy), 0o755);
  const temporary = mkdtempSync(`${copy}.`);
  try {
    cpSync(native, temporary, { recursive: true, verbatimSymlinks: true });
    spawnSync("chmod", ["-R", "u=rwX,go=rX", temporary]);
    rmSync(copy, { recursive: true, force: true });
    renameSync(temporary, copy);
  } catch (cause) {
    rmSync(temporary, { recursive: true, force: true });
    if (!runs(copy)) throw cause;
  }
  return copy;
}
