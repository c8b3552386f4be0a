import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, exitCodes, usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** The public API or the service-to-service API of an instance. */
export type Plane = "external" | "internal";

/** The address and credentials of an instance. */
export interface Profile {
  readonly address: string;
  readonly key?: string;
  readonly plane?: Plane;
}

/** All profiles, and the name of the default one. */
export interface Profiles {
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** The path of the profile file; undefined if there is no home directory. */
function profilesFile({ env }: Io): string | undefined {
  const folder = env.XDG_CONFIG_HOME || (env.HOME && join(env.HOME, ".config"));
  return folder && join(folder, "switchyard", "profiles.json");
}

/** Reads the profiles. A missing file means that there are none. */
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
    if (typeof profiles !== "object" || profiles === null) throw new Error('the field "profiles" is missing');
    return { current, profiles };
  } catch (cause) {
    throw new CliError(`${file} is not a valid profile file: ${(cause as Error).message}`, exitCodes.failed);
  }
}

/** Writes the profiles atomically, readable by their owner only. */
export function writeProfiles(io: Io, profiles: Profiles): void {
  const file = profilesFile(io);
  if (!file) throw usageError("Profiles cannot be stored: set HOME or XDG_CONFIG_HOME");
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(fresh, 0o600);
  renameSync(fresh, file);
}

/** Finds a profile by name. An unknown name is a usage error. */
export function findProfile({ profiles }: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(profiles).join(", ") || "none";
  throw usageError(`No such profile: ${name} (available: ${known})`);
}

/** Masks a key: shows its identifier but not its secret. */
export function maskedKey(key: string): string {
  const id = /^sk_[a-z0-9]{1,32}_[A-Za-z0-9-]{1,64}(?=_)/.exec(key)?.[0];
  return `${id ?? key.slice(0, Math.min(4, Math.floor(key.length / 4)))}…`;
}
