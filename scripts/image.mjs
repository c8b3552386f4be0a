// Makes a container image without a container engine and without a registry: npm run image -- [option …]
//   --root <folder>   Write only the files of the image into this folder. deploy/Containerfile uses it.
//   --file <path>     Write the OCI archive here, instead of dist/switchyard-<version>-<architecture>.tar.
//   --postgres        Include the embedded PostgreSQL, so that a container runs without a database.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { imageConfig } from "./image/image-config.ts";
import { writeRoot } from "./image/image-root.mjs";
import { writeArchive } from "./image/oci-archive.mjs";
import { run } from "./image/run.mjs";

const source = join(import.meta.dirname, "..");
const { values: options } = parseArgs({
  options: { root: { type: "string" }, file: { type: "string" }, postgres: { type: "boolean" } },
});
if (process.platform !== "linux") {
  console.error(
    "An image is made of the programs of this machine, so it needs Linux. Elsewhere, build deploy/Containerfile.",
  );
  process.exit(1);
}
// The same commit gives the same image.
process.env.SOURCE_DATE_EPOCH ??= commitSeconds();

const work = mkdtempSync(join(tmpdir(), "switchyard-image-"));
try {
  const packed = join(work, "package");
  run(process.execPath, [join(source, "scripts/package.mjs"), packed]);
  const root = options.root === undefined ? join(work, "root") : resolve(options.root);
  writeRoot({ root, packed, modules: join(source, "node_modules"), postgres: options.postgres });
  if (options.root === undefined) {
    const manifest = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
    const file = resolve(options.file ?? join(source, "dist", `switchyard-${manifest.version}-${process.arch}.tar`));
    mkdirSync(dirname(file), { recursive: true });
    writeArchive({ file, root, work, config: imageConfig, manifest });
    console.log(file);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function commitSeconds() {
  const { status, stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: source, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "0";
}
