import { createHmac } from "node:crypto";
import type { EgressResponse } from "../../../platform/egress/index.ts";
import { parseForm } from "../../../platform/text/index.ts";
import type { OpenConnection } from "../../connectors/index.ts";
import { failed, type SendFailure } from "./domain/failure.ts";
import { matching, oneLine, textOf } from "./domain/fields.ts";
import type { CallbackEvents, Provider, ProviderCallback, ProviderEvent } from "./domain/provider.ts";
import { type HttpParts, idIn, jsonOf, post } from "./http-send.ts";
import { isEqualInConstantTime, isProviderId } from "./signed-callback.ts";

const baseUrlDefault = "https://api.twilio.com";

/** Twilio's codes for permanently unreachable numbers: invalid, not mobile, opted out. */
const deadNumbers: ReadonlySet<number> = new Set([21211, 21610, 21614]);
/** Codes for numbers that this account cannot reach. */
const unreachableNumbers: ReadonlySet<number> = new Set([21408, 21612]);

/** Text messages through Twilio. */
export function twilio(parts: HttpParts, url: (text: string) => string | undefined): Provider {
  return {
    channels: ["sms"],
    deduplicates: false,
    addresses: "shared",
    settings: {
      account_sid: {
        type: "text",
        required: true,
        rule: matching(/^AC[0-9a-zA-Z]{32}$/, "must be AC followed by 32 letters or digits"),
      },
      from: { type: "text", rule: oneLine },
      messaging_service_sid: {
        type: "text",
        rule: matching(/^MG[0-9a-zA-Z]{32}$/, "must be MG followed by 32 letters or digits"),
      },
      status_callback_url: { type: "text", rule: url },
      base_url: { type: "text", rule: url },
    },
    credentials: { auth_token: { type: "text", required: true, rule: oneLine } },
    check({ from, messaging_service_sid }) {
      if (Boolean(from) !== Boolean(messaging_service_sid)) return [];
      return [
        { field: "settings.from", rule: "exactly_one", message: "set exactly one of from and messaging_service_sid" },
      ];
    },
    async send({ settings, credentials }, { to, text }, signal) {
      const accountSid = textOf(settings, "account_sid");
      const baseUrl = (textOf(settings, "base_url") || baseUrlDefault).replace(/\/+$/, "");
      const statusCallback = textOf(settings, "status_callback_url");
      const from = textOf(settings, "from");
      const form = new URLSearchParams({
        To: to.identity,
        Body: text,
        ...(from === "" ? { MessagingServiceSid: textOf(settings, "messaging_service_sid") } : { From: from }),
        ...(statusCallback !== "" && { StatusCallback: statusCallback }),
      });
      const response = await post(
        parts,
        {
          url: `${baseUrl}/2010-04-01/Accounts/${accountSid}/Messages.json`,
          headers: {
            "content-type": "application/x-www-form-urlencoded",
            authorization: `Basic ${Buffer.from(`${accountSid}:${credentials.auth_token}`).toString("base64")}`,
          },
          body: form.toString(),
          signal,
          idempotent: false,
        },
        refusal,
      );
      if ("kind" in response) return response;
      const sid = idIn(jsonOf(response), "sid");
      if (sid === undefined) return failed("outcome_unknown", "Twilio accepted the message without returning its id.");
      return { kind: "accepted", providerMessageId: sid, observed: statusCallback !== "" };
    },
    callback,
  };
}

function refusal(response: EgressResponse): SendFailure | undefined {
  const { code } = jsonOf(response);
  if (response.status !== 400 || typeof code !== "number") return undefined;
  const detail = `Twilio returned 400 with code ${code}.`;
  if (deadNumbers.has(code)) return failed("recipient_rejected", detail, { suppressEndpoint: true });
  if (unreachableNumbers.has(code)) return failed("recipient_rejected", detail, { failover: true });
  return failed("content_rejected", detail);
}

/** The event kinds of Twilio's final statuses; intermediate ones are ignored. */
const kindByStatus: ReadonlyMap<string, ProviderEvent["kind"]> = new Map([
  ["delivered", "delivered"],
  ["read", "read"],
  ["undelivered", "bounced"],
  ["failed", "rejected"],
]);

/** Error codes of blocked or filtered messages, and of numbers that do not exist or cannot receive messages. */
const blockedCodes: ReadonlySet<string> = new Set(["30004", "30007"]);
const hardCodes: ReadonlySet<string> = new Set(["30005", "30006"]);

/** Authenticates and parses a status callback. Twilio's signature covers the URL and parameters, but no timestamp. */
function callback(
  { credentials }: OpenConnection,
  { headers, rawBody, url }: ProviderCallback,
  nowMs: number,
): CallbackEvents {
  const members = parseForm(rawBody.toString("utf8"));
  if (members === undefined) return "refused";
  const parameters = new URLSearchParams(members);
  const names = [...new Set(parameters.keys())].sort();
  const signed = names.map((name) =>
    [...new Set(parameters.getAll(name))]
      .sort()
      .map((value) => name + value)
      .join(""),
  );
  const expected = createHmac("sha1", credentials.auth_token ?? "")
    .update(url + signed.join(""))
    .digest("base64");
  const isSigned = isEqualInConstantTime(headers["x-twilio-signature"] ?? "", expected);
  if (!credentials.auth_token || !isSigned) return "refused";

  const sid = parameters.get("MessageSid") ?? "";
  const status = parameters.get("MessageStatus") ?? "";
  const code = parameters.get("ErrorCode") ?? "";
  const kind = kindByStatus.get(status);
  if (!isProviderId(sid)) return "malformed";
  if (kind === undefined) return [];
  return [
    {
      providerMessageId: sid,
      providerEventId: `${sid}.${status}`,
      kind: blockedCodes.has(code) ? "blocked" : kind,
      occurredAtMs: nowMs,
      severity: kind === "bounced" ? (hardCodes.has(code) ? "hard" : "soft") : "",
      machineGenerated: false,
      attributes: /^\d{1,10}$/.test(code) ? { error_code: code } : {},
    },
  ];
}
