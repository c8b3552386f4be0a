import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Reads a secret from a file that only its owner can read. If the file does not exist, it is created with a generated
 * secret. The rename is atomic, so that an interruption never leaves an incomplete file.
 */
export function readOrCreateSecret(path: string, generate: () => string): string {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    const file = openSync(`${path}.new`, "w", 0o600);
    writeSync(file, `${generate()}\n`);
    fsyncSync(file);
    closeSync(file);
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path, "utf8").trim();
}
