import { flushCompileCache } from "node:module";
import { type Role, type Service, serve } from "../../app/serve.ts";
import type { LoadedConfig } from "../../config/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";
import { startError } from "./start-error.ts";
import { formatStartMessage } from "./start-message.ts";
import { firstStopSignal } from "./stop-signals.ts";

/** Runs a node until a stop signal arrives. Returns the exit code. */
export async function serveCommand(io: Io, options: SettingsOptions & { role: Role; demo?: boolean }): Promise<number> {
  const { role } = options;
  const stopping = new AbortController();
  const stopped = firstStopSignal(io);
  stopped.then(() => stopping.abort());
  // A node that is killed cannot write what it compiled at its end. Writing blocks the event loop, so it comes first.
  flushCompileCache();
  const loaded = await resolveSettings(io, options);
  const service = await serve(loaded, role, undefined, stopping.signal).catch((error) => {
    if (error.name === "AbortError") return undefined;
    throw startError(error, loaded);
  });
  if (service === undefined) return exitCodes.ok;
  const demo = options.demo ? await startDemoOf(io, service, loaded) : undefined;
  if (role !== "worker") io.out(formatStartMessage(service, loaded, demo?.loginLink));
  const lost = service.lost.then((reason) => ({ reason }));
  const end = await Promise.race([stopped, lost]);
  await demo?.stop();
  await service.stop({ drain: end === "SIGTERM" });
  if (typeof end === "string") return exitCodes.ok;
  throw new CliError(`The embedded PostgreSQL exited: ${end.reason}`, exitCodes.failed);
}

/** Starts the demo. If it fails, the node is stopped. */
async function startDemoOf(io: Io, service: Service, { config }: LoadedConfig) {
  const { startDemo } = await import("./demo/demo.ts");
  const onError = (error: unknown) =>
    io.err(`service: demo: ${error instanceof Error ? error.message : String(error)}\n`);
  return startDemo({ service, dataDir: config["data.dir"], onError }).catch(async (error) => {
    await service.stop();
    throw error;
  });
}
