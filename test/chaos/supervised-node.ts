import { once } from "node:events";
import http from "node:http";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

/** A node that runs in its own process, or in the process of the test. */
export type RunningNode = Pick<NodeProcess, "baseUrl" | "adminKey" | "kill">;

/** A node that is restarted whenever it is killed, as by a supervisor. */
export interface SupervisedNode {
  /** The running node, or a promise of the next one. */
  readonly current: Promise<RunningNode>;
  /** Kills the node immediately and starts the next one. */
  crash(): Promise<void>;
  /** Asks the node to stop, as for a deployment, and starts the next one. Returns the exit code of the stopped one. */
  restart(): Promise<number | NodeJS.Signals>;
  /** Sends a signal to the process of the node. */
  signal(signal: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a supervised node that crashes or restarts at most so many times. A node that is not going to end this way runs in
 * the process of the test, because a process takes seconds of CPU time to start.
 */
export async function supervise(
  settings: Readonly<Record<string, string>>,
  endsMax = Number.POSITIVE_INFINITY,
): Promise<SupervisedNode> {
  let ends = 0;
  const start = async (): Promise<NodeProcess | RunningNode> => {
    if (ends < endsMax) return startNodeProcess(settings);
    const { baseUrl, adminKey, stop } = await startService(settings, settings["database.url"]);
    return { baseUrl, adminKey, kill: stop };
  };
  let current = start();
  await current;
  async function asProcess(): Promise<NodeProcess> {
    const node = await current;
    if (!("process" in node)) throw new Error(`The node ends more than ${endsMax} times.`);
    return node;
  }
  /** Ends the process of the node and starts the next one. */
  async function end(by: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    const leaving = await asProcess();
    ends++;
    leaving.process.kill(by);
    current = leaving.exited.then(start);
    await current;
    return leaving.exited;
  }
  return {
    get current() {
      return current;
    },
    async crash() {
      await end("SIGKILL");
    },
    restart: () => end("SIGTERM"),
    async signal(signal) {
      (await asProcess()).process.kill(signal);
    },
    stop: async () => (await current).kill(),
  };
}

/** The response to a call. */
export interface PostResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  readonly body: any;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 100 });

/** Posts once; rejects when the connection breaks before the response is complete. */
export async function post(
  { baseUrl, adminKey }: Pick<RunningNode, "baseUrl" | "adminKey">,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<PostResponse> {
  const request = http.request(baseUrl + path, {
    agent,
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": adminKey, ...headers },
  });
  request.end(JSON.stringify(body));
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  if (!response.complete) throw new Error("The response was truncated");
  return { status: response.statusCode!, body: JSON.parse(text) };
}

/** Posts with an idempotency key until a response is not retryable, through any number of crashes. */
export async function postUntilAnswered(
  service: SupervisedNode,
  path: string,
  body: object,
  key: string,
): Promise<PostResponse> {
  const answer = await until(
    async () => post(await service.current, path, body, { "idempotency-key": key }).catch(() => undefined),
    (last) => last !== undefined && last.status < 500 && last.body.errorCode !== "IDEMPOTENCY_IN_PROGRESS",
    300_000,
  );
  return answer!;
}
