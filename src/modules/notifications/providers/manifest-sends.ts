import type { MessageOutcome, Messaging, OpenConnection } from "../../connectors/index.ts";
import { failed } from "./domain/failure.ts";
import { mailHeaders } from "./domain/mail-headers.ts";
import type { OutgoingMessage, SendResult } from "./domain/provider.ts";
import { unsentDetails } from "./http-send.ts";

/** Sends a message through an action of the connection's provider. */
export async function sendThroughManifest(
  { send }: Pick<Messaging, "send">,
  connection: OpenConnection,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<SendResult> {
  const { channel } = message;
  if (channel === "in_app") return failed("internal", "Messages in the app are sent by no provider.");
  const headers = channel === "email" ? mailHeaders(message.data) : {};
  return resultOf(await send(connection, { ...message, channel, headers }, signal));
}

function resultOf(outcome: MessageOutcome): SendResult {
  switch (outcome.kind) {
    case "accepted":
      return { kind: "accepted", providerMessageId: outcome.messageId, observed: outcome.isObserved };
    case "unsendable":
      // Another provider may have other limits.
      return failed("content_rejected", outcome.detail, { failover: true });
    case "unsent":
      return failed(outcome.fault, details[outcome.fault]);
    case "unknown":
      return failed("outcome_unknown", `${outcome.detail} It may have accepted the message.`, {
        retryable: outcome.isRepeatable,
      });
    case "refused": {
      const { failure = "unclassified", detail, suppress, retryAfterMs } = outcome;
      const waits = failure === "rate_limited" || failure === "unavailable";
      return failed(failure, detail, {
        suppressEndpoint: suppress,
        ...(waits && retryAfterMs !== undefined && { retryAfterMs }),
      });
    }
  }
}

const details = {
  ...unsentDetails,
  denied: "The egress policy, or the manifest, does not allow connections to the provider's address.",
};
