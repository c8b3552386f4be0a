import { randomBytes } from "node:crypto";
import { version } from "../../app/version.ts";
import { createKeyText } from "../../modules/tenancy/index.ts";
import type { Fault } from "./fault.ts";
import { createHistory, type HistoryEvent } from "./history.ts";
import { checkInvariant, type Verdict } from "./invariant.ts";
import { startCluster } from "./nodes/cluster.ts";
import { promises } from "./promises.ts";
import { runRound } from "./proof-round.ts";
import { createRandom } from "./random.ts";
import { startReceiver } from "./receiver.ts";
import { type PromiseResult, type ProofReport, verdictOf } from "./report.ts";
import type { CreateWorkload } from "./workload.ts";

/** What a run has counted so far. */
export interface Progress {
  readonly seconds: number;
  readonly round: number;
  readonly phase: "starting" | "loading" | "checking";
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly refused: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly nodes: readonly string[];
  readonly unanswered: number;
  readonly slowestMs: number;
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

interface RunOptions {
  readonly databaseUrl: string;
  /** What the database is, for people. */
  readonly database: string;
  /** A folder for the files of the nodes. */
  readonly folder: string;
  /** The CLI that the nodes run. */
  readonly main: string;
  readonly nodes: number;
  readonly durationMs: number;
  readonly seed: number;
  readonly workloads: readonly CreateWorkload[];
  readonly faults: readonly Fault[];
  readonly stopping: AbortSignal;
  readonly onProcesses: (pids: readonly number[]) => void;
  readonly onProgress: (progress: Progress) => void;
}

/** What is loaded before it is checked, so that the memory of a run stays bounded. */
const roundMs = 90_000;

const internalErrorsMax = 10;

/** Runs rounds of load and faults until the time is over or a promise is broken. */
export async function runProof(options: RunOptions): Promise<ProofReport> {
  const { seed, workloads, faults, stopping } = options;
  const random = createRandom(seed);
  const faultRandom = createRandom(seed + 1);
  const startedAt = new Date();
  const startedAtMs = performance.now();
  const adminKey = createKeyText("prove", Date.now());
  const acknowledged: Record<string, number> = {};
  const injected: Record<string, number> = {};
  const verdicts = new Map<string, Verdict>();
  const state = { refused: 0, round: 0, phase: "starting" as Progress["phase"], failure: "" };
  const secondsSoFar = () => Math.round((performance.now() - startedAtMs) / 1000);
  const losses: string[] = [];
  const internalErrors: string[] = [];

  function count(event: HistoryEvent): void {
    if (event.kind === "acknowledged") acknowledged[event.name] = (acknowledged[event.name] ?? 0) + 1;
    else if (event.kind === "refused") state.refused++;
  }

  const receiver = await startReceiver(() => performance.now() - startedAtMs);
  const cluster = await startCluster({
    ...{ count: options.nodes, main: options.main, folder: options.folder },
    ...{ databaseUrl: options.databaseUrl, random, onProcesses: options.onProcesses },
    settings: { ...nodeSettings(options.folder), "auth.bootstrap_api_key": adminKey },
    onInternalError(message) {
      if (internalErrors.length < internalErrorsMax) internalErrors.push(message);
    },
    onLoss: ({ number }, end, output) =>
      losses.push(`node ${number} ended by itself with ${end}: ${output.slice(-2000)}`),
  }).catch((error) => {
    receiver.close();
    throw error;
  });
  const progress = setInterval(() => {
    const nodes = cluster.members.map(({ node }) => node.state);
    const { refused, round, phase } = state;
    options.onProgress({
      ...cluster.waits(),
      ...{ seconds: secondsSoFar(), round, phase, acknowledged, refused },
      faults: injected,
      nodes,
      verdicts,
    });
  }, 500);
  function checkAll(events: readonly HistoryEvent[]): void {
    state.phase = "checking";
    for (const { id, invariant } of promises) {
      const { tested, most, violations } = checkInvariant(invariant, events);
      const before = verdicts.get(id) ?? { tested: 0, most: 0 };
      verdicts.set(id, { tested: tested + before.tested, most: Math.max(most, before.most), violations });
    }
  }
  const isBroken = () => [...verdicts.values()].some(({ violations }) => violations.length > 0);
  try {
    const untilMs = performance.now() + options.durationMs;
    do {
      state.round++;
      state.phase = "loading";
      const history = createHistory(startedAtMs, count);
      // The last round is not a short one.
      const leftMs = untilMs - performance.now();
      const ran = runRound({
        ...{
          cluster,
          adminKey,
          number: state.round,
          workloads,
          faults,
          history,
          random,
          faultRandom,
          stopping,
          receiver,
        },
        loadMs: leftMs < 1.5 * roundMs ? Math.max(leftMs, 0) : roundMs,
        onFault(name) {
          injected[name] = (injected[name] ?? 0) + 1;
        },
      });
      // What a failed round has recorded counts as well.
      await ran.finally(() => checkAll(history.events));
      if (losses.length > 0) throw new Error(losses[0]);
    } while (!stopping.aborted && !isBroken() && performance.now() < untilMs);
  } catch (error) {
    state.failure = error instanceof Error ? error.message : String(error);
  } finally {
    clearInterval(progress);
    await cluster.stop();
    receiver.close();
  }
  const results = promises.map(({ id, text, document, invariant }): PromiseResult => {
    const { tested, most, violations } = verdicts.get(id) ?? { tested: 0, most: 0, violations: [] };
    const detail = invariant.measure === undefined ? "" : `${invariant.measure.name} ${most}`;
    const status = violations.length > 0 ? "broken" : tested > 0 ? "held" : "not tested";
    return { id, text, document, tested, detail, status, violations };
  });
  const { failure } = state;
  return {
    verdict: verdictOf({ failure, faults: injected, promises: results }),
    failure,
    ...{ version, database: options.database, nodes: options.nodes, seed },
    ...{ started_at: startedAt.toISOString(), seconds: secondsSoFar(), rounds: state.round },
    ...{ acknowledged, refused: state.refused, faults: injected, internal_errors: internalErrors },
    promises: results,
  };
}

/** The settings of nodes that only this machine can reach, and that share nothing with the installation. */
function nodeSettings(folder: string): Readonly<Record<string, string>> {
  return {
    "server.processes": "1",
    "server.http_addr": "127.0.0.1:0",
    "server.internal_addr": "127.0.0.1:0",
    "server.metrics_addr": "127.0.0.1:0",
    "api.addr": "127.0.0.1:0",
    "auth.api_key_enabled": "true",
    "auth.bcrypt_cost": "4",
    "connector.encryption_key": randomBytes(32).toString("base64"),
    "data.dir": folder,
    "database.max_connections": "10",
    "notification.outbox.enabled": "true",
    "egress.allowed_ip_nets": "127.0.0.1/32",
    "ratelimit.global_rps": "0",
    "ratelimit.tenant_rps": "0",
    "log.level": "warn",
    // A full disk is the operator's alarm already.
    "storage.warn_percent": "99",
    "storage.full_percent": "100",
  };
}
