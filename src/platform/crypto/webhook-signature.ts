import { createHmac } from "node:crypto";

const prefix = "whsec_";

export interface SignedMessage {
  readonly id: string;
  readonly timestampS: number;
  readonly body: string;
}

/**
 * Creates the Standard Webhooks headers, with one signature per secret so that receivers can rotate secrets.
 * A secret with the prefix `whsec_` is base64; any other secret is used as text.
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
