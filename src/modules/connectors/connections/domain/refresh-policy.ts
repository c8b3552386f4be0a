import type { Backoff } from "../../../../platform/backoff/backoff.ts";

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

/** A grant that ends by itself, whatever is done with it. */
export interface GrantEnd {
  readonly grantExpiresAt: Date | null;
  /** When the tenant is told to have the grant renewed; null if it never ends. */
  readonly reauthNoticeAt: Date | null;
}

/** How long before its end a grant must be renewed, at most. */
const noticeMsMax = 14 * 86_400_000;
/** Grants with a shorter life get their notice in the last part of it. */
const noticePart = 0.2;

/**
 * When credentials end for good: refresh tokens after the lifetime that the manifest states, and credentials that cannot be
 * renewed when they expire.
 */
export function grantEnd(
  { canRenew, expiresAt, lifetimeS }: { canRenew: boolean; expiresAt: Date | null; lifetimeS: number | undefined },
  nowMs: number,
): GrantEnd {
  const endsAtMs = canRenew ? lifetimeS && nowMs + lifetimeS * 1000 : expiresAt?.getTime();
  if (endsAtMs === undefined) return { grantExpiresAt: null, reauthNoticeAt: null };
  const noticeMs = Math.min(noticeMsMax, Math.max(0, endsAtMs - nowMs) * noticePart);
  return { grantExpiresAt: new Date(endsAtMs), reauthNoticeAt: new Date(endsAtMs - noticeMs) };
}

/** How long no refresh is tried after consecutive failures. */
export const refreshBackoff: Backoff = { firstMs: 1000, maxMs: 5 * 60_000 };

/** A fresh token that is rejected this soon after its refresh is not worth another refresh. */
const rejectedAgainMs = 60_000;

/** Whether a token was refreshed so recently that another refresh cannot help. */
export function isFreshlyRefreshed(lastRefreshedAt: Date | null, nowMs: number): boolean {
  return lastRefreshedAt !== null && nowMs - lastRefreshedAt.getTime() < rejectedAgainMs;
}
