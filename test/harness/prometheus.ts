import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { findProgram, firstLine, type Program } from "./debian-program.ts";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

/** A real Prometheus for one test file. */
export interface PrometheusServer {
  readonly url: string;
  /** Starts it with stored series, in the OpenMetrics format, if any, and with an address to scrape every second. */
  start(openMetrics: string, scraped: string): Promise<void>;
  /** Runs promtool; returns its output, also if it finds a fault. */
  promtool(...args: readonly string[]): Promise<{ readonly ok: boolean; readonly output: string }>;
  stop(): Promise<void>;
}

const run = promisify(execFile);
let reason = "";

/** Why `findPrometheus` returned undefined. */
export function whyNoPrometheus(): string {
  return reason;
}

/** Finds a Prometheus on the PATH, or unpacks Debian's; undefined when neither is available. It is not started yet. */
export async function findPrometheus(): Promise<PrometheusServer | undefined> {
  try {
    const program = await findProgram({
      cache: "prometheus-packages",
      names: ["prometheus"],
      packages: ["prometheus"],
    });
    return serverOf(program, await mkdtemp(join(tmpdir(), "prometheus-")), await freePort());
  } catch (error) {
    reason = `No prometheus on the PATH, and none from packages: ${firstLine(error)}`;
    console.error(reason);
    return undefined;
  }
}

function serverOf(program: Program, folder: string, port: number): PrometheusServer {
  const url = `http://127.0.0.1:${port}`;
  const { env } = program;
  const promtoolPath = join(dirname(program.path), "promtool");
  let child: ChildProcess | undefined;
  // A crashed test must not leave a server running.
  process.once("exit", () => child?.kill("SIGKILL"));
  return {
    url,
    async start(openMetrics, scraped) {
      const [series, config, data] = ["series.om", "prometheus.json", "data"].map((name) => join(folder, name));
      await writeFile(series!, openMetrics);
      if (openMetrics !== "")
        await run(promtoolPath, ["tsdb", "create-blocks-from", "openmetrics", series!, data!], { env });
      await writeFile(config!, JSON.stringify(configOf(scraped)));
      const settings = [
        `--config.file=${config}`,
        `--storage.tsdb.path=${data}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ];
      child = spawn(program.path, [...settings, "--storage.tsdb.retention.time=1y", "--log.level=error"], {
        env: program.env,
        stdio: ["ignore", "ignore", "inherit"],
      });
      await untilReady(`${url}/-/ready`, child);
    },
    promtool: (...args) =>
      run(promtoolPath, args, { env }).then(
        ({ stdout, stderr }) => ({ ok: true, output: `${stdout}${stderr}` }),
        ({ stdout, stderr, message }) => ({ ok: false, output: `${stdout}${stderr}` || message }),
      ),
    async stop() {
      if (child !== undefined && child.exitCode === null) {
        const exit = once(child, "exit");
        child.kill("SIGKILL");
        await exit;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** JSON is YAML. */
function configOf(scraped: string) {
  return {
    global: { scrape_interval: "1s" },
    scrape_configs: [{ job_name: "switchyard", static_configs: [{ targets: [scraped] }] }],
  };
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  await until(async () => {
    if (child.exitCode !== null) throw new Error("prometheus exited before it was ready.");
    return (await fetch(url).catch(() => undefined))?.ok;
  });
}
