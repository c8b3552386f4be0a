// Starts the service as users do, on the bench's database.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { migrate } from "../../../src/platform/db/migrate.ts";

const root = join(import.meta.dirname, "../../..");

/** The headers of an authenticated caller. */
export const authorized = {
  "content-type": "application/json",
  "x-api-key": "sk_bench_routing_0123456789abcdef0123456789abcdef",
};

/** Starts the service with optional extra settings; returns its port and a function that stops it. */
export async function startService({ databaseUrl, settings: further = {} }) {
  await migrate(databaseUrl, join(root, "migrations"));
  const settings = {
    "server.http_addr": "127.0.0.1:0",
    "server.internal_addr": "127.0.0.1:0",
    "server.metrics_addr": "127.0.0.1:0",
    "api.addr": "127.0.0.1:0",
    "auth.api_key_enabled": "true",
    "auth.bootstrap_api_key": authorized["x-api-key"],
    "connector.encryption_key": createHash("sha256").update("only for measuring").digest("base64"),
    "database.url": databaseUrl,
    ...further,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const child = spawn(process.execPath, ["--max-semi-space-size=32", join(root, "src/cli/main.ts"), "serve", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = once(child, "exit");
  const port = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const found = /serving at http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
      if (found) resolve(Number(found[1]));
    });
    exited.then(() => reject(new Error(`the service ended: ${text}`)));
  });
  return {
    port,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      process.off("exit", kill);
    },
  };
}
