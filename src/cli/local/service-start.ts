import type { ProcessCalls, StartReport } from "../../app/processes/process-calls.ts";
import type { Role } from "../../app/serve.ts";
import type { Config } from "../../config/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import type { SettingsOptions } from "./settings-options.ts";
import { formatStartMessage } from "./start-message.ts";

/** The options of `service serve`. */
export interface ServeOptions extends SettingsOptions {
  readonly role: Role;
  readonly demo?: boolean;
}

type StartedService = StartReport & Pick<ProcessCalls, "linkApprover">;

/** Starts the demo, if it is wanted, and prints how to use the service. */
export async function announceStart(
  io: Io,
  service: StartedService,
  { role, demo: isDemo }: ServeOptions,
  config: Config,
) {
  const demo = isDemo ? await startDemoOf(io, service, config) : undefined;
  if (role !== "worker") io.out(formatStartMessage(service, config, demo));
  return demo;
}

async function startDemoOf(io: Io, service: StartedService, config: Config) {
  const { startDemo } = await import("./demo/demo.ts");
  const onError = (error: unknown) =>
    io.err(`service: demo: ${error instanceof Error ? error.message : String(error)}\n`);
  return startDemo({ service, dataDir: config["data.dir"], onError });
}

/** The error of a service whose embedded database has ended. */
export function databaseLost(reason: string): CliError {
  return new CliError(`The embedded PostgreSQL exited: ${reason}`, exitCodes.failed);
}

/** The error of a node that stopped because a newer version uses its database. */
export function versionLost(reason: string): CliError {
  return new CliError(`The service has stopped. ${reason}`, exitCodes.incompatible);
}
