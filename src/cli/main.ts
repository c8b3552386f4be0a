import { enableCompileCache } from "node:module";
import { join } from "node:path";

const { HOME, XDG_CACHE_HOME = HOME && join(HOME, ".cache") } = process.env;
// Most of a short command's time would go into compiling. The cache is this user's own: it holds code that runs.
if (XDG_CACHE_HOME) enableCompileCache(join(XDG_CACHE_HOME, "switchyard", "compiled"));
const [{ processIo }, { run }] = await Promise.all([import("./io.ts"), import("./run.ts")]);
process.exitCode = await run(process.argv.slice(2), processIo());
