// Restate: its server is another process with its own storage. This process is the caller over HTTP, and serves the
// handlers over HTTP/2 as a worker.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http2";
import { createRequire } from "node:module";
import net from "node:net";
import * as restate from "@restatedev/restate-sdk";
import { connections } from "../../routing/http-connection.mjs";
import { nextInput, steps } from "../input.mjs";
import { pause, startMany } from "../pacing.mjs";
import { Unavailable } from "../participants.mjs";

const callersMax = 64;
const late = [];

const service = restate.service({
  name: "bench",
  handlers: {
    internal: async (ctx, input) => {
      const total = await ctx.run("total", () => steps.total(input));
      const tax = await ctx.run("tax", () => steps.tax(total));
      return ctx.run("label", () => steps.label(tax, input));
    },
    tasks: async (ctx, { count }) => {
      for (let i = 0; i < count; i++) await ctx.run(`step${i}`, () => ({ done: i }));
    },
    sleeper: async (ctx, { sleepMs, dueMs }) => {
      await ctx.sleep(sleepMs);
      late.push(Date.now() - dueMs);
    },
  },
});

export async function open({ folder }) {
  const [ingress, admin, fabric] = await freePorts(3);
  const server = await startServer({ folder, ingress, admin, fabric });
  const endpoint = createServer(restate.createEndpointHandler({ services: [service], logger: () => {} }));
  endpoint.listen(0, "127.0.0.1");
  await once(endpoint, "listening");
  await register(admin, endpoint.address().port);
  const callers = connections(callersMax, ingress, { headers: { "content-type": "application/json" } });
  const call = async (caller, path, body) => {
    const { status, body: text } = await callers[caller].send("POST", `/bench/${path}`, JSON.stringify(body));
    if (status >= 300) throw new Error(`/bench/${path} answered ${status}: ${text.slice(0, 300)}`);
  };
  // A connection has one request in flight. With 256 of them the server stopped answering.
  const free = Array.from(callers.keys());
  const taskLane = (count) => ({
    name: "HTTP, request and response",
    ahead: 4,
    async begin() {
      const caller = free.pop();
      return { ended: call(caller, "tasks", { ...nextInput(), count }).finally(() => free.push(caller)) };
    },
  });
  return {
    processes: [server.pid],
    internal: {
      name: "HTTP, request and response",
      ahead: 1,
      async begin(caller) {
        await call(caller, "internal", nextInput());
        return {};
      },
    },
    tasks: { 1: taskLane(1), 3: taskLane(3) },
    sleepers: {
      name: "ctx.sleep",
      start: ({ count, sleepMs }) =>
        startMany(count, (_, caller) => call(caller, "sleeper/send", { sleepMs, dueMs: Date.now() + sleepMs })),
      async lateness({ count }) {
        while (late.length < count) await pause(0.2);
        return late;
      },
    },
    async close() {
      for (const each of callers) each.close();
      server.kill("SIGTERM");
      await once(server, "exit");
      endpoint.close();
    },
  };
}

/** Starts the server with its default settings, in which the log is flushed to disk before an acknowledgement. */
async function startServer({ folder, ingress, admin, fabric }) {
  const child = spawn(findBinary(), ["--no-logo", "--listen-mode", "tcp", "--base-dir", folder], {
    stdio: "ignore",
    env: {
      ...process.env,
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_NODE_NAME: "bench",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: String(fabric),
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    },
  });
  process.once("exit", () => child.kill("SIGKILL"));
  child.once("error", () => {});
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline && child.exitCode === null) {
    const answers = await Promise.all(
      [`http://127.0.0.1:${admin}/health`, `http://127.0.0.1:${ingress}/restate/health`].map((url) =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    if (answers.every(Boolean)) return child;
    await pause(0.2);
  }
  child.kill("SIGKILL");
  throw new Unavailable(`its server did not start here (exit code ${child.exitCode})`);
}

function findBinary() {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/restate-server`);
  } catch {
    throw new Unavailable(`there is no package ${name}`);
  }
}

async function register(admin, port) {
  const response = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${port}`, force: true }),
  });
  if (!response.ok) throw new Error(`the handlers could not be registered: ${await response.text()}`);
}

/** Ports that are free at the moment. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => net.createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
