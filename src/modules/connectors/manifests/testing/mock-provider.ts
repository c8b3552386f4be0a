import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Json } from "../../../../platform/document/index.ts";
import { createEgress, type Egress } from "../../../../platform/egress/index.ts";
import { createLog } from "../../../../platform/log/log.ts";
import { createMetrics } from "../../../../platform/telemetry/index.ts";
import type { PollSpec } from "../domain/language/trigger.ts";
import type { Provider } from "../domain/provider.ts";
import type { RequestSpec } from "../domain/request-spec.ts";
import { type MockFailure, performFault, sendAnswer } from "./mock-answer.ts";
import { type DeclaredRequest, differenceOf, type ReceivedRequest, specificityOf } from "./request-matcher.ts";
import { sampleBody } from "./sample-value.ts";

export interface MockedRequest extends ReceivedRequest {
  /**
   * The actions, or other declared requests such as `account:oauth2`, that can be meant, the most specific first. Empty if the
   * manifest does not declare the request.
   */
  readonly names: readonly string[];
}

/** A provider's API, compiled from its manifest. */
export interface MockProvider {
  readonly port: number;
  /** All requests, in the order in which they arrived. */
  readonly requests: readonly MockedRequest[];
  /** The requests that the manifest does not declare, with the difference to the nearest declared one. They get status 501. */
  readonly undeclared: readonly string[];
  /** Adds a fault for the next request of an action, or of any with `*`. Faults are used up one by one. */
  fail(name: string, fault: MockFailure, times?: number): void;
  /** Sets the answer to all requests of an action. */
  answer(name: string, body: Json, headers?: Readonly<Record<string, string>>): void;
  /** Accepts only requests with this header; others get status 401. */
  requireHeader(name: string, value: string): void;
  /** An egress that sends the requests for the provider's hosts to the mock. */
  readonly egress: Egress;
  close(): Promise<void>;
}

export type { MockFailure };

const hostHeader = "x-mock-host";

