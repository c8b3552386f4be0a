import { setTimeout as delay } from "node:timers/promises";
import { environmentName } from "../../../config/index.ts";
import { type NodeProcess, startNodeProcess } from "./node-process.ts";
import { clockSkewedBy, endWithStarter, preloadOf } from "./preload.ts";

/** What a node of a proof is doing. */
export type NodeState = "down" | "serving" | "frozen";

/** A node that the run starts, breaks and starts again. */
export interface ProofNode {
  readonly number: number;
  readonly state: NodeState;
  /** Where it serves; undefined while it does not. */
  readonly baseUrl: string | undefined;
  readonly pid: number | undefined;
  /** Starts it, on a machine whose system clock is wrong by so much. */
  start(skewMs?: number): Promise<void>;
  kill(): Promise<void>;
  /** What it logged about an error message with a reference. */
  logOf(message: string): string;
  freeze(): void;
  thaw(): void;
}

interface Options {
  readonly number: number;
  /** The CLI that it runs. */
  readonly main: string;
  readonly settings: Readonly<Record<string, string>>;
  /** The time in which it serves after a start. */
  readonly startMsMax?: number;
  /** Called when its process has started or ended. */
  readonly onChange: () => void;
  /** Called when a serving node ends although nobody killed it. */
  readonly onLoss: (node: ProofNode, end: number | NodeJS.Signals, output: string) => void;
}

/** Creates a node with these settings, which is down. */
export function createProofNode(options: Options): ProofNode {
  const { number, main, settings, startMsMax = 120_000, onChange, onLoss } = options;
  let running: NodeProcess | undefined;
  let baseUrl: string | undefined;
  let state: NodeState = "down";
  const node: ProofNode = {
    number,
    get state() {
      return state;
    },
    get baseUrl() {
      return state === "serving" ? baseUrl : undefined;
    },
    get pid() {
      return running?.process.pid;
    },
    async start(skewMs = 0) {
      const code = skewMs === 0 ? endWithStarter : endWithStarter + clockSkewedBy(skewMs);
      const words = [...process.execArgv, "--import", preloadOf(code), main, "serve"];
      // Its own session: a Ctrl-C in the terminal is for the run, which stops the nodes.
      const started = startNodeProcess([process.execPath, ...words], {
        env: { ...withoutSettings(process.env), ...environmentOf(settings) },
        stdio: ["pipe", "pipe", "pipe"],
        detached: true,
      });
      running = started;
      onChange();
      const forget = () => {
        if (running === started) running = undefined;
        onChange();
      };
      void started.exited.then((end) => {
        const isLost = running === started && state !== "down";
        if (isLost) state = "down";
        forget();
        if (isLost) onLoss(node, end, started.output());
      }, forget);
      const tooLate = delay(startMsMax, undefined, { ref: false }).then(() => {
        throw new Error(`Node ${number} does not serve ${startMsMax / 1000} s after its start:\n${started.output()}`);
      });
      try {
        ({ baseUrl } = await Promise.race([started.serving, tooLate]));
      } catch (error) {
        await started.kill();
        throw error;
      }
      state = "serving";
    },
    async kill() {
      state = "down";
      await running?.kill();
    },
    logOf(message) {
      const reference = /ref: (\w+)/.exec(message)?.[1];
      const lines = running?.output().split("\n") ?? [];
      return lines.find((line) => reference !== undefined && line.includes(reference))?.slice(0, 2000) ?? "";
    },
    freeze() {
      state = "frozen";
      running!.process.kill("SIGSTOP");
    },
    thaw() {
      running!.process.kill("SIGCONT");
      state = "serving";
    },
  };
  return node;
}

/** Settings as environment variables, because everybody on a machine can read command lines. */
function environmentOf(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [environmentName(key), value]));
}

/** The environment without the settings of the installation. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("SERVICE_")));
}
