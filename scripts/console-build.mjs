// Builds the console into console/dist: node scripts/console-build.mjs [output folder]
// The output depends only on the sources and on the locked versions, so that a rebuild is byte-identical.
import { cpSync, readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const target = process.argv[2] ?? "console/dist";
rmSync(target, { recursive: true, force: true });
await build({
  entryPoints: ["console/src/main.tsx"],
  outdir: target,
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2023"],
  minify: true,
  legalComments: "none",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  tsconfig: "console/tsconfig.json",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]",
  loader: { ".woff2": "file" },
  publicPath: "/console",
  supported: { "top-level-await": true },
  logLevel: "warning",
});
for (const name of readdirSync("console/assets")) cpSync(`console/assets/${name}`, `${target}/${name}`);
