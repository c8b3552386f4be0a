import { failed } from "./domain/failure.ts";
import { oneLine, textOf } from "./domain/fields.ts";
import type { Provider } from "./domain/provider.ts";
import { type HttpParts, idIn, jsonOf, post, type ResponseClassifier } from "./http-send.ts";
import { signedCallback } from "./signed-callback.ts";

/** Text messages through any gateway that accepts JSON and deduplicates by Idempotency-Key. */
export function httpSms(parts: HttpParts, url: (text: string) => string | undefined): Provider {
  return {
    channels: ["sms"],
    deduplicates: true,
    addresses: "shared",
    settings: {
      url: { type: "text", required: true, rule: url },
      from: { type: "text", required: true, rule: oneLine },
    },
    credentials: {
      token: { type: "text", required: true, rule: oneLine },
      callback_secret: { type: "text", rule: oneLine },
    },
    async send({ settings, credentials }, { deliveryId, key, to, text, data }, signal) {
      const response = await post(
        parts,
        {
          url: textOf(settings, "url"),
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${credentials.token}`,
            "idempotency-key": key,
          },
          body: JSON.stringify({ id: deliveryId, to: to.identity, from: textOf(settings, "from"), text, data }),
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

/** Responses of generic receivers about an address: 404 means unknown, 410 means permanently gone. */
export const classifyUnknownRecipient: ResponseClassifier = ({ status }) => {
  if (status !== 404 && status !== 410) return undefined;
  return failed("recipient_rejected", `The provider returned ${status}.`, { suppressEndpoint: status === 410 });
};
