import { failed, type SendFailure } from "./failure.ts";

/** How far a message had come. */
export type SmtpStage = "connecting" | "authenticating" | "envelope" | "content_sent";

/** What is known of a message that was not accepted. */
export interface SmtpProblem {
  readonly stage: SmtpStage;
  /** The server's answer; empty when there was none. */
  readonly reply: string;
  /** What the library or the system calls it, such as ETLS or ECONNREFUSED. */
  readonly codes: readonly string[];
  /** The command that was answered, such as RCPT TO. */
  readonly command: string;
}

const tlsCode = /^(ETLS|ERR_TLS|ERR_SSL|EPROTO)|CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

/** What it means that a mail was not accepted. */
export function smtpFailure({ stage, reply, codes, command }: SmtpProblem): SendFailure {
  // Nothing but the server's own answer tells what became of a mail that it has in full.
  if (stage === "content_sent" && reply === "") {
    return failed("outcome_unknown", "The connection ended after the mail was sent and before the server answered.");
  }
  if (codes.some((code) => tlsCode.test(code))) {
    return failed("tls_failed", "No secure connection could be made, or the certificate is not good for the host.");
  }
  if (reply !== "") return refusal(stage, reply, command);
  if (codes.includes("ETIMEDOUT")) return failed("timeout", "The mail server did not answer in time.");
  switch (stage) {
    case "connecting":
      return failed("connect_failed", "The mail server takes no connection.");
    case "authenticating":
      if (codes.includes("EAUTH")) return failed("auth_rejected", "The mail server offers no way to log in.");
      break;
    default:
      if (codes.includes("EENVELOPE")) return failed("recipient_rejected", "The address cannot be used in a mail.");
      if (codes.includes("EMESSAGE")) return failed("content_rejected", "The mail is larger than the server allows.");
  }
  return failed("unavailable", "The mail server ended the connection before the mail was sent.");
}

function refusal(stage: SmtpStage, reply: string, command: string): SendFailure {
  const [, status = "", enhanced = ""] = /^([2-5]\d\d)(?:[ -](\d\.\d{1,3}\.\d{1,3}))?/.exec(reply) ?? [];
  const to = /^[A-Z][A-Z0-9 -]{1,30}$/.test(command) ? ` to ${command}` : "";
  const detail = `The mail server answered ${`${status} ${enhanced}`.trim()}${to}.`;
  if (status.startsWith("4")) return failed("unavailable", detail);
  if (["530", "534", "535", "538"].includes(status) || stage === "authenticating")
    return failed("auth_rejected", detail);
  // X.1.7 and X.1.8 are about the sender; all other X.1 say that there is no such mailbox.
  if (/^5\.1\.[78]$/.test(enhanced)) return failed("content_rejected", detail);
  if (enhanced.startsWith("5.1.")) return failed("recipient_rejected", detail, { suppressEndpoint: true });
  if (status === "552" || status === "554") {
    // A greeting of 554 is about us, not about the mail.
    return stage === "connecting" ? failed("auth_rejected", detail) : failed("content_rejected", detail);
  }
  if (command === "RCPT TO") return failed("recipient_rejected", detail);
  return failed("content_rejected", detail);
}
