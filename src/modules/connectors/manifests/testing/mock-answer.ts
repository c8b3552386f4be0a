import type { ServerResponse } from "node:http";
import type { Json } from "../../../../platform/document/index.ts";

/** An answer of the mock. A text is sent as it is. */
export interface MockAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Json | undefined;
}

/** A deviation of the mock from the answer that the manifest describes. */
export type MockFailure =
  /** Any answer, such as a recorded one of the vendor. */
  | ({ readonly kind: "answer" } & MockAnswer)
  | { readonly kind: "rate_limited"; readonly retryAfterS?: number }
  | { readonly kind: "expired" }
  /** Status 200 with a body that is not JSON. */
  | { readonly kind: "malformed" }
  /** Closes the connection after the request has arrived: before the answer, or in the middle of it. */
  | { readonly kind: "cut"; readonly when?: "before_answer" | "in_answer" }
  /** Answers after a time; without one it never answers. */
  | { readonly kind: "slow"; readonly ms?: number }
  /** Answers when a promise resolves. */
  | { readonly kind: "held"; readonly until: Promise<unknown> };

export function sendAnswer(response: ServerResponse, { status, headers = {}, body }: MockAnswer): void {
  const type = typeof body === "string" ? "text/plain" : "application/json";
  response.writeHead(status, { ...(body !== undefined && { "content-type": type }), ...headers });
  if (body === undefined) response.end();
  else response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Performs a fault. `usual` is the answer without it. */
export function performFault(response: ServerResponse, fault: MockFailure, usual: MockAnswer): void {
  switch (fault.kind) {
    case "answer":
      sendAnswer(response, fault);
      break;
    case "rate_limited": {
      const headers = { "retry-after": String(fault.retryAfterS ?? 1) };
      sendAnswer(response, { status: 429, headers, body: { message: "Too many requests." } });
      break;
    }
    case "expired":
      sendAnswer(response, { status: 401, body: { message: "The token has expired." } });
      break;
    case "malformed":
      sendAnswer(response, { status: 200, headers: { "content-type": "text/html" }, body: "<html>" });
      break;
    case "cut":
      cut(response, fault.when ?? "before_answer");
      break;
    case "slow":
      if (fault.ms !== undefined) setTimeout(sendAnswer, fault.ms, response, usual);
      break;
    case "held":
      void fault.until.then(() => sendAnswer(response, usual));
      break;
  }
}

function cut(response: ServerResponse, when: "before_answer" | "in_answer"): void {
  if (when === "before_answer") {
    response.destroy();
    return;
  }
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write("{", () => response.destroy());
}
