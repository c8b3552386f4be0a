import { failed } from "./domain/failure.ts";
import type { Provider } from "./domain/provider.ts";
import { type HttpParts, post } from "./http-send.ts";

/** Chat messages through an incoming webhook of Slack or a compatible service. The URL is the secret. */
export function slack(parts: HttpParts, url: (text: string) => string | undefined): Provider {
  return {
    channels: ["chat"],
    deduplicates: false,
    addresses: () => true,
    markup: { escape: "slack", isMarkup: ({ type }, name) => type === "mrkdwn" && name === "text" },
    settings: {},
    credentials: { webhook_url: { type: "text", required: true, rule: url } },
    async send({ credentials }, { deliveryId, title, text, data }, signal) {
      const { blocks } = data;
      const response = await post(
        parts,
        {
          url: credentials.webhook_url!,
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ text: text || title, ...(Array.isArray(blocks) && { blocks }) }),
          signal,
          idempotent: false,
        },
        // These statuses concern the webhook, not a recipient.
        ({ status }) =>
          status === 404 || status === 410
            ? failed("auth_rejected", `The webhook is no longer in use: Slack returned ${status}.`)
            : undefined,
      );
      if ("kind" in response) return response;
      // Slack returns no message id for webhook messages.
      return { kind: "accepted", providerMessageId: deliveryId, observed: false };
    },
  };
}
