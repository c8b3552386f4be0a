import { flushCompileCache } from "node:module";
import { supervisedVariable } from "../../app/processes/child-process.ts";
import type { StartReport } from "../../app/processes/process-calls.ts";
import { processCountOf } from "../../app/processes/process-count.ts";
import type { Role } from "../../app/serve.ts";
import type { Config, LoadedConfig } from "../../config/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";
import { startError } from "./start-error.ts";
import { formatStartMessage } from "./start-message.ts";
import { firstStopSignal } from "./stop-signals.ts";

/** The options of the command. */
export interface ServeOptions extends SettingsOptions {
  readonly role: Role;
  readonly demo?: boolean;
}

/** Serves until a stop signal arrives, in this process or in several. Returns the exit code. */
export async function serveCommand(io: Io, options: ServeOptions): Promise<number> {
  if (io.env[supervisedVariable] !== undefined && process.connected) {
    const { runProcess } = await import("./process-command.ts");
    return runProcess(options.role);
  }
  const loaded = await resolveSettings(io, options);
  if (processCountOf(loaded.config) > 1) {
    const { superviseCommand } = await import("./supervise-command.ts");
    return superviseCommand(io, options, loaded);
  }
  return serveInThisProcess(io, options, loaded);
}

async function serveInThisProcess(io: Io, options: ServeOptions, loaded: LoadedConfig): Promise<number> {
  const stopping = new AbortController();
  const stopped = firstStopSignal(io);
  stopped.then(() => stopping.abort());
  const { serve } = await import("../../app/serve.ts");
  // A node that is killed cannot write what it compiled at its end. Writing blocks the event loop, so it comes first.
  flushCompileCache();
  const service = await serve(loaded, options.role, undefined, stopping.signal).catch((error) => {
    if (error.name === "AbortError") return undefined;
    throw startError(error, loaded);
  });
  if (service === undefined) return exitCodes.ok;
  const { baseUrl } = service.planes;
  const demo = await announceStart(io, { ...service, baseUrl }, options, loaded.config).catch(async (error) => {
    await service.stop();
    throw error;
  });
  const lost = service.lost.then((reason) => ({ reason }));
  const end = await Promise.race([stopped, lost]);
  await demo?.stop();
  await service.stop(end === "SIGTERM" ? "drain" : "now");
  if (typeof end === "string") return exitCodes.ok;
  throw databaseLost(end.reason);
}

/** Starts the demo, if it is wanted, and prints how to use the service. */
export async function announceStart(
  io: Io,
  service: StartReport,
  { role, demo: isDemo }: ServeOptions,
  config: Config,
) {
  const demo = isDemo ? await startDemoOf(io, service, config) : undefined;
  if (role !== "worker") io.out(formatStartMessage(service, config, demo?.loginLink));
  return demo;
}

async function startDemoOf(io: Io, service: StartReport, config: Config) {
  const { startDemo } = await import("./demo/demo.ts");
  const onError = (error: unknown) =>
    io.err(`service: demo: ${error instanceof Error ? error.message : String(error)}\n`);
  return startDemo({ service, dataDir: config["data.dir"], onError });
}

/** The error of a service whose embedded database has ended. */
export function databaseLost(reason: string): CliError {
  return new CliError(`The embedded PostgreSQL exited: ${reason}`, exitCodes.failed);
}
