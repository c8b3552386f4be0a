import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";

/** A node of the service in a process of its own, which may be killed at any time. */
export interface NodeProcess {
  readonly process: ChildProcess;
  /** Resolves when it serves, and rejects if it ends before. */
  readonly serving: Promise<Greeting>;
  /** Resolves when the process ends, with its exit code or signal. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** The end of its output so far. */
  output(): string;
  /** Kills the process, as in a crash. */
  kill(): Promise<void>;
}

/** What a node says when it serves. */
export interface Greeting {
  readonly baseUrl: string;
  readonly text: string;
}

const alive = new Set<ChildProcess>();
/** What is kept of the output of a node. */
const outputMax = 1 << 20;
let isEndWatched = false;

/** Starts a node, which does not serve yet. */
export function startNodeProcess([file, ...args]: readonly [string, ...string[]], options: SpawnOptions): NodeProcess {
  // A starter that fails must not leave a node running.
  if (!isEndWatched) process.once("exit", killAll);
  isEndWatched = true;
  const child = spawn(file, args, options);
  alive.add(child);
  let output = "";
  const exited = once(child, "exit").then(([code, signal]) => {
    alive.delete(child);
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const greeted = new Promise<Greeting>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream!.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-outputMax);
        const greeting = /serving at (\S+)[\s\S]*admin key[^\n]*\n/.exec(output);
        if (greeting !== null) resolve({ baseUrl: greeting[1]!, text: greeting[0] });
      });
    }
  });
  const endedEarly = exited.then((end): never => {
    throw new Error(`The node ended with ${end}:\n${output}`);
  });
  return {
    process: child,
    serving: Promise.race([greeted, endedEarly]),
    exited,
    output: () => output,
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function killAll(): void {
  for (const child of alive) child.kill("SIGKILL");
}
