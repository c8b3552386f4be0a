import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

// Most of a short command's time would go into compiling. The cache is this user's own: it holds code that runs.
enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "switchyard", "compiled"));
const [{ processIo }, { run }] = await Promise.all([import("./io.ts"), import("./run.ts")]);
process.exitCode = await run(process.argv.slice(2), processIo());
