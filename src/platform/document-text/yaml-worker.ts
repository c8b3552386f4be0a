// Reads one YAML text in a thread of its own, or finds members of it, and posts the result.
import { parentPort, workerData } from "node:worker_threads";
import { locateYaml, readYaml } from "./yaml-document.ts";

const { text, paths } = workerData as { readonly text: string; readonly paths?: readonly string[] };
parentPort!.postMessage(paths === undefined ? readYaml(text) : locateYaml(text, paths));
