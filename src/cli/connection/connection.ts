import { usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { readSource } from "../operations/text-source.ts";
import { findProfile, type Plane, type Profile, readProfiles } from "./profiles.ts";

/** The address and credentials of calls. */
export interface Connection {
  readonly address: string;
  readonly key: string | undefined;
  readonly plane: Plane;
}

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

/** Resolves the connection: options win over the profile in --profile, the environment and the current profile. */
export async function resolveConnection(io: Io, options: ConnectionOptions): Promise<Connection> {
  const profile = profileOf(io, options);
  const { SWITCHYARD_ADDRESS, SWITCHYARD_KEY } = options.profile === undefined ? io.env : {};
  const plane = options.plane ?? profile?.plane ?? "external";
  // A profile of the other plane has another address.
  const fitting = profile !== undefined && (profile.plane ?? "external") === plane ? profile : undefined;
  const address = parseAddress(options.address ?? (SWITCHYARD_ADDRESS || fitting?.address || defaultAddresses[plane]));
  // A profile's key is sent only to the profile's address.
  const profileKey = fitting?.address === address ? fitting.key : undefined;
  const key = options.key === undefined ? SWITCHYARD_KEY || profileKey : await readSource(io, "--key", options.key);
  return { address, key, plane };
}

function profileOf(io: Io, { profile: named }: ConnectionOptions): Profile | undefined {
  const name = named ?? io.env.SWITCHYARD_PROFILE;
  const profiles = readProfiles(io);
  if (name) return findProfile(profiles, name);
  return profiles.current === undefined ? undefined : profiles.profiles[profiles.current];
}

/** Validates an address and removes a trailing slash. */
export function parseAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw usageError(
      `The address must be an http or https URL (for example: https://switchyard.example), not ${address}`,
    );
  }
  if (url.username !== "" || url.search !== "" || url.hash !== "") {
    throw usageError(
      "The address must be a host with an optional port and path (for example: https://switchyard.example/base). Pass credentials with --key",
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The header of a key. Tokens have three parts separated by dots, API keys do not. */
export function credentials(key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  if (!/^[\x21-\x7e]+$/.test(key)) throw usageError("The key must be printable ASCII characters without spaces");
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(key) ? { authorization: `Bearer ${key}` } : { "x-api-key": key };
}
