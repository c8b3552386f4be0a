import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  type CallOptions,
  type Client,
  createClient,
  isApiError,
  SwitchyardError,
} from "../../../../clients/typescript/src/index.ts";
import { type Backoff, backoffMs } from "../../../platform/backoff/backoff.ts";
import { addressOf, startTcpProxy, type TcpProxy } from "./database-proxy.ts";
import { createProofNode, type ProofNode } from "./proof-node.ts";

/** A node with its own way to the database. */
export interface Member {
  readonly node: ProofNode;
  readonly proxy: TcpProxy;
}

/** The answer to a call. */
export interface Answer<T> {
  readonly value: T;
  /** The number of the node that answered. */
  readonly node: number;
}

/** What a call does with a client. The options belong to the attempt. */
export type Work<T> = (client: Client, options: CallOptions) => Promise<T>;

/** The nodes of a run, and callers that reach any of them, like behind a load balancer. */
export interface Cluster {
  readonly members: readonly Member[];
  /** Calls one node after another until one gives a final answer. Throws final refusals. */
  call<T>(apiKey: string, work: Work<T>, idempotencyKey?: string | null): Promise<Answer<T>>;
  /** How many calls wait for an answer, and how long the slowest answer so far took. */
  waits(): { readonly unanswered: number; readonly slowestMs: number };
  stop(): Promise<void>;
}

interface Options {
  readonly count: number;
  /** The CLI that the nodes run. */
  readonly main: string;
  readonly databaseUrl: string;
  /** A folder that only this user can enter. */
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly random: () => number;
  readonly onProcesses: (pids: readonly number[]) => void;
  /** Called with an internal error of a node, and what it logged about it. */
  readonly onInternalError: (message: string) => void;
  readonly onLoss: (node: ProofNode, end: number | NodeJS.Signals, output: string) => void;
}

const attemptMs = 4_000;
const repeats: Backoff = { firstMs: 20, maxMs: 500, spread: [0.5, 1] };
/** All faults have ended long before. */
const unansweredMs = 120_000;

/** Starts the nodes. The first one creates the schema. */
export async function startCluster(options: Options): Promise<Cluster> {
  const { count, main, databaseUrl, random } = options;
  const members: Member[] = [];
  const clients = new Map<string, Client>();
  const tellProcesses = () => options.onProcesses(members.flatMap(({ node }) => node.pid ?? []));

  function clientOf(baseUrl: string, apiKey: string): Client {
    const name = `${baseUrl} ${apiKey}`;
    const known = clients.get(name);
    if (known !== undefined) return known;
    const client = createClient({ baseUrl, apiKey, maxRetries: 0, timeoutMs: attemptMs });
    clients.set(name, client);
    return client;
  }

  const waiting = new Set<{ readonly atMs: number }>();
  let slowestMs = 0;
  let isStopped = false;

  async function call<T>(apiKey: string, work: Work<T>, key: string | null = null): Promise<Answer<T>> {
    const start = { atMs: performance.now() };
    waiting.add(start);
    return repeatCall(apiKey, work, key).finally(() => {
      waiting.delete(start);
      slowestMs = Math.max(slowestMs, performance.now() - start.atMs);
    });
  }

  async function repeatCall<T>(apiKey: string, work: Work<T>, key: string | null): Promise<Answer<T>> {
    const untilMs = performance.now() + unansweredMs;
    let last: unknown;
    for (let attempt = 1; performance.now() < untilMs; attempt++) {
      if (isStopped) throw new Error("The run has ended.");
      const serving = members.filter(({ node }) => node.baseUrl !== undefined);
      const node = serving[Math.floor(random() * serving.length)]?.node;
      if (node?.baseUrl !== undefined) {
        try {
          const value = await work(clientOf(node.baseUrl, apiKey), { idempotencyKey: key });
          return { value, node: node.number };
        } catch (error) {
          if (isApiError(error, "INTERNAL")) options.onInternalError(`${error.message} ${node.logOf(error.message)}`);
          else if (!mayBeRepeated(error)) throw error;
          last = error;
        }
      }
      await delay(backoffMs(repeats, attempt, random()));
    }
    throw new Error(`No node has answered within ${unansweredMs / 1000} s`, { cause: last });
  }

  async function stop(): Promise<void> {
    isStopped = true;
    await Promise.all(members.map(({ node }) => node.kill()));
    await Promise.all(members.map(({ proxy }) => proxy.close()));
  }

  try {
    for (let number = 1; number <= count; number++) {
      const { proxy, url } = await startProxy(databaseUrl, join(options.folder, `n${number}`));
      const settings = { ...options.settings, "database.url": url };
      const node = createProofNode({ number, main, settings, onChange: tellProcesses, onLoss: options.onLoss });
      members.push({ node, proxy });
    }
    await members[0]!.node.start();
    await Promise.all(members.slice(1).map(({ node }) => node.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { members, call, waits: () => ({ unanswered: waiting.size, slowestMs }), stop };
}

function mayBeRepeated(error: unknown): boolean {
  if (isApiError(error, "IDEMPOTENCY_IN_PROGRESS")) return true;
  return error instanceof SwitchyardError && error.retryable;
}

/** Starts a proxy to a database, and returns the URL of the database behind it. */
async function startProxy(databaseUrl: string, folder: string) {
  const target = addressOf(databaseUrl);
  if (!("path" in target)) {
    const proxy = await startTcpProxy(target);
    return { proxy, url: urlAt(`127.0.0.1:${proxy.port}`, databaseUrl) };
  }
  // A server may trust everybody who can enter the folder of its socket, so its proxy has no port that others can reach.
  await mkdir(folder, { mode: 0o700 });
  const proxy = await startTcpProxy(target, { path: join(folder, ".s.PGSQL.5432") });
  return { proxy, url: urlAt(encodeURIComponent(folder), databaseUrl) };
}

function urlAt(host: string, databaseUrl: string): string {
  const { username, password, pathname, searchParams } = new URL(databaseUrl);
  // The name in the certificate is not that of the proxy.
  if (searchParams.get("sslmode") === "verify-full") searchParams.set("sslmode", "verify-ca");
  const credentials = `${username}${password === "" ? "" : `:${password}`}`;
  const query = searchParams.size === 0 ? "" : `?${searchParams}`;
  return `postgres://${credentials}@${host}${pathname}${query}`;
}
