import type { EgressResponse } from "../../../platform/egress/index.ts";
import type { OpenConnection } from "../../connectors/index.ts";
import { failed, type SendFailure } from "./domain/failure.ts";
import { matching, oneLine, textOf } from "./domain/fields.ts";
import type { OutgoingMessage, Provider } from "./domain/provider.ts";
import { createTokenCache, type ServiceAccount } from "./google-token.ts";
import { type HttpParts, idIn, jsonOf, post } from "./http-send.ts";

const baseUrlDefault = "https://fcm.googleapis.com";
const tokenUrlDefault = "https://oauth2.googleapis.com/token";

/** Push messages to apps through Firebase Cloud Messaging (HTTP v1). An address is a registration token. */
export function fcm(parts: HttpParts, url: (text: string) => string | undefined): Provider {
  const tokens = createTokenCache(parts);

  async function attempt(connection: OpenConnection, message: OutgoingMessage, token: string, signal: AbortSignal) {
    const { settings } = connection;
    const baseUrl = (textOf(settings, "base_url") || baseUrlDefault).replace(/\/+$/, "");
    let expired = false;
    const response = await post(
      parts,
      {
        url: `${baseUrl}/v1/projects/${textOf(settings, "project_id")}/messages:send`,
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ message: messageOf(message) }),
        signal,
        idempotent: false,
      },
      (refused) => {
        expired = refused.status === 401;
        return refusal(refused);
      },
    );
    return { response, expired };
  }

  return {
    channels: ["push"],
    deduplicates: false,
    // Registration tokens are never JSON; browser push subscriptions are.
    addresses: (identity) => !identity.startsWith("{"),
    settings: {
      project_id: {
        type: "text",
        required: true,
        rule: matching(
          /^[a-z0-9-]{1,64}$/,
          "must be a project id of lower-case letters, digits and hyphens (for example: my-project-123)",
        ),
      },
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
          "must be a PKCS #8 private key in PEM format (-----BEGIN PRIVATE KEY-----)",
        ),
      },
    },
    async send(connection, message, signal) {
      const account = accountOf(connection);
      const token = await tokens.tokenFor(account);
      if (typeof token !== "string") return token;
      let { response, expired } = await attempt(connection, message, token, signal);
      // A token can be revoked before it expires. Nothing was sent then, so retry immediately with a new one.
      if (expired) {
        const fresh = await tokens.tokenFor(account, token);
        if (typeof fresh !== "string") return fresh;
        ({ response } = await attempt(connection, message, fresh, signal));
      }
      if ("kind" in response) return response;
      return {
        kind: "accepted",
        providerMessageId: idIn(jsonOf(response), "name") ?? message.deliveryId,
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

/** Builds the FCM message. FCM data values are texts, so other values are sent as JSON. */
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

function refusal(response: EgressResponse): SendFailure | undefined {
  const code = errorCodeIn(response);
  const detail = `FCM returned ${response.status} ${code}.`;
  switch (code) {
    case "UNREGISTERED":
      return failed("recipient_rejected", detail, { suppressEndpoint: true });
    case "SENDER_ID_MISMATCH":
      return failed("recipient_rejected", detail);
    default:
      return undefined;
  }
}

/** FCM's own error code from the error details. */
function errorCodeIn(response: EgressResponse): string {
  const { error } = jsonOf(response) as { error?: { details?: unknown } };
  if (!Array.isArray(error?.details)) return "";
  for (const detail of error.details as { errorCode?: unknown }[]) {
    if (typeof detail?.errorCode === "string" && /^[A-Z_]{1,64}$/.test(detail.errorCode)) return detail.errorCode;
  }
  return "";
}
