import { spawnSync } from "node:child_process";

/** Runs a program and returns its output; throws what it says if it fails. */
export function run(program, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { maxBuffer: 1 << 30, ...options });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  return stdout;
}
