import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** An installed release of the service. */
export interface InstalledRelease {
  readonly version: string;
  readonly folder: string;
  /** The program of a node. */
  readonly main: string;
}

/**
 * Packs the current sources as the last release, and installs it and versions after it. Each of these is the same program with one
 * more migration, which adds a column to the table of items and an index to that.
 */
export async function createReleases() {
  const work = await mkdtemp(join(tmpdir(), "switchyard-releases-"));
  const packed = join(work, "packed");
  await run(process.execPath, [join(root, "scripts/package.mjs"), packed]);
  await symlink(join(root, "node_modules"), join(packed, "node_modules"));
  const manifest = JSON.parse(await readFile(join(packed, "package.json"), "utf8"));
  const [major, minor] = (manifest.version as string).split(".").map(Number) as [number, number];
  const versionOf = (nth: number) => `${major}.${minor + nth}.0`;
  let installed = 0;
  return {
    remove: () => rm(work, { recursive: true, force: true, maxRetries: 20 }),
    versionOf,
    /** Installs a release: the first one, or the nth after it. */
    async install(nth: number, more: Readonly<Record<string, string>> = {}): Promise<InstalledRelease> {
      const folder = join(work, `installed-${installed++}`);
      await run("cp", ["-al", packed, folder]);
      const own = { ...manifest, version: versionOf(nth), compatibleSince: versionOf(Math.max(nth - 1, 0)) };
      // Written anew, because the copies are hard links.
      await rm(join(folder, "package.json"));
      await writeFile(join(folder, "package.json"), JSON.stringify(own));
      const migrations = Array.from({ length: nth }, (_, before) => plantedMigrations(before + 1)).flat();
      for (const [name, text] of [...migrations, ...Object.entries(more)])
        await writeFile(join(folder, "migrations", name), text);
      return { version: own.version, folder, main: join(folder, "service.mjs") };
    },
  };
}

/** The migrations of the nth release after the first, as they must be: they add, and do not stop calls. */
export function plantedMigrations(nth: number): [name: string, text: string][] {
  const number = (part: number) => String(9000 + 2 * nth + part);
  return [
    [
      `${number(0)}_routing_planted.sql`,
      `alter table queue_items add column planted_${nth} integer not null default 0;\n`,
    ],
    [
      `${number(1)}_routing_planted_index.sql`,
      "-- Outside of a transaction, because calls go on while the index is built.\n" +
        `drop index concurrently if exists queue_items_planted_${nth};\n` +
        `create index concurrently queue_items_planted_${nth} on queue_items (planted_${nth}) where planted_${nth} > 0;\n`,
    ],
  ];
}
