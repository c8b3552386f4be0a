import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after } from "node:test";

/** A received request. */
interface Arrived {
  readonly verb: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** A stub response; a function handles the response itself. */
type StubResponse =
  | {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly json?: unknown;
      readonly text?: string;
    }
  | ((response: ServerResponse) => void);

/** A service that records requests and returns configured responses. */
interface Stub {
  readonly address: string;
  readonly arrived: Arrived[];
  /** Responses to the next requests, in order; the last one repeats. */
  answers(...answers: StubResponse[]): void;
}

/** Starts a stub that stops after the test file's last test. */
export async function startStub(): Promise<Stub> {
  const arrived: Arrived[] = [];
  let queue: StubResponse[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { method, url, headers } = request;
    arrived.push({ verb: method!, target: url!, headers, body: body === "" ? undefined : JSON.parse(body) });
    const answer = (queue.length > 1 ? queue.shift() : queue[0]) ?? { json: { data: {}, metadata: {} } };
    if (typeof answer === "function") {
      answer(response);
      return;
    }
    const status = answer.status ?? 200;
    const type = status < 400 ? "application/json" : "application/problem+json";
    response.writeHead(status, { "content-type": type, ...answer.headers });
    response.end(answer.text ?? JSON.stringify(answer.json));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    answers(...answers) {
      arrived.length = 0;
      queue = answers;
    },
  };
}
