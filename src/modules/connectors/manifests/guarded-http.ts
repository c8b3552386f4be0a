import { type Egress, EgressError } from "../../../platform/egress/index.ts";
import type { Provider } from "./domain/provider.ts";
import type { HttpRequest } from "./domain/request-spec.ts";

/** The bounds of one request. */
export interface SendLimits {
  readonly timeoutMs: number;
  readonly bytesMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests to a provider's declared hosts and to no others. */
export type GuardedHttp = ReturnType<typeof createGuardedHttp>;

/** Creates the sender. The manifest's hosts are enforced in every egress mode, also where the egress policy only reports. */
export function createGuardedHttp(egress: Egress) {
  return {
    /** Redirects are returned and never followed. Every failure is an EgressError. */
    async send(
      { hosts, httpVersion }: Pick<Provider, "hosts"> & Partial<Pick<Provider, "httpVersion">>,
      settings: Readonly<Record<string, unknown>>,
      { method, url, headers, body }: HttpRequest,
      { timeoutMs, bytesMax, signal }: SendLimits,
    ) {
      const target = URL.parse(url);
      if (target === null) throw new EgressError("invalid_url", "The URL is not valid.", false);
      if (!hosts.allows(target, settings)) {
        throw new EgressError("denied", `The manifest does not declare the host ${target.hostname}.`, false);
      }
      return egress.request({
        method,
        url,
        headers,
        timeoutMs,
        ...(bytesMax !== undefined && { bytesMax }),
        ...(httpVersion === "2" && { http2: true }),
        ...(body !== undefined && { body }),
        ...(signal !== undefined && { signal }),
      });
    },
  };
}
