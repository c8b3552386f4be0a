import { enableCompileCache } from "node:module";
import { join } from "node:path";

const { HOME, XDG_CACHE_HOME = HOME && join(HOME, ".cache") } = process.env;
// Compilation takes most of the time of a short command. The cache contains executable code, so each user has their own.
if (XDG_CACHE_HOME) enableCompileCache(join(XDG_CACHE_HOME, "switchyard", "compiled"));
const [{ processIo }, { run }] = await Promise.all([import("./io.ts"), import("./run.ts")]);
process.exitCode = await run(process.argv.slice(2), processIo());
