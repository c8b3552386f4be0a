import type { EgressResponse } from "../../../platform/egress/index.ts";
import type { OpenConnection } from "../../connectors/index.ts";
import { failed, type SendFailure } from "./domain/failure.ts";
import { matching, oneLine, textOf } from "./domain/fields.ts";
import type { OutgoingMessage, Provider } from "./domain/provider.ts";
import { createTokens, type ServiceAccount } from "./google-token.ts";
import { type HttpParts, idIn, jsonOf, post } from "./http-send.ts";

const baseUrlDefault = "https://fcm.googleapis.com";
const tokenUrlDefault = "https://oauth2.googleapis.com/token";

/** Messages to apps by Firebase Cloud Messaging (HTTP v1). An address is a registration token. */
export function fcm(parts: HttpParts, url: (text: string) => string | undefined): Provider {
  const tokens = createTokens(parts);

  async function attempt(connection: OpenConnection, message: OutgoingMessage, token: string, signal: AbortSignal) {
    const { settings } = connection;
    const baseUrl = (textOf(settings, "base_url") || baseUrlDefault).replace(/\/+$/, "");
    let expired = false;
    const answer = await post(
      parts,
      {
        url: `${baseUrl}/v1/projects/${textOf(settings, "project_id")}/messages:send`,
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ message: messageOf(message) }),
        signal,
        idempotent: false,
      },
      (answered) => {
        expired = answered.status === 401;
        return refusal(answered);
      },
    );
    return { answer, expired };
  }

  return {
    channels: ["push"],
    deduplicates: false,
    // A registration token is never JSON, which the subscriptions of browsers are.
    addresses: (identity) => !identity.startsWith("{"),
    settings: {
      project_id: { type: "text", required: true, rule: matching(/^[a-z0-9-]{1,64}$/, "must be a project's id") },
      client_email: { type: "text", required: true, rule: oneLine },
      base_url: { type: "text", rule: url },
      token_url: { type: "text", rule: url },
    },
    credentials: {
      private_key: {
        type: "text",
        required: true,
        rule: matching(
          /^\s*-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\s*$/,
          "must be a PKCS #8 key in PEM form",
        ),
      },
    },
    async send(connection, message, signal) {
      const account = accountOf(connection);
      const token = await tokens.tokenFor(account);
      if (typeof token !== "string") return token;
      let { answer, expired } = await attempt(connection, message, token, signal);
      // A token can end before its time. Nothing was sent then, so a new one may be tried at once.
      if (expired) {
        const fresh = await tokens.tokenFor(account, token);
        if (typeof fresh !== "string") return fresh;
        ({ answer } = await attempt(connection, message, fresh, signal));
      }
      if ("kind" in answer) return answer;
      return {
        kind: "accepted",
        providerMessageId: idIn(jsonOf(answer), "name") ?? message.deliveryId,
        observed: false,
      };
    },
  };
}

function accountOf({ settings, credentials }: OpenConnection): ServiceAccount {
  return {
    clientEmail: textOf(settings, "client_email"),
    privateKey: credentials.private_key ?? "",
    tokenUrl: textOf(settings, "token_url") || tokenUrlDefault,
  };
}

/** The message; data are texts here, so whatever else they are is written as JSON. */
function messageOf({ deliveryId, to, title, subject, text, data }: OutgoingMessage) {
  const texts = Object.entries(data).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return {
    token: to.identity,
    notification: { title: title || subject, body: text },
    data: { ...Object.fromEntries(texts), delivery_id: deliveryId },
  };
}

function refusal(answer: EgressResponse): SendFailure | undefined {
  const code = errorCodeIn(answer);
  const detail = `FCM answered ${answer.status} ${code}.`;
  switch (code) {
    case "UNREGISTERED":
      return failed("recipient_rejected", detail, { suppressEndpoint: true });
    case "SENDER_ID_MISMATCH":
      return failed("recipient_rejected", detail);
    default:
      return undefined;
  }
}

/** FCM's own code of an error, which stands among its details. */
function errorCodeIn(answer: EgressResponse): string {
  const { error } = jsonOf(answer) as { error?: { details?: unknown } };
  if (!Array.isArray(error?.details)) return "";
  for (const detail of error.details as { errorCode?: unknown }[]) {
    if (typeof detail?.errorCode === "string" && /^[A-Z_]{1,64}$/.test(detail.errorCode)) return detail.errorCode;
  }
  return "";
}
