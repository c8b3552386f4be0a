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

/** How a PostgreSQL program is started so that it does not see itself as root, which it refuses to be. */
export interface ServerUser {
  /** Comes before the program on its command line. */
  readonly prefix: readonly string[];
  readonly id: { readonly uid: number; readonly gid: number } | undefined;
  /** What a program that is started inside a folder calls this folder. */
  nameOf(folder: string): string;
}

const nobody = { uid: 65534, gid: 65534 };
const namespace = ["unshare", "--user", `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, "--"];

/** Chooses the user for a cluster: ourselves, ourselves under another name, or, as the last resort, another user. */
export function serverUser(cluster: string, options: { userNamespaces: boolean }): ServerUser {
  if (process.geteuid?.() !== 0) return { prefix: [], id: undefined, nameOf: (folder) => folder };
  if (process.platform !== "linux") {
    throw fail("FAILED_PRECONDITION", { public: "PostgreSQL does not run as root: start as an ordinary user." });
  }
  const owner = statSync(cluster, { throwIfNoEntry: false });
  // Data of an ordinary user stays theirs: one start with sudo must not lock them out.
  if (owner && owner.uid !== 0) return another({ uid: owner.uid, gid: owner.gid });
  // In a namespace of its own, root is "nobody" to the program and still root to every folder.
  if (options.userNamespaces && spawnSync(namespace[0]!, [...namespace.slice(1), "true"]).status === 0) {
    return { prefix: namespace, id: undefined, nameOf: (folder) => folder };
  }
  if (owner) giveTo(cluster, nobody);
  return another(nobody);
}

function another(id: { uid: number; gid: number }): ServerUser {
  // The folders above stay root's, closed to this user and so to everything else that runs under it. The program is
  // put inside before it stops being root, and this name of its working folder needs no way in from above.
  return { prefix: [], id, nameOf: () => "/proc/self/cwd" };
}

/** Gives a folder and all that is in it to a user; the folder itself last, so that an interrupted change is repeated. */
function giveTo(folder: string, id: { uid: number; gid: number }): void {
  for (const path of readdirSync(folder, { recursive: true }) as string[])
    lchownSync(join(folder, path), id.uid, id.gid);
  lchownSync(folder, id.uid, id.gid);
}

/** The PostgreSQL installation that this user can run: the given one, or a copy of it kept in `store`. */
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
