import semver from "semver";

/** Whether a text is a version without build metadata: three numbers, and perhaps a pre-release. */
export function isVersion(text: string): boolean {
  return semver.valid(text) === text && text.length <= 32;
}

/** Whether a text is a range of versions. */
export function isRange(text: string): boolean {
  return text !== "" && text.length <= 64 && semver.validRange(text) !== null;
}

/** Orders versions, oldest first. */
export const compareVersions = (a: string, b: string) => semver.compare(a, b);

export function isInRange(version: string, range: string): boolean {
  return semver.satisfies(version, range, { includePrerelease: true });
}

/** The newest version; undefined if there is none. */
export function newestVersion(versions: readonly string[]): string | undefined {
  return versions.toSorted(compareVersions).at(-1);
}
