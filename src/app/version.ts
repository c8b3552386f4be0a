import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Release } from "../platform/db/schema-version.ts";

const root = new URL("../../", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

export const version: string = manifest.version;

/** This version, and the oldest one whose nodes may run beside it. */
export const release: Release = { version, compatibleSince: manifest.compatibleSince };

/** Describes this build, for example `0.1.0 (commit 1f2e3d4c5b6a, built 2026-11-18T09:30:00.000Z)`. */
export function describeBuild(): string {
  if (manifest.build !== undefined) {
    return `${version} (commit ${manifest.build.commit.slice(0, 12)}, built ${manifest.build.date})`;
  }
  const commit = commitOfClone();
  return commit === undefined ? version : `${version} (commit ${commit}, from sources)`;
}

/** The commit of a clone; undefined without Git. */
function commitOfClone(): string | undefined {
  // A parent folder may be a clone of something else.
  if (!existsSync(new URL(".git", root))) return undefined;
  const { stdout, status } = spawnSync("git", ["rev-parse", "--short=12", "HEAD"], {
    cwd: fileURLToPath(root),
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}