/** Starts a mock on a loopback address. */
export async function startMock(provider: Provider): Promise<MockProvider> {
  const declared = declaredRequests(provider);
  const requests: MockedRequest[] = [];
  const undeclared: string[] = [];
  const faults = new Map<string, MockFailure[]>();
  const answers = new Map<string, { body: Json; headers: Readonly<Record<string, string>> }>();
  let required: { name: string; value: string } | undefined;

  function nextFault(names: readonly string[]): MockFailure | undefined {
    for (const name of [...names, "*"]) {
      const fault = faults.get(name)?.shift();
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  function respond(received: ReceivedRequest, response: ServerResponse): void {
    const { matches, difference } = findDeclared(provider, declared, received);
    const names = matches.map(({ name }) => name);
    requests.push({ ...received, names });
    const [match] = matches;
    if (match === undefined) {
      undeclared.push(`${received.method} ${received.host}${received.path}: ${difference}`);
      const message = `The manifest does not declare this request: ${difference}.`;
      sendAnswer(response, { status: 501, body: { message } });
      return;
    }
    if (required !== undefined && received.headers[required.name] !== required.value) {
      sendAnswer(response, { status: 401, body: { message: "Bad credentials." } });
      return;
    }
    const own = answers.get(names.find((name) => answers.has(name)) ?? match.name);
    const usual = { status: 200, body: own?.body ?? bodyOf(match), headers: own?.headers };
    const fault = nextFault(names);
    if (fault === undefined) sendAnswer(response, usual);
    else performFault(response, fault, usual);
  }

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    void read(request).then((received) => respond(received, response));
  };
  // Both have the same requests and responses, as far as the mock uses them.
  const server = provider.httpVersion === "2" ? createHttp2Server(handle as never) : createServer(handle);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const direct = createEgress({
    mode: "enforce",
    allowedDomains: [],
    allowedIpNets: ["127.0.0.0/8"],
    log: createLog("silent"),
    metrics: createMetrics(),
    clock: { now: () => Date.now() },
  });
  return {
    port,
    requests,
    undeclared,
    fail(name, fault, times = 1) {
      const queue = faults.get(name) ?? [];
      for (let each = 0; each < times; each++) queue.push(fault);
      faults.set(name, queue);
    },
    answer: (name, body, headers = {}) => void answers.set(name, { body, headers }),
    requireHeader: (name, value) => {
      required = { name: name.toLowerCase(), value };
    },
    egress: {
      request(call) {
        const url = new URL(call.url);
        const target = `http://127.0.0.1:${port}${url.pathname}${url.search}`;
        return direct.request({ ...call, url: target, headers: { ...call.headers, [hostHeader]: url.host } });
      },
      resolve: (host) => direct.resolve(host),
    },
    async close() {
      direct.close();
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

function declaredRequests(provider: Provider): readonly DeclaredRequest[] {
  const declared: DeclaredRequest[] = [];
  for (const action of provider.actions.values()) {
    const { name, request, mutation, paginate } = action;
    if (request !== undefined) declared.push({ name, request, action, mutationKey: mutation.keyIn, paginate });
  }
  for (const { name, register, poll } of provider.triggers.values()) {
    if (poll !== undefined) declared.push({ name: `poll:${name}`, request: withSince(poll), paginate: poll.paginate });
    if (register === undefined) continue;
    declared.push({ name: `register:${name}`, request: register.request });
    if (register.renew !== undefined) declared.push({ name: `renew:${name}`, request: register.renew });
    if (register.unregister !== undefined) declared.push({ name: `unregister:${name}`, request: register.unregister });
  }
  for (const mode of provider.authModes) {
    const auth = provider.auth(mode)!;
    if ("account" in auth && auth.account !== undefined) {
      declared.push({ name: `account:${mode}`, request: auth.account.request });
    }
  }
  return declared.toSorted((one, other) => specificityOf(other) - specificityOf(one));
}

/** A poll adds its start time to the request. */
function withSince({ request, since }: PollSpec): RequestSpec {
  if (since?.in !== "query") return request;
  const members = request.query?.kind === "object" ? request.query.members : [];
  const any = {
    kind: "placeholder",
    placeholder: { root: "input", path: [], filter: undefined, fallback: undefined },
  } as const;
  return { ...request, query: { kind: "object" as const, members: [...members, [since.param, any] as const] } };
}

function findDeclared(provider: Provider, declared: readonly DeclaredRequest[], received: ReceivedRequest) {
  let difference = "nothing is declared";
  const host = URL.parse(`https://${received.host}`);
  const isLoopback = /^(127\.0\.0\.1|localhost)/.test(received.host);
  const usesSettings = provider.hosts.patterns.some((each) => each.startsWith("{"));
  if (!isLoopback && !usesSettings && (host === null || !provider.hosts.allows(host, {}))) {
    return { matches: [], difference: `host ${received.host}` };
  }
  const matches: DeclaredRequest[] = [];
  let best = 0;
  for (const each of declared) {
    const found = differenceOf(provider, each, received);
    if (found === undefined) {
      matches.push(each);
      continue;
    }
    // A request with the same method and path is the nearest one.
    const nearness = found.startsWith("method") ? 0 : found.startsWith("path") ? 1 : 2;
    if (nearness >= best) difference = `${found} (nearest is ${each.name})`;
    best = Math.max(best, nearness);
  }
  return { matches, difference };
}

function bodyOf({ action }: DeclaredRequest): Json | string | undefined {
  if (action === undefined) return { id: "1" };
  if (action.response === "none") return undefined;
  if (action.response === "text" || action.response === "binary") return "text";
  return sampleBody(action);
}

async function read(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url!, "http://mock");
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers).filter(([name]) => !name.startsWith(":")))
    headers[name] = Array.isArray(value) ? value.join(", ") : value;
  return {
    method: request.method!,
    host: headers[hostHeader] ?? headers.host ?? "",
    path: url.pathname,
    query: [...url.searchParams],
    headers,
    body: Buffer.concat(chunks),
  };
}
