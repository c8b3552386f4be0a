import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** A secret that is made once and kept in a file, readable to its owner only. An interruption leaves no half of it. */
export function keptText(path: string, make: () => string): string {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    const file = openSync(`${path}.new`, "w", 0o600);
    writeSync(file, `${make()}\n`);
    fsyncSync(file);
    closeSync(file);
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path, "utf8").trim();
}
