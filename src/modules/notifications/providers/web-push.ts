import webPush, { type PushSubscription } from "web-push";
import type { OpenConnection } from "../../connectors/index.ts";
import { failed } from "./domain/failure.ts";
import { matching, textOf } from "./domain/fields.ts";
import type { OutgoingMessage, Provider } from "./domain/provider.ts";
import { type HttpParts, post } from "./http-send.ts";

/** The payload limit of push services, minus the overhead of encryption. */
const payloadBytesMax = 3990;
const ttlSDefault = 28 * 24 * 3600;

/** Push messages to browsers, encrypted (RFC 8291) and signed (VAPID). An address is the JSON of a push subscription. */
export function webPushProvider(parts: HttpParts): Provider {
  return {
    channels: ["push"],
    deduplicates: false,
    addresses: (identity) => identity.startsWith("{"),
    settings: {
      subject: {
        type: "text",
        required: true,
        rule: matching(
          /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/,
          "must start with mailto: or https:// (for example: mailto:ops@example.com)",
        ),
      },
      vapid_public_key: { type: "text", required: true, rule: base64url(87) },
      ttl_s: { type: "number", range: [0, ttlSDefault] },
    },
    credentials: { vapid_private_key: { type: "text", required: true, rule: base64url(43) } },
    check(settings, credentials) {
      try {
        const { subject, publicKey, privateKey } = vapidOf({ settings, credentials });
        webPush.getVapidHeaders("https://push.example", subject, publicKey, privateKey, "aes128gcm");
        return [];
      } catch {
        return [
          {
            field: "credentials.vapid_private_key",
            rule: "vapid",
            message: "must be a VAPID private key that can sign for settings.subject",
          },
        ];
      }
    },
    async send(connection, message, signal) {
      const payload = payloadOf(message);
      if (Buffer.byteLength(payload) > payloadBytesMax) {
        return failed("content_rejected", `The push message exceeds ${payloadBytesMax} bytes.`);
      }
      const details = requestOf(connection, message, payload);
      if (details === undefined) return failed("recipient_rejected", "The address is not a push subscription.");
      const response = await post(parts, { ...details, signal, idempotent: false }, ({ status }) =>
        status === 404 || status === 410
          ? failed("recipient_rejected", `The push service returned ${status}.`, { suppressEndpoint: true })
          : undefined,
      );
      if ("kind" in response) return response;
      return {
        kind: "accepted",
        providerMessageId: nameIn(response.headers.location) ?? message.deliveryId,
        observed: false,
      };
    },
  };
}

function base64url(length: number) {
  return matching(new RegExp(`^[A-Za-z0-9_-]{${length}}$`), `must be ${length} characters of base64url`);
}

function vapidOf({ settings, credentials }: Pick<OpenConnection, "settings" | "credentials">) {
  return {
    subject: textOf(settings, "subject"),
    publicKey: textOf(settings, "vapid_public_key"),
    privateKey: credentials.vapid_private_key ?? "",
  };
}

function payloadOf({ deliveryId, title, subject, text, data }: OutgoingMessage): string {
  return JSON.stringify({ id: deliveryId, title: title || subject, body: text, data });
}

/** The encrypted request; undefined when the address is not a push subscription. */
function requestOf(connection: OpenConnection, { to }: OutgoingMessage, payload: string) {
  const ttl = connection.settings.ttl_s;
  try {
    const { headers, body, endpoint } = webPush.generateRequestDetails(
      JSON.parse(to.identity) as PushSubscription,
      payload,
      { vapidDetails: vapidOf(connection), TTL: typeof ttl === "number" ? ttl : ttlSDefault },
    );
    if (!/^https?:\/\//.test(endpoint)) return undefined;
    const { "Content-Length": _counted, ...others } = headers;
    const texts = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)]));
    return { url: endpoint, headers: texts, body: body! };
  } catch {
    return undefined;
  }
}

function nameIn(location: string | undefined): string | undefined {
  return location !== undefined && /^[\x21-\x7e]{1,256}$/.test(location) ? location : undefined;
}
