import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, exitCodes, usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Which of the two surfaces of an instance is meant. */
export type Plane = "external" | "internal";

/** Where an instance is, and who calls it. */
export interface Profile {
  readonly address: string;
  readonly key?: string;
  readonly plane?: Plane;
}

/** Every profile, and the one that is used when none is named. */
export interface Profiles {
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** The file that holds the profiles; undefined where there is no home to keep it in. */
function profilesFile({ env }: Io): string | undefined {
  const folder = env.XDG_CONFIG_HOME || (env.HOME && join(env.HOME, ".config"));
  return folder && join(folder, "switchyard", "profiles.json");
}

/** Reads the profiles; none when there is no file yet. */
export function readProfiles(io: Io): Profiles {
  const file = profilesFile(io);
  if (!file) return { profiles: {} };
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return { profiles: {} };
    throw new CliError(`${file} cannot be read: ${(cause as Error).message}`, exitCodes.failed);
  }
  try {
    const { current, profiles } = JSON.parse(text) as Profiles;
    if (typeof profiles !== "object" || profiles === null) throw new Error("it has no profiles");
    return { current, profiles };
  } catch (cause) {
    throw new CliError(`${file} is not a profile file: ${(cause as Error).message}`, exitCodes.failed);
  }
}

/** Writes the profiles whole or not at all, readable by their owner only. */
export function writeProfiles(io: Io, profiles: Profiles): void {
  const file = profilesFile(io);
  if (!file) throw usageError("There is no place for profiles: set HOME or XDG_CONFIG_HOME");
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(fresh, 0o600);
  renameSync(fresh, file);
}

/** The profile of a name; a name that there is none for is a usage error. */
export function namedProfile({ profiles }: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(profiles).join(", ") || "none yet";
  throw usageError(`There is no profile ${name}; there are: ${known}`);
}

/** A key as it may be shown: what identifies it, not what opens anything. */
export function maskedKey(key: string): string {
  const id = /^sk_[a-z0-9]{1,32}_[A-Za-z0-9-]{1,64}(?=_)/.exec(key)?.[0];
  return `${id ?? key.slice(0, Math.min(4, Math.floor(key.length / 4)))}…`;
}
