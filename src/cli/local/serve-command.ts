import { type Role, serve } from "../../app/serve.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";
import { startError } from "./start-error.ts";
import { formatStartMessage } from "./start-message.ts";
import { firstStopSignal } from "./stop-signals.ts";

/** Runs a node until a stop signal arrives. Returns the exit code. */
export async function serveCommand(io: Io, options: SettingsOptions & { role: Role }): Promise<number> {
  const { role } = options;
  const stopped = firstStopSignal(io);
  const loaded = await resolveSettings(io, options);
  const service = await serve(loaded, role).catch((error) => {
    throw startError(error, loaded);
  });
  if (role !== "worker") io.out(formatStartMessage(service, loaded));
  const lost = service.lost.then((reason) => ({ reason }));
  const end = await Promise.race([stopped, lost]);
  await service.stop({ drain: end === "SIGTERM" });
  if (typeof end === "string") return exitCodes.ok;
  throw new CliError(`The embedded PostgreSQL exited: ${end.reason}`, exitCodes.failed);
}
