import { type Exchange, headerOf } from "../exchange.ts";

/** Where browsers may call the endpoint from. */
export interface OriginRules {
  /** Origins in the settings; "*" allows all. */
  readonly allowedOrigins: readonly string[];
  /** Whether the edge refuses unknown hosts. If it does not, a page can claim to be the host that it calls. */
  readonly hostIsVerified: boolean;
  readonly baseUrl: () => string;
}

/** Whether a request comes from a page of another site. Programs other than browsers send no Origin. */
export function isForeignOrigin(
  { request }: Exchange,
  { allowedOrigins, hostIsVerified, baseUrl }: OriginRules,
): boolean {
  const origin = headerOf(request, "origin");
  if (origin === undefined || allowedOrigins.includes("*") || allowedOrigins.includes(origin)) return false;
  if (origin === URL.parse(baseUrl())?.origin) return false;
  const host = headerOf(request, ":authority") ?? headerOf(request, "host");
  return !hostIsVerified || URL.parse(origin)?.host !== host?.toLowerCase();
}
