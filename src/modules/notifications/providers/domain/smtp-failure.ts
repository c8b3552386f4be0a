import { failed, type SendFailure } from "./failure.ts";

/** The stage that a mail had reached. */
export type SmtpStage = "connecting" | "authenticating" | "envelope" | "content_sent";

/** The details of a mail that was not accepted. */
export interface SmtpFailure {
  readonly stage: SmtpStage;
  /** The server's reply; empty when there was none. */
  readonly reply: string;
  /** Error codes of the library or the system, such as ETLS or ECONNREFUSED. */
  readonly codes: readonly string[];
  /** The command that the reply belongs to, such as RCPT TO. */
  readonly command: string;
}

const tlsCode = /^(ETLS|ERR_TLS|ERR_SSL|EPROTO)|CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

/** Classifies the failure of a mail. */
export function smtpFailure({ stage, reply, codes, command }: SmtpFailure): SendFailure {
  // Once the server has the whole mail, only its reply determines the outcome.
  if (stage === "content_sent" && reply === "") {
    return failed("outcome_unknown", "The connection ended after the mail was sent and before the server replied.");
  }
  if (codes.some((code) => tlsCode.test(code))) {
    return failed("tls_failed", "The TLS connection failed, or the certificate is not valid for the host.");
  }
  if (reply !== "") return refusal(stage, reply, command);
  if (codes.includes("ETIMEDOUT")) return failed("timeout", "The mail server did not reply in time.");
  switch (stage) {
    case "connecting":
      return failed("connect_failed", "The mail server does not accept connections.");
    case "authenticating":
      if (codes.includes("EAUTH")) return failed("auth_rejected", "The mail server offers no supported login method.");
      break;
    default:
      if (codes.includes("EENVELOPE")) return failed("recipient_rejected", "The address is not a valid mail address.");
      if (codes.includes("EMESSAGE")) return failed("content_rejected", "The mail is larger than the server accepts.");
  }
  return failed("unavailable", "The mail server ended the connection before the mail was sent.");
}

function refusal(stage: SmtpStage, reply: string, command: string): SendFailure {
  const [, status = "", enhanced = ""] = /^([2-5]\d\d)(?:[ -](\d\.\d{1,3}\.\d{1,3}))?/.exec(reply) ?? [];
  const to = /^[A-Z][A-Z0-9 -]{1,30}$/.test(command) ? ` to ${command}` : "";
  const detail = `The mail server replied ${`${status} ${enhanced}`.trim()}${to}.`;
  if (status.startsWith("4")) return failed("unavailable", detail);
  if (["530", "534", "535", "538"].includes(status) || stage === "authenticating")
    return failed("auth_rejected", detail);
  // X.1.7 and X.1.8 concern the sender; all other X.1 codes mean that the mailbox does not exist.
  if (/^5\.1\.[78]$/.test(enhanced)) return failed("content_rejected", detail);
  if (enhanced.startsWith("5.1.")) return failed("recipient_rejected", detail, { suppressEndpoint: true });
  if (status === "552" || status === "554") {
    // A 554 greeting rejects this client, not the mail.
    return stage === "connecting" ? failed("auth_rejected", detail) : failed("content_rejected", detail);
  }
  if (command === "RCPT TO") return failed("recipient_rejected", detail);
  return failed("content_rejected", detail);
}
