import { failed } from "./domain/failure.ts";
import { oneLine, textOf } from "./domain/fields.ts";
import type { Provider } from "./domain/provider.ts";
import { type Exceptions, type HttpParts, idIn, jsonOf, post } from "./http-send.ts";
import { signedCallback } from "./signed-callback.ts";

/** Text messages by any gateway that takes JSON; it knows a message that comes again by its Idempotency-Key. */
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
      const answer = await post(
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
        unknownRecipient,
      );
      if ("kind" in answer) return answer;
      const providerMessageId = idIn(jsonOf(answer), "message_id", "id") ?? deliveryId;
      return { kind: "accepted", providerMessageId, observed: Boolean(credentials.callback_secret) };
    },
    callback: signedCallback,
  };
}

/** What generic receivers say of an address: 404 that they do not know it, 410 that it is gone for good. */
export const unknownRecipient: Exceptions = ({ status }) => {
  if (status !== 404 && status !== 410) return undefined;
  return failed("recipient_rejected", `The provider answered ${status}.`, { suppressEndpoint: status === 410 });
};
