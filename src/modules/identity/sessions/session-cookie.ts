import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A cookie of the sign-in: `session` of somebody who is signed in, `attempt` of somebody who is about to. */
export type CookieKind = "session" | "attempt";

const secretPattern = /^([0-9A-Z]{26})?[A-Za-z0-9_-]{43}$/;

/** A new secret that is presented together with a connection. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** The form in which a secret is stored. */
export function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** Whether text can be a secret of this service. */
export function isSecret(text: string): boolean {
  return secretPattern.test(text);
}

/**
 * The name of a cookie. The prefix `__Host-` keeps other hosts of the domain from setting it; browsers accept it only with
 * https. Browsers share cookies between the ports of a host, so that on loopback the port is part of the name.
 */
function cookieName(kind: CookieKind, publicUrl: URL): string {
  const name = kind === "session" ? "switchyard-session" : "switchyard-sign-in";
  return publicUrl.protocol === "https:" ? `__Host-${name}` : `${name}-${publicUrl.port || "80"}`;
}

/** The Set-Cookie header that gives a browser a secret; without a secret the cookie is removed. */
export function setCookie(kind: CookieKind, secret: string, publicUrl: URL, maxAgeS: number): string {
  const secure = publicUrl.protocol === "https:" ? "; Secure" : "";
  return `${cookieName(kind, publicUrl)}=${secret}; Path=/; HttpOnly${secure}; SameSite=Lax; Max-Age=${maxAgeS}`;
}

/** Reads a cookie from the Cookie header; undefined if it is absent, malformed or not unique. */
export function readCookie(kind: CookieKind, header: string | undefined, publicUrl: URL): string | undefined {
  if (header === undefined) return undefined;
  const name = `${cookieName(kind, publicUrl)}=`;
  const values = header.split(/;\s*/).flatMap((pair) => (pair.startsWith(name) ? [pair.slice(name.length)] : []));
  return values.length === 1 && isSecret(values[0]!) ? values[0] : undefined;
}

/** A value that only the holder of a secret can derive, so that it need not be stored. */
export function derive(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}

/** Whether a form has the token that the page of this session gave it. */
export function hasFormToken(form: URLSearchParams, secret: string): boolean {
  const given = Buffer.from(form.get("form_token") ?? "");
  const expected = Buffer.from(formToken(secret));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The token that forms carry against cross-site requests. */
export function formToken(secret: string): string {
  return derive(secret, "form");
}
