import { webhookHeaders } from "../../../platform/crypto/index.ts";
import { oneLine, textOf } from "./domain/fields.ts";
import type { Provider } from "./domain/provider.ts";
import { type HttpParts, idIn, jsonOf, post } from "./http-send.ts";
import { classifyUnknownRecipient } from "./http-sms.ts";
import { signedCallback } from "./signed-callback.ts";

/** Chat messages through any receiver of Standard Webhooks. */
export function chatWebhook(parts: HttpParts, url: (text: string) => string | undefined): Provider {
  return {
    channels: ["chat"],
    deduplicates: true,
    addresses: () => true,
    settings: { url: { type: "text", required: true, rule: url } },
    credentials: {
      secret: { type: "text", required: true, rule: oneLine },
      callback_secret: { type: "text", rule: oneLine },
    },
    async send({ settings, credentials }, { deliveryId, key, to, title, text, data }, signal) {
      const body = JSON.stringify({ id: deliveryId, to: to.identity, title, text, data });
      const message = { id: key, timestampS: Math.floor(parts.now() / 1000), body };
      const response = await post(
        parts,
        {
          url: textOf(settings, "url"),
          headers: {
            "content-type": "application/json",
            "idempotency-key": key,
            ...webhookHeaders(message, [credentials.secret!]),
          },
          body,
          signal,
          idempotent: true,
        },
        classifyUnknownRecipient,
      );
      if ("kind" in response) return response;
      const providerMessageId = idIn(jsonOf(response), "message_id", "id") ?? deliveryId;
      return { kind: "accepted", providerMessageId, observed: Boolean(credentials.callback_secret) };
    },
    callback: signedCallback,
  };
}
