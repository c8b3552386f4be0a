import { openAuditLog } from "../../app/audit-log.ts";
import { startEmbeddedDatabase } from "../../app/embedded-database.ts";
import { processCountOf } from "../../app/processes/process-count.ts";
import { superviseProcesses } from "../../app/processes/supervisor.ts";
import { openTelemetry } from "../../app/telemetry/process-telemetry.ts";
import type { LoadedConfig } from "../../config/index.ts";
import { systemClock } from "../../platform/clock/clock.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { announceStart, databaseLost, type ServeOptions } from "./service-start.ts";
import { startError } from "./start-error.ts";
import { firstStopSignal } from "./stop-signals.ts";

/** Serves in several processes until a stop signal arrives. Returns the exit code. */
export async function superviseCommand(io: Io, options: ServeOptions, loaded: LoadedConfig): Promise<number> {
  const { config } = loaded;
  // The processes send what they count and trace themselves.
  const { log, close: closeTelemetry } = await openTelemetry(config, "supervisor", ["logs"]);
  const stopping = new AbortController();
  const stopped = firstStopSignal(io);
  stopped.then(() => stopping.abort());
  let roll = () => {};
  // In a terminal, the signal means that the terminal was closed.
  process.on("SIGHUP", () => (process.stdin.isTTY ? process.kill(process.pid, "SIGINT") : roll()));

  const closers: (() => Promise<unknown>)[] = [closeTelemetry];
  try {
    const embedded = await startEmbeddedDatabase(config, log);
    closers.push(async () => embedded?.stop());
    const audit = await openAuditLog(config, systemClock);
    closers.push(async () => audit?.close());
    const processes = await superviseProcesses({
      ...{ config, count: processCountOf(config), databaseUrl: embedded?.url ?? "", audit, log },
      stopping: stopping.signal,
    });
    // The process has printed its reason.
    if ("code" in processes) return stopping.signal.aborted ? exitCodes.ok : (processes.code ?? exitCodes.failed);
    closers.push(() => processes.stop("now"));
    const demo = await announceStart(
      io,
      { ...processes.report, linkApprover: processes.linkApprover },
      options,
      config,
    );
    roll = () => void processes.roll();
    const end = await Promise.race([
      stopped,
      processes.lost.then(({ code }) => ({ code: code ?? exitCodes.failed })),
      embedded?.exited.then((reason) => ({ reason })) ?? new Promise<never>(() => {}),
    ]);
    roll = () => {};
    await demo?.stop();
    await processes.stop(end === "SIGTERM" ? "drain" : "now");
    if (typeof end === "string") return exitCodes.ok;
    if ("code" in end) return end.code;
    throw databaseLost(end.reason);
  } catch (error) {
    throw error instanceof CliError ? error : startError(error, loaded);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
