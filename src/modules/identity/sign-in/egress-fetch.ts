import type { Egress } from "../../../platform/egress/index.ts";

const timeoutMs = 10_000;
const bytesMax = 512 * 1024;

/** The part of a request that oauth4webapi sends. */
interface FetchOptions {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | string | ArrayBuffer | Uint8Array | ReadableStream | null | undefined;
}

/** A fetch function that sends through the egress guard, because tenants choose the addresses of their providers. */
export function createEgressFetch(egress: Egress) {
  return async (url: string, { method, headers, body }: FetchOptions): Promise<Response> => {
    const text = body === undefined || body === null ? undefined : String(body as URLSearchParams | string);
    const answer = await egress.request({ method, url, headers, timeoutMs, bytesMax, ...(text && { body: text }) });
    const hasBody = answer.status !== 204 && answer.status !== 304;
    return new Response(hasBody ? new Uint8Array(answer.body) : null, {
      status: answer.status,
      headers: answer.headers,
    });
  };
}
