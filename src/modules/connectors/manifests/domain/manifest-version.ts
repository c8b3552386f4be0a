import { compare } from "semver";

/** Sorts versions by key, and those of one key from the newest to the oldest. */
export function newestFirst<T extends { readonly key: string; readonly version: string }>(versions: readonly T[]): T[] {
  return versions.toSorted((one, other) =>
    one.key === other.key ? compare(other.version, one.version) : one.key < other.key ? -1 : 1,
  );
}
