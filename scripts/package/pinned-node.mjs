// Finds the Node that the service is developed and tested with: the npm package `node`. Runs on Node 20.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the path of the program in the folder of the package. Its install script downloads it, which npm may be configured to skip;
 * then it is downloaded now. Throws if it does not run.
 */
export function pinnedNode(folder) {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const program = join(folder, "bin", "node");
  if (isNode(program, version)) return program;
  console.error(`Downloading Node ${version} …`);
  spawnSync(process.execPath, [join(folder, "installArchSpecificPackage.js")], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (isNode(program, version)) return program;
  const machine = `${process.platform}-${process.arch}`;
  throw new Error(
    `Node ${version} could not be downloaded or does not run on ${machine}. Check the network and try again.`,
  );
}

/** Whether a program is Node of this version. */
function isNode(program, version) {
  if (!existsSync(program)) return false;
  return spawnSync(program, ["--version"], { encoding: "utf8" }).stdout?.trim() === `v${version}`;
}
