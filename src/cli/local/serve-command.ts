import { flushCompileCache } from "node:module";
import { supervisedVariable } from "../../app/processes/child-process.ts";
import { processCountOf } from "../../app/processes/process-count.ts";
import type { LoadedConfig } from "../../config/index.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { announceStart, databaseLost, type ServeOptions, versionLost } from "./service-start.ts";
import { resolveSettings } from "./settings-options.ts";
import { startError } from "./start-error.ts";
import { firstStopSignal } from "./stop-signals.ts";

/** Serves until a stop signal arrives, in this process or in several. Returns the exit code. */
export async function serveCommand(io: Io, options: ServeOptions): Promise<number> {
  if (io.env[supervisedVariable] !== undefined && process.connected) {
    const { runProcess } = await import("./process-command.ts");
    return runProcess(io, options);
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
  const outdated = service.outdated.then((successor) => ({ successor }));
  const end = await Promise.race([stopped, lost, outdated]);
  await demo?.stop();
  await service.stop(end === "SIGTERM" || (typeof end === "object" && "successor" in end) ? "drain" : "now");
  if (typeof end === "string") return exitCodes.ok;
  throw "successor" in end ? versionLost(end.successor) : databaseLost(end.reason);
}
