import { randomInt } from "node:crypto";
import { reasonOf } from "../../errors/index.ts";
import { type ConnectionOptions, resolveConnection } from "../connection/connection.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { resolveSettings, type SettingsOptions } from "../local/settings-options.ts";
import { firstStopSignal } from "../local/stop-signals.ts";
import { findEvidencePack } from "./evidence.ts";
import { createDatabaseRestart, cutDatabase, slowDatabase } from "./faults/database-faults.ts";
import { freeze, kill, skewClock } from "./faults/node-faults.ts";
import { cleanUp, type ProofPlace, withProofPlace } from "./proof-database.ts";
import { runProof } from "./proof-run.ts";
import { formatReport, type ProofReport } from "./report.ts";
import { formatScreen } from "./screen.ts";
import { runWatchdog, startWatchdog } from "./watchdog.ts";
import { createActionWorkload } from "./workloads/action-workload.ts";
import { createAssignmentWorkload } from "./workloads/assignment-workload.ts";
import { createEventWorkload } from "./workloads/event-workload.ts";
import { createMessageWorkload } from "./workloads/message-workload.ts";
import { createNeighbourWorkload } from "./workloads/neighbour-workload.ts";
import { createQueueWorkload } from "./workloads/queue-workload.ts";
import { createRunWorkload } from "./workloads/run-workload.ts";
import { createStreamWorkload } from "./workloads/stream-workload.ts";

/** The options of `service prove`. */
export interface ProveOptions extends SettingsOptions, ConnectionOptions {
  readonly minutes: number;
  readonly nodes: number;
  readonly seed?: number;
  readonly embedded?: boolean;
  readonly databaseRestart?: boolean | string;
  readonly evidencePack?: string;
  readonly json?: boolean;
  readonly clean?: boolean;
  readonly watchdog?: boolean;
}

const nodeFaults = [kill, freeze, skewClock, cutDatabase, slowDatabase];
const workloads = [
  createQueueWorkload({ name: "plain", producers: 2, workers: 3, openMax: 1000 }),
  createQueueWorkload({
    ...{ name: "limited", producers: 1, workers: 3, openMax: 60 },
    recipients: { count: 3, capacity: 4 },
    groups: { count: 3, limit: 3 },
  }),
  createRunWorkload,
  createStreamWorkload,
  createEventWorkload,
  createMessageWorkload,
  createActionWorkload,
  createAssignmentWorkload,
  createNeighbourWorkload,
];

const restartAdvice =
  "Say how to restart the database server, for example --database-restart 'systemctl restart postgresql', or add --embedded.";

/** Runs a proof and prints its report. */
export async function proveCommand(io: Io, options: ProveOptions): Promise<number> {
  if (options.watchdog) {
    await runWatchdog();
    return exitCodes.ok;
  }
  const { config } = await resolveSettings(io, options);
  if (options.clean) {
    const names = await cleanUp(config).catch(refusal);
    io.out(names.length === 0 ? "Nothing is left of earlier runs.\n" : `Removed ${names.join(", ")}.\n`);
    return exitCodes.ok;
  }
  const { databaseRestart, embedded: isEmbedded = false } = options;
  if (databaseRestart === true && !isEmbedded) throw new CliError(restartAdvice, exitCodes.usage);
  const restartCommand = typeof databaseRestart === "string" ? databaseRestart : undefined;
  const pack =
    options.evidencePack === undefined
      ? undefined
      : await findEvidencePack(await resolveConnection(io, options), options.evidencePack).catch(refusal);
  const stopping = new AbortController();
  void firstStopSignal(io).then(() => stopping.abort());
  const watchdog = startWatchdog();
  const isLive = io.terminal && !options.json;
  const run = ({ restartDatabase, ...place }: ProofPlace) => {
    const faults =
      databaseRestart && restartDatabase ? [...nodeFaults, createDatabaseRestart(restartDatabase)] : nodeFaults;
    return runProof({
      ...place,
      ...{
        workloads,
        faults,
        main: process.argv[1]!,
        nodes: options.nodes,
        seed: options.seed ?? randomInt(2 ** 31),
      },
      durationMs: options.minutes * 60_000,
      stopping: stopping.signal,
      onProcesses: watchdog.guardProcesses,
      onProgress(progress) {
        // Moves to the top left, and clears what is below.
        if (isLive) io.out(`\x1b[H\x1b[J${formatScreen(progress, options.minutes * 60, io.columns)}`);
      },
    });
  };
  const report = await withProofPlace({ config, isEmbedded, restartCommand, watchdog }, run).catch(refusal);
  const receipt = await pack?.addReceipt(report).catch((error) => {
    io.err(`There is no evidence receipt: ${reasonOf(error)}\n`);
    return undefined;
  });
  io.out(
    options.json ? `${JSON.stringify({ ...report, receipt }, null, 2)}\n` : formatReport(report, receipt, io.columns),
  );
  if (pack !== undefined && receipt === undefined) return exitCodes.failed;
  return exitCodeOf(report);
}

function exitCodeOf({ verdict }: ProofReport): number {
  return verdict === "held" ? exitCodes.ok : exitCodes.failed;
}

function refusal(error: unknown): never {
  if (error instanceof CliError) throw error;
  throw new CliError(`Cannot prove: ${reasonOf(error)}`, exitCodes.failed, { cause: error });
}
