import { usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { readSource } from "../operations/text-source.ts";
import { namedProfile, type Plane, type Profile, readProfiles } from "./profiles.ts";

/** Where calls go, and with which credentials. */
export interface Connection {
  readonly address: string;
  readonly key: string | undefined;
  readonly plane: Plane;
}

/** What the command line says about the connection. */
export interface ConnectionOptions {
  readonly profile?: string;
  readonly address?: string;
  readonly key?: string;
  readonly plane?: Plane;
}

const defaultAddresses: Readonly<Record<Plane, string>> = {
  external: "http://127.0.0.1:8080",
  internal: "http://127.0.0.1:8081",
};

/** Decides on a connection: options first, then a profile named by an option, the environment, the current profile. */
export async function connectionOf(io: Io, options: ConnectionOptions): Promise<Connection> {
  const profile = profileOf(io, options);
  const { SWITCHYARD_ADDRESS, SWITCHYARD_KEY } = options.profile === undefined ? io.env : {};
  const plane = options.plane ?? profile?.plane ?? "external";
  // A profile of the other plane is not where this plane is.
  const fitting = profile !== undefined && (profile.plane ?? "external") === plane ? profile : undefined;
  const address = checkedAddress(
    options.address ?? (SWITCHYARD_ADDRESS || fitting?.address || defaultAddresses[plane]),
  );
  // A profile's key goes to the profile's address and nowhere else.
  const keptKey = fitting?.address === address ? fitting.key : undefined;
  const key = options.key === undefined ? SWITCHYARD_KEY || keptKey : await readSource(io, "--key", options.key);
  return { address, key, plane };
}

function profileOf(io: Io, { profile: named }: ConnectionOptions): Profile | undefined {
  const name = named ?? io.env.SWITCHYARD_PROFILE;
  const profiles = readProfiles(io);
  if (name) return namedProfile(profiles, name);
  return profiles.current === undefined ? undefined : profiles.profiles[profiles.current];
}

/** An address in the one form that requests are made from: no slash at the end. */
export function checkedAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw usageError(`The address must be an http or https URL, such as https://switchyard.example: ${address}`);
  }
  if (url.username !== "" || url.search !== "" || url.hash !== "") {
    throw usageError("The address must be a host, a port and at most a path; credentials go into the key");
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The header that carries a key: tokens have three parts between dots, API keys have not. */
export function credentials(key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  if (!/^[\x21-\x7e]+$/.test(key)) throw usageError("The key must be printable characters without spaces");
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(key) ? { authorization: `Bearer ${key}` } : { "x-api-key": key };
}
