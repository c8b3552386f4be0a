import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { finished } from "node:stream/promises";

/** A request without its address. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the request and the body of its response. */
  readonly signal?: AbortSignal;
}

/** The head of a response, and its unread body. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: IncomingMessage;
}

const agent = new Agent({ keepAlive: true });

/** Sends a request over HTTP/1.1. It takes half the CPU time of fetch, and the tests send tens of thousands of requests. */
export async function sendHttp(url: string, { method, headers, body, signal }: HttpRequest): Promise<HttpResponse> {
  const sent = request(url, { method, headers, agent, signal });
  // An error after the head is also an error of the body, which the reader handles.
  sent.on("error", () => {});
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode!, headers: headersOf(response), body: response };
}

/** Requests a document and discards it as it arrives, because keeping megabytes of them slows a test down. */
export async function discardDocument(url: string, headers: HttpRequest["headers"] = {}): Promise<void> {
  const { body } = await sendHttp(url, { method: "GET", headers });
  await finished(body.resume());
}

/** Closes the connections that no request uses. A node that stops waits for callers with open connections. */
export function closeIdleConnections(): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets!) socket.destroy();
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  return headers;
}
