import { type Config, settings } from "../../config/index.ts";
import type { Readiness } from "../../gateway/health.ts";
import type { Audit } from "../../platform/audit/index.ts";
import { setProcessPlace } from "../../platform/process-share/process-share.ts";
import type { Metrics } from "../../platform/telemetry/index.ts";
import { divideLimits } from "./divided-limits.ts";
import type { Assignment, ProcessCalls, StartReport, StopMode, SupervisorCalls } from "./process-calls.ts";
import { openChannel } from "./process-channel.ts";
import { createSupervisedListeners, type SupervisedListeners } from "./supervised-listeners.ts";

/** What a supervisor asks the node of a process. */
interface ServingNode extends Pick<ProcessCalls, "linkApprover"> {
  readonly metrics: Pick<Metrics, "families">;
  readonly readiness: () => Promise<Readiness>;
}

/** The supervisor of this process, and what it does for all processes of the machine. */
export interface SupervisingProcess extends Pick<Assignment, "place" | "databaseUrl" | "isFirst"> {
  /** The settings, with this process's shares of the limits. */
  readonly config: Config;
  readonly listeners: SupervisedListeners;
  /** The audit log, which has one writer. */
  readonly openAudit: ((now: () => number) => Audit) | undefined;
  readonly metrics: () => Promise<string>;
  readonly readiness: () => Promise<Readiness>;
  /** Resolves when this process is asked to stop. */
  readonly stopped: Promise<StopMode>;
  /** Tells the supervisor that this process serves. */
  announce(node: ServingNode, report: StartReport): Promise<void>;
  /** Tells the supervisor what this process has counted, as its last act. */
  leave(metrics: ServingNode["metrics"]): Promise<void>;
}

/**
 * Connects this process to its supervisor, and ends it if the supervisor ends. The settings are those of the supervisor. A process of
 * a newer version reads those that its supervisor does not know.
 */
export async function connectToSupervisor(readOwn: () => Promise<Config>): Promise<SupervisingProcess> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<StopMode>();
  // As after a crash: what was acknowledged is in the database, and nobody would give this process connections.
  process.once("disconnect", () => process.exit(1));
  const { promise: serving, resolve: onServing } = Promise.withResolvers<ServingNode>();
  const end = { send: (message: object) => process.send!(message), on: process.on.bind(process) };
  const supervisor = openChannel<SupervisorCalls>(end, {
    stop,
    linkApprover: async (tenantId) => (await serving).linkApprover(tenantId),
    metrics: async () => (await serving).metrics.families(),
    readiness: async () => (await serving).readiness(),
  } satisfies ProcessCalls);
  // A signal to the whole group, such as of Ctrl-C, is for the supervisor, which then asks every process to stop.
  for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
  process.on("SIGTERM", () => stop("drain"));
  const { config, hasAudit, ...assignment } = await supervisor.call("assignment");
  const isComplete = Object.keys(settings).every((key) => key in config);
  const complete = isComplete ? config : { ...(await readOwn()), ...config };
  setProcessPlace(assignment.place);
  return {
    ...assignment,
    config: divideLimits(complete, assignment.place),
    openAudit: hasAudit
      ? (now) => {
          return {
            append: (entry, time = new Date(now()).toISOString()) => supervisor.call("audit", { entry, time }),
            close: async () => {},
          };
        }
      : undefined,
    listeners: createSupervisedListeners({
      bind: (name, { host, port }) => supervisor.call("listen", { name, host, port }),
      stopAccepting: () => supervisor.call("stopAccepting"),
    }),
    metrics: () => supervisor.call("metrics"),
    readiness: () => supervisor.call("readiness"),
    stopped,
    async announce(node, report) {
      onServing(node);
      await supervisor.call("serving", report);
    },
    leave: async (metrics) => supervisor.call("ended", await metrics.families()),
  };
}
