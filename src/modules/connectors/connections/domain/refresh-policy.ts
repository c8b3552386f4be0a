/** The times that decide when credentials are refreshed. */
interface TokenTimes {
  readonly expiresAt: Date | null;
  readonly lastRefreshedAt: Date | null;
  readonly createdAt: Date;
}

/** How urgently credentials need a refresh. `soon`: they are still valid, but should be renewed in the background. */
export type Urgency = "none" | "soon" | "now";

/** Credentials that are valid for less than this time are refreshed in the background. */
const aheadMsMax = 5 * 60_000;

/** How long credentials must be valid for a call, unless the caller says. */
export const minValidMsDefault = 15_000;

/** Decides how urgently credentials need a refresh. Short-lived ones are renewed in the last fifth of their life. */
export function urgencyOf(times: TokenTimes, minValidMs: number, nowMs: number): Urgency {
  if (times.expiresAt === null) return "none";
  const expiresAtMs = times.expiresAt.getTime();
  const leftMs = expiresAtMs - nowMs;
  const lifeMs = expiresAtMs - (times.lastRefreshedAt ?? times.createdAt).getTime();
  // A token that lives shorter than the requested time would otherwise be refreshed for every call.
  if (leftMs <= Math.min(minValidMs, Math.max(0, lifeMs / 5))) return "now";
  return leftMs <= Math.min(aheadMsMax, lifeMs / 5) ? "soon" : "none";
}

/** The part of its idle time after which a refresh token is used, so that it does not end for lack of use. */
const idlePart = 0.75;

/** When a refresh token must be used at the latest; null if it does not end for lack of use. */
export function idleRefreshAt(idleS: number | undefined, nowMs: number): Date | null {
  return idleS === undefined ? null : new Date(nowMs + idleS * 1000 * idlePart);
}

const backoffMsMax = 5 * 60_000;

/** How long no refresh is tried after a number of consecutive failures. */
export function backoffMs(failures: number): number {
  return Math.min(1000 * 2 ** Math.min(failures - 1, 20), backoffMsMax);
}

/** A fresh token that is rejected this soon after its refresh is not worth another refresh. */
const rejectedAgainMs = 60_000;

/** Whether a token was refreshed so recently that another refresh cannot help. */
export function isFreshlyRefreshed(lastRefreshedAt: Date | null, nowMs: number): boolean {
  return lastRefreshedAt !== null && nowMs - lastRefreshedAt.getTime() < rejectedAgainMs;
}
