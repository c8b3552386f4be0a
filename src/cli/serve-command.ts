import { type Role, type Service, serve } from "../app/serve.ts";
import type { LoadedConfig } from "../config/index.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
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

function greeting({ planes, adminKey }: Service, { config }: LoadedConfig): string {
  const { baseUrl } = planes;
  const lines = ["", `Switchyard is serving at ${baseUrl}`, `  reference   ${baseUrl}/docs`];
  if (adminKey !== undefined) lines.push(`  admin key   ${adminKey}`);
  else if (config["auth.api_key_enabled"]) {
    lines.push("  admin key   the one shown at the first start (lost it? see docs/guides/operate.md)");
  }
  if (config["notification.outbox.enabled"]) {
    lines.push(`  outbox      ${baseUrl}/outbox${adminKey === undefined ? "" : `#key=${adminKey}`}`);
  }
  lines.push("", "Try it:", `  curl -s ${baseUrl}/api/v2/environments -H 'X-API-Key: ${adminKey ?? "<key>"}'`, "", "");
  return lines.join("\n");
}
