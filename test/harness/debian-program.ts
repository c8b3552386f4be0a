import { execFile } from "node:child_process";
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** A program that can be started. */
export interface Program {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A program, the names it may have, and the Debian packages that have it under one of these names. */
export interface ProgramSource {
  /** Names the folder that packages are unpacked into. */
  readonly cache: string;
  readonly names: readonly string[];
  readonly packages: readonly string[];
  /** Folders of the package that may hold the program, besides `usr/bin`. */
  readonly folders?: readonly string[];
  /** The argument that makes the program show its version; `--version` by default. */
  readonly versionFlag?: string;
}

const run = promisify(execFile);

/** Finds a program on the PATH, or unpacks it from a Debian package; throws with the reason when neither is possible. */
export async function findProgram(source: ProgramSource): Promise<Program> {
  return (await onPath(source)) ?? (await fromPackages(source));
}

async function onPath({ names }: ProgramSource): Promise<Program | undefined> {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const path = join(folder, name);
      if (await exists(path)) return { path, env: process.env };
    }
  }
  return undefined;
}

// Unpacks the packages into a folder of this user and does not change the system.
async function fromPackages(source: ProgramSource): Promise<Program> {
  const cache = join(tmpdir(), `${source.cache}-${process.arch}-${userInfo().uid}`);
  const found = await unpackedIn(cache, source);
  if (found !== undefined) return found;
  if (!(await exists("/usr/bin/apt-get"))) throw new Error("this is not a Debian-like system (no apt-get).");

  const work = await mkdtemp(join(tmpdir(), `${source.cache}-`));
  try {
    await chmod(work, 0o755);
    await run("apt-get", ["download", ...(await packagesNeeded(source))], { cwd: work });
    for (const file of await readdir(work))
      if (file.endsWith(".deb")) await run("dpkg", ["-x", file, "root"], { cwd: work });
    await mkdir(cache, { mode: 0o700 }).catch(() => {});
    // Another test file may have unpacked the same packages first.
    await rename(join(work, "root"), join(cache, "root")).catch(() => {});
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const unpacked = await unpackedIn(cache, source);
  if (unpacked === undefined) throw new Error("the packages hold no program that runs here.");
  return unpacked;
}

// The packages that apt would install: the program and its missing dependencies.
async function packagesNeeded({ packages }: ProgramSource): Promise<string[]> {
  const attempts = process.getuid?.() === 0 ? [false, true] : [false];
  let problem: unknown;
  for (const refresh of attempts) {
    if (refresh) await run("apt-get", ["update"]).catch(() => {});
    for (const name of packages) {
      try {
        const { stdout } = await run("apt-get", ["--simulate", "--no-install-recommends", "install", name]);
        return [...stdout.matchAll(/^Inst (\S+)/gm)].map((match) => match[1]!);
      } catch (error) {
        problem = error;
      }
    }
  }
  throw problem;
}

async function unpackedIn(
  cache: string,
  { names, folders = [], versionFlag = "--version" }: ProgramSource,
): Promise<Program | undefined> {
  const info = await stat(cache).catch(() => undefined);
  // A folder that another user created under this name is not trusted.
  if (info === undefined || info.uid !== userInfo().uid) return undefined;
  const libraries: string[] = [];
  for (const base of ["usr/lib", "lib"]) {
    const folder = join(cache, "root", base);
    libraries.push(folder);
    for (const name of await readdir(folder).catch(() => []))
      if (name.includes("-linux-")) libraries.push(join(folder, name), join(folder, name, "pulseaudio"));
  }
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: libraries.join(delimiter),
    PYTHONPATH: join(cache, "root/usr/lib/python3/dist-packages"),
  };
  for (const name of names) {
    for (const folder of ["usr/bin", ...folders]) {
      const path = join(cache, "root", folder, name);
      if ((await exists(path)) && (await run(path, [versionFlag], { env }).catch(() => undefined)))
        return { path, env };
    }
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The first line of why a program could not be found. */
export function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.match(/^E: .*/m)?.[0] ?? message ?? String(error)).split("\n")[0]!;
}
