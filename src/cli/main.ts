import { loadConfig } from "../config/index.ts";
import { runServe } from "./serve-command.ts";

const file = process.argv[process.argv.indexOf("--config") + 1];
process.exitCode = await runServe(loadConfig({ file, environment: process.env }), "all");
