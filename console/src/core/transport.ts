import { createTransport } from "@client/transport/transport";
import { signal } from "@preact/signals";

/** A request that the console has sent, in the form that people can repeat. */
export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly body: string | undefined;
}

const sentMax = 12;

/** The last requests of the current page, newest first, without repetitions. */
export const sentRequests = signal<readonly SentRequest[]>([]);

/** Forgets the requests of the previous page. */
export function forgetRequests(): void {
  sentRequests.value = [];
}

/** Sends the calls of all pages with the session of the browser. The console has no other credentials. */
export const transport = createTransport({
  fetch(input, init) {
    remember({
      method: init?.method ?? "GET",
      target: String(input),
      body: typeof init?.body === "string" ? init.body : undefined,
    });
    return send(input, init);
  },
});

/** Sends calls that are not those of the current page, such as those of the search. */
export const unlistedTransport = createTransport({ fetch: send });

async function send(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (response.status === 401) signIn();
  return response;
}

function remember(request: SentRequest): void {
  const isSame = (other: SentRequest) =>
    other.method === request.method && other.target === request.target && other.body === request.body;
  const others = sentRequests.peek().filter((each) => !isSame(each));
  sentRequests.value = [request, ...others].slice(0, sentMax);
}

/** Asks the person to sign in again, and to come back to this page. */
function signIn(): void {
  const returnTo = location.pathname + location.search;
  location.assign(`/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`);
}

/** A request as a curl command. The key comes from the environment. */
export function toCurl({ method, target, body }: SentRequest): string {
  const parts = [`curl -sS${method === "GET" ? "" : ` -X ${method}`} '${location.origin}${target}'`];
  parts.push(`-H "X-API-Key: $SWITCHYARD_KEY"`);
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d '${body.replaceAll("'", `'\\''`)}'`);
  return parts.join(" \\\n  ");
}
