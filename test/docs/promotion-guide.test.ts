import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { assertGuideWorks } from "./guide-tests.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-promotion-guide-"));
const settings = {
  "data.dir": join(folder, "data"),
  "server.http_addr": "127.0.0.1:0",
  "server.internal_addr": "127.0.0.1:0",
  "server.metrics_addr": "",
  "api.addr": "",
  "log.level": "error",
};
const set = Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
const words = ["src/cli/main.ts", "serve", "--config", "config/development.yaml", ...set];
const serving = spawn(process.execPath, words, {
  cwd: root,
  env: { PATH: process.env.PATH, HOME: folder, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  stdio: ["ignore", "pipe", "inherit"],
});
after(async () => {
  if (serving.exitCode === null && serving.kill("SIGTERM")) await once(serving, "close");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

/** What a start prints, by name. */
async function readStartMessage(): Promise<Map<string, string>> {
  const shown = new Map<string, string>();
  for await (const line of createInterface({ input: serving.stdout })) {
    const [, name, value] = /^ *(serving at|admin key|approver) +(\S+)/.exec(line.replace("Switchyard is ", "")) ?? [];
    if (name !== undefined) shown.set(name, value!);
    if (line.includes("export ADDRESS")) return shown;
  }
  throw new Error("The service ended before it was ready.");
}

test("the guide to promotions runs to its end on a fresh start, approved by the second person", async () => {
  const shown = await readStartMessage();
  await assertGuideWorks("promote-a-change.md", {
    baseUrl: shown.get("serving at")!,
    adminKey: shown.get("admin key")!,
    approverLink: shown.get("approver")!,
  });
});
