import { flushCompileCache } from "node:module";
import { connectToSupervisor } from "../../app/processes/supervising-process.ts";
import { serve } from "../../app/serve.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { type ServeOptions, versionLost } from "./service-start.ts";
import { resolveSettings } from "./settings-options.ts";
import { startError } from "./start-error.ts";

/** Runs one of several processes of a machine until its supervisor stops it. Returns the exit code. */
export async function runProcess(io: Io, options: ServeOptions): Promise<number> {
  const supervisor = await connectToSupervisor(async () => (await resolveSettings(io, options)).config);
  const stopping = new AbortController();
  supervisor.stopped.then(() => stopping.abort());
  flushCompileCache();
  try {
    const service = await serve(supervisor, options.role, undefined, stopping.signal, supervisor);
    const { planes, admin, loginLink, approverLink } = service;
    await supervisor.announce(service, { baseUrl: planes.baseUrl, admin, loginLink, approverLink });
    const end = await Promise.race([supervisor.stopped, service.outdated.then((successor) => ({ successor }))]);
    await service.stop(typeof end === "string" ? end : "drain");
    await supervisor.leave(service.metrics);
    if (typeof end === "object") throw versionLost(end.successor);
    return exitCodes.ok;
  } catch (error) {
    if ((error as Error).name === "AbortError") return exitCodes.ok;
    throw error instanceof CliError ? error : startError(error, supervisor);
  } finally {
    // Only the channel to the supervisor keeps the process alive now.
    process.channel?.unref();
  }
}
