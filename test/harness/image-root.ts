import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Starts a program with mounts of its own, which it may change as if it were root. */
const namespace = ["unshare", "--user", "--map-root-user", "--mount"] as const;

/** The start of a program in the unpacked files of an image. */
export interface ImageProcess {
  /** The unpacked image. */
  readonly root: string;
  readonly uid: number;
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Folders of this machine, by the paths at which the program sees them. */
  readonly mounts: Readonly<Record<string, string>>;
}

/** Why this machine cannot run a program in an image; undefined if it can. */
export async function whyNoNamespaces(): Promise<string | undefined> {
  return run(namespace[0], [...namespace.slice(1), "true"]).then(
    () => undefined,
    (error) => `This machine permits no user namespaces: ${(error.stderr || error.message).trim().split("\n")[0]}`,
  );
}

/**
 * Starts a program as a container engine would: it sees only the files of the image, which it cannot change, and the mounted folders, and
 * has an unprivileged user. It shares the network.
 */
export async function startInImage({ root, uid, words, env, mounts }: ImageProcess): Promise<ChildProcess> {
  const places = Object.entries({ "/proc": "/proc", "/dev": "/dev", ...mounts });
  for (const [path] of places) await mkdir(join(root, path), { recursive: true });
  const script = [
    `set -e; mount --bind "$ROOT" "$ROOT"`,
    ...places.map(([path, folder]) => `mount --rbind ${quoted(folder)} "$ROOT"${quoted(path)}`),
    `mount -o remount,bind,ro "$ROOT"`,
    // The namespace of the mounts is of another user, so that the program has no privileges in it.
    `exec unshare --user --map-user=${uid} --map-group=${uid} --root="$ROOT" --wd=/ -- "$@"`,
  ].join("\n");
  return spawn(namespace[0], [...namespace.slice(1), "sh", "-c", script, "sh", ...words], {
    env: { PATH: process.env.PATH, ROOT: root, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
