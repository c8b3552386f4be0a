// Builds the console and the script and styles of the reference into console/dist: node scripts/console-build.mjs [output folder]
// The output depends only on the sources and on the locked versions, so that a rebuild is byte-identical.
import { cpSync, readdirSync, rmSync } from "node:fs";
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
await build({
  ...common,
  entryPoints: ["console/src/main.tsx"],
  splitting: true,
  chunkNames: "[name]-[hash]",
  publicPath: "/console",
});
// Pages of the reference also work below a proxy's path, so nothing in them begins at the root.
await build({
  ...common,
  entryPoints: { reference: "console/src/reference/main.ts" },
  publicPath: "../console",
});
for (const name of readdirSync("console/assets")) cpSync(`console/assets/${name}`, `${target}/${name}`);
