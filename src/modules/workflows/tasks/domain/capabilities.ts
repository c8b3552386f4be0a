import satisfies from "semver/functions/satisfies.js";
import valid from "semver/functions/valid.js";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import type { TaskKind } from "./task.ts";

/** A type of task that a worker can run. */
export interface Capability {
  readonly type: string;
  /** The versions that the worker implements; any version if empty. */
  readonly versions: readonly string[];
}

/** Decides which tasks the workers of a build with certain capabilities can run. */
export type Matcher = ReturnType<typeof createMatcher>;

const remembersMax = 1000;

/** Creates a matcher. It remembers its results, because parsing a range is slow. */
export function createMatcher(buildId: string, capabilities: readonly Capability[]) {
  const results = new BoundedCache<string, boolean>(remembersMax);
  return {
    /** A unique text for build and capabilities. */
    name: matcherName(buildId, capabilities),
    buildId,
    canRun({ type, versionRange, refusedBy }: TaskKind) {
      if (refusedBy.includes(buildId)) return false;
      return results.getOrCreate(`${type}\0${versionRange}`, () =>
        capabilities.some((each) => each.type === type && implementsRange(each.versions, versionRange)),
      );
    },
  };
}

/** A unique text for build and capabilities. */
export function matcherName(buildId: string, capabilities: readonly Capability[]): string {
  return JSON.stringify([buildId, capabilities.map(({ type, versions }) => [type, ...versions])]);
}

/** Whether one of the versions is in the range. No version stands for any, and so does an empty range. */
function implementsRange(versions: readonly string[], range: string): boolean {
  if (versions.length === 0 || range === "") return true;
  return versions.some((version) => satisfies(version, range));
}

/** Whether a text is a version, for example 2.1.0. */
export function isVersion(text: string): boolean {
  return valid(text) !== null;
}
