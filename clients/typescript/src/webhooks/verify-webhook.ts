import type { Event } from "../gen/event.ts";

/** A webhook that cannot be trusted. Answer it with status 400 and do not process it. */
export class WebhookVerificationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WebhookVerificationError";
  }
}

/** Settings of a verification. */
export interface VerifyOptions {
  /** The largest difference between the clocks of sender and receiver in seconds; default 300. */
  readonly toleranceSeconds?: number;
  /** The current time, for tests; default `new Date()`. */
  readonly now?: Date;
}

/** The headers of a request: of `fetch`, or of Node's `request.headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook as Standard Webhooks define it, and returns its event. The body must be the text or the bytes that
 * arrived, because any other formatting has another signature. During a rotation either secret verifies it.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<Event> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature")
    .split(" ")
    .flatMap((each) => (each.startsWith("v1,") ? [decodeBase64(each.slice(3))] : []));
  requireRecent(timestamp, toleranceSeconds, now);
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const each of typeof secret === "string" ? [secret] : secret) {
    const key = await importKey(each);
    for (const signature of signatures) {
      // WebCrypto compares in constant time.
      if (signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, signed))) {
        return JSON.parse(text) as Event;
      }
    }
  }
  throw new WebhookVerificationError("no signature of the webhook matches");
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== "string" || value === "") throw new WebhookVerificationError(`the header ${name} is missing`);
  return value;
}

function requireRecent(timestamp: string, toleranceSeconds: number, now: Date): void {
  const ageSeconds = now.getTime() / 1000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || Math.abs(ageSeconds) > toleranceSeconds) {
    throw new WebhookVerificationError("the webhook is too old, or the clock of this machine is wrong");
  }
}

async function importKey(secret: string) {
  const bytes = decodeBase64(secret.replace(/^whsec_/, ""));
  if (bytes === undefined || bytes.length === 0) throw new TypeError("the secret must be whsec_ and base64");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
