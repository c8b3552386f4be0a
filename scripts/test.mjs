// Runs the tests on one PostgreSQL for all of them: node scripts/test.mjs [file or glob …]
import { spawn } from "node:child_process";
import { SERVER_URL, startTestServer } from "../test/harness/postgres-server.ts";

const files = process.argv.slice(2);
const server = await startTestServer();
const tests = spawn(
  process.execPath,
  [
    "--test",
    "--test-concurrency=2",
    "--test-reporter=spec",
    ...(files.length > 0 ? files : ["src/**/*.test.ts", "test/**/*.test.ts"]),
  ],
  { stdio: "inherit", env: { ...process.env, [SERVER_URL]: server.url } },
);
// Interrupted, the tests end first: Ctrl-C reaches them by itself, other signals do not.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => tests.kill("SIGTERM"));
process.exitCode = await new Promise((resolve) => tests.once("exit", (code) => resolve(code ?? 1)));
await server.stop();
