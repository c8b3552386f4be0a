// Builds the console and the script and styles of the reference into console/dist: node scripts/console-build.mjs [output folder]
// The output depends only on the sources and on the locked versions, so that a rebuild is byte-identical.
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { build } from "esbuild";

const target = process.argv[2] ?? "console/dist";
rmSync(target, { recursive: true, force: true });
const common = {
  outdir: target,
  bundle: true,
  format: "esm",
  target: ["es2023"],
  minify: true,
  legalComments: "none",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  tsconfig: "console/tsconfig.json",
  assetNames: "[name]",
  loader: { ".woff2": "file" },
  supported: { "top-level-await": true },
  logLevel: "warning",
};
const pages = {
  ...common,
  entryPoints: ["console/src/main.tsx"],
  splitting: true,
  chunkNames: "[name]-[hash]",
  publicPath: "/console",
};
/** Files below this size cost more to request than to load with others. */
const smallBytes = 8192;

// esbuild makes a file of the modules that the same pages import, which would be forty files of a few hundred bytes. What is in them
// is imported by every page in a second build, so that it becomes one file.
const { metafile } = await build({ ...pages, metafile: true, write: false });
const small = Object.values(metafile.outputs)
  .filter(({ bytes, entryPoint }) => entryPoint === undefined && bytes < smallBytes)
  .flatMap(({ inputs }) => Object.keys(inputs))
  .filter((path) => /\.[jt]sx?$/.test(path))
  .toSorted();
const shared = small.map((path) => `import ${JSON.stringify(resolve(path))};\n`).join("");
const importShared = {
  name: "import shared modules",
  setup({ onLoad }) {
    onLoad({ filter: /\/console\/src\/pages\/[\w-]+\/index\.tsx$/ }, ({ path }) => ({
      contents: shared + readFileSync(path, "utf8"),
      loader: "tsx",
      resolveDir: dirname(path),
    }));
  },
};
// An import of a module without side effects adds no code, but counts for the division into files.
await build({ ...pages, plugins: [importShared], logOverride: { "ignored-bare-import": "silent" } });
// Pages of the reference also work below a proxy's path, so nothing in them begins at the root.
await build({
  ...common,
  entryPoints: { reference: "console/src/reference/main.ts" },
  publicPath: "../console",
});
for (const name of readdirSync("console/assets")) cpSync(`console/assets/${name}`, `${target}/${name}`);
