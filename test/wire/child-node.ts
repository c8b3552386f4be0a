import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { overridesOf, type TestSettings } from "../harness/service.ts";

/** A node in its own process, with a readable log. */
export interface ChildNode {
  readonly baseUrl: string;
  readonly process: ChildProcess;
  /** The lines logged so far. */
  // biome-ignore lint/suspicious/noExplicitAny: log lines have every shape.
  log(): any[];
}

// The process exits when its input closes, so it never outlives the test.
const NODE = `
  import { serve } from ${JSON.stringify(new URL("../../src/app/serve.ts", import.meta.url).href)};
  import { loadConfig } from ${JSON.stringify(new URL("../../src/config/index.ts", import.meta.url).href)};
  process.stdin.resume().on("end", () => process.exit());
  const service = await serve(loadConfig({ overrides: JSON.parse(process.argv[1]) }));
  console.log(service.planes.listeners.http.address);`;

/** Starts a node in another process that ends with the test. */
export async function startChildNode(t: TestContext, settings: TestSettings): Promise<ChildNode> {
  const overrides = JSON.stringify(overridesOf(settings));
  const child = spawn(process.execPath, ["--input-type=module", "-e", NODE, overrides]);
  const exited = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let logged = "";
  child.stderr.on("data", (chunk) => {
    logged += chunk;
  });
  const [address] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(() => Promise.reject(new Error(`The node ended: ${logged}`))),
  ]);
  return {
    baseUrl: `http://${address}`,
    process: child,
    log: () =>
      logged
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
  };
}
