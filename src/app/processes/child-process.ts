import { fork } from "node:child_process";
import type { MetricFamily } from "../../platform/telemetry/index.ts";
import type { Assignment, ProcessCalls, StartReport, StopMode, SupervisorCalls } from "./process-calls.ts";
import { openChannel, type ProcessChannel } from "./process-channel.ts";
import { type ConnectionTaker, connectionTaken } from "./shared-listeners.ts";

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process of the supervisor, which is a node. */
export interface ChildProcess {
  readonly number: number;
  readonly pid: number;
  readonly calls: ProcessChannel<ProcessCalls>;
  /** Resolves when it serves; undefined if it ends before. */
  readonly started: Promise<StartReport | undefined>;
  readonly ended: Promise<ProcessEnd>;
  /** Whether it serves, and whether it was asked to stop. */
  state: "starting" | "serving" | "stopping";
  /** What it counted, as last heard. */
  lastMetrics: readonly MetricFamily[];
  /** Takes connections while it accepts any. */
  readonly taker: ConnectionTaker;
  /** Asks it to stop, and kills it if it takes too long. */
  stop(mode: StopMode, killMs: number): Promise<void>;
}

/** The calls that are answered for all processes alike. */
type SharedCalls = Omit<SupervisorCalls, "assignment" | "serving" | "stopAccepting" | "ended">;

/** The environment variable of a process that has a supervisor. */
export const supervisedVariable = "SWITCHYARD_SUPERVISED";

interface ConnectionEvents {
  /** The process has taken a connection that it was sent. */
  readonly onTaken: (taker: ConnectionTaker) => void;
  /** The process takes no more. */
  readonly onStopAccepting: () => void;
}

/** Starts a process with the command line of this one. */
export function startChildProcess(
  assignment: Assignment,
  shared: SharedCalls,
  { onTaken, onStopAccepting }: ConnectionEvents,
): ChildProcess {
  const [main, ...args] = process.argv.slice(1) as [string, ...string[]];
  const worker = fork(main, args, { env: { ...process.env, [supervisedVariable]: "1" } });
  // A message to a process that has just ended.
  worker.on("error", () => {});
  worker.on("message", (message) => message === connectionTaken && onTaken(child.taker));
  let isAccepting = false;
  const { promise: serving, resolve: onServing } = Promise.withResolvers<StartReport>();
  const calls = openChannel<ProcessCalls>(worker, {
    ...shared,
    assignment: () => assignment,
    serving(report: StartReport) {
      child.state = "serving";
      isAccepting = true;
      onServing(report);
    },
    stopAccepting() {
      isAccepting = false;
      onStopAccepting();
    },
    ended(families: readonly MetricFamily[]) {
      child.lastMetrics = families;
    },
  } satisfies SupervisorCalls);
  // Not `once` of node:events: it rejects at the first error, such as that of a message to an ended process.
  const exited = new Promise<ProcessEnd>((resolve) => worker.once("exit", (code, signal) => resolve({ code, signal })));
  const ended = exited.then((end) => {
    child.state = "stopping";
    isAccepting = false;
    calls.close("the process has ended");
    return end;
  });
  const child: ChildProcess = {
    ...{ number: assignment.place.number, pid: worker.pid!, calls, ended },
    ...{ state: "starting", lastMetrics: [] },
    started: Promise.race([serving, ended.then(() => undefined)]),
    taker: {
      isAccepting: () => isAccepting,
      give: (listener, socket) => void worker.send({ connection: listener }, socket, { keepOpen: true }),
    },
    async stop(mode, killMs) {
      child.state = "stopping";
      const timer = setTimeout(() => worker.kill("SIGKILL"), killMs);
      calls.call("stop", mode).catch(() => {});
      await ended;
      clearTimeout(timer);
    },
  };
  return child;
}
