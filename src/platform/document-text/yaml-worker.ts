// Reads one YAML text in a thread of its own and posts the result.
import { parentPort, workerData } from "node:worker_threads";
import { readYaml } from "./yaml-document.ts";

parentPort!.postMessage(readYaml(workerData as string));
