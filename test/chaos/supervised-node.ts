import { once } from "node:events";
import http from "node:http";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { until } from "../harness/until.ts";

/** A node that is restarted whenever it is killed, as by a supervisor. */
export interface SupervisedNode {
  /** The running node, or a promise of the next one. */
  readonly current: Promise<NodeProcess>;
  /** Kills the node immediately and starts the next one. */
  crash(): Promise<void>;
  /** Asks the node to stop, as for a deployment, and starts the next one. Returns the exit code of the stopped one. */
  restart(): Promise<number | NodeJS.Signals>;
  stop(): Promise<void>;
}

/** Starts a supervised node. */
export async function supervise(settings: Readonly<Record<string, string>>): Promise<SupervisedNode> {
  let current = startNodeProcess(settings);
  await current;
  return {
    get current() {
      return current;
    },
    async crash() {
      const victim = await current;
      current = victim.kill().then(() => startNodeProcess(settings));
      await current;
    },
    async restart() {
      const leaving = await current;
      leaving.process.kill("SIGTERM");
      current = leaving.exited.then(() => startNodeProcess(settings));
      await current;
      return leaving.exited;
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
  { baseUrl, adminKey }: NodeProcess,
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
