import { createHmac } from "node:crypto";

const prefix = "whsec_";

/** A message to be signed. */
export interface SignedMessage {
  readonly id: string;
  readonly timestampS: number;
  readonly body: string;
}

/**
 * The headers of Standard Webhooks: one signature for every secret, so that receivers may hold either while they change.
 * A secret with the prefix `whsec_` is base64; any other is taken as it is written.
 */
export function webhookHeaders(
  { id, timestampS, body }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), "base64") : Buffer.from(secret);
    return `v1,${createHmac("sha256", key).update(`${id}.${timestampS}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampS),
    ...(signatures.length > 0 && { "webhook-signature": signatures.join(" ") }),
  };
}
