import { type Role, serve } from "../app/serve.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
import { greeting } from "./greeting.ts";
import type { Io } from "./io.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";
import { startError } from "./start-error.ts";

/** Runs a node until it is told to stop; answers with the exit code. */
export async function serveCommand(io: Io, options: SettingsOptions & { role: Role }): Promise<number> {
  const { role } = options;
  const told = new Promise<undefined>((resolve) => {
    // Not only once: after Ctrl-C npm passes on what the terminal has sent already, and the stop must go on.
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(undefined));
  });
  const loaded = await resolveSettings(io, options);
  const service = await serve(loaded, role).catch((error) => {
    throw startError(error, loaded);
  });
  if (role !== "worker") io.out(greeting(service, loaded));
  const lost = await Promise.race([told, service.lost]);
  await service.stop();
  if (lost === undefined) return exitCodes.ok;
  throw new CliError(`The embedded PostgreSQL ended: ${lost}`, exitCodes.failed);
}
