import { createHmac, timingSafeEqual } from "node:crypto";

/** How long a browser keeps the cookie of a session, which is the longest time that a session is valid. */
const maxAgeS = 4 * 3600;

/**
 * The name of a session's cookie. Every session has its own, so that two tabs do not disturb each other. The prefix `__Host-`
 * keeps other hosts of the domain from setting it; browsers accept it only with https.
 */
function cookieName(sessionId: string, isSecure: boolean): string {
  return `${isSecure ? "__Host-" : ""}connect-${sessionId}`;
}

/** The Set-Cookie header that opens a session in a browser. */
export function setCookie(
  sessionId: string,
  value: string,
  { isSecure, isFramed }: { readonly isSecure: boolean; readonly isFramed: boolean },
): string {
  // In a frame of another site, browsers send only cookies that are partitioned by that site. They accept them without https
  // from loopback hosts.
  const site = isFramed ? "Secure; SameSite=None; Partitioned" : `${isSecure ? "Secure; " : ""}SameSite=Lax`;
  return `${cookieName(sessionId, isSecure)}=${value}; Path=/; HttpOnly; ${site}; Max-Age=${maxAgeS}`;
}

/** Reads a session's cookie from the Cookie header; undefined if it is absent or not unique. */
export function readCookie(header: string, sessionId: string, isSecure: boolean): string | undefined {
  const name = cookieName(sessionId, isSecure);
  const values = header.split(/;\s*/).flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 && pair.slice(0, at) === name ? [pair.slice(at + 1)] : [];
  });
  return values.length === 1 && /^[A-Za-z0-9_-]{43}$/.test(values[0]!) ? values[0] : undefined;
}

/** The token that forms carry against cross-site requests. Only a page that can read the cookie's session has it. */
export function formToken(cookie: string, sessionId: string): string {
  return createHmac("sha256", cookie).update(`form ${sessionId}`).digest("base64url");
}

/** Whether a form has the token of its session. */
export function hasFormToken(form: URLSearchParams, cookie: string, sessionId: string): boolean {
  const given = Buffer.from(form.get("form_token") ?? "");
  const expected = Buffer.from(formToken(cookie, sessionId));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
