import { flushCompileCache } from "node:module";
import { connectToSupervisor } from "../../app/processes/supervising-process.ts";
import { type Role, serve } from "../../app/serve.ts";
import { exitCodes } from "../exit-codes.ts";
import { startError } from "./start-error.ts";

/** Runs one of several processes of a machine until its supervisor stops it. Returns the exit code. */
export async function runProcess(role: Role): Promise<number> {
  const supervisor = await connectToSupervisor();
  const stopping = new AbortController();
  supervisor.stopped.then(() => stopping.abort());
  flushCompileCache();
  try {
    const service = await serve(supervisor, role, undefined, stopping.signal, supervisor);
    const { planes, admin, loginLink, approverLink } = service;
    await supervisor.announce(service, { baseUrl: planes.baseUrl, admin, loginLink, approverLink });
    await service.stop(await supervisor.stopped);
    await supervisor.leave(service.metrics);
    return exitCodes.ok;
  } catch (error) {
    if ((error as Error).name === "AbortError") return exitCodes.ok;
    throw startError(error, supervisor);
  } finally {
    // Only the channel to the supervisor keeps the process alive now.
    process.channel?.unref();
  }
}
