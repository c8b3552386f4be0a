import { canonicalJson, createKeyedDigest } from "../../../../platform/crypto/index.ts";
import { type CheckedAddress, type Egress, EgressError } from "../../../../platform/egress/index.ts";
import { isEmail } from "../../../../platform/validation/index.ts";
import { failed, type SendFailure } from "../domain/failure.ts";
import { oneLine, oneOf, textOf } from "../domain/fields.ts";
import type { Provider, SendResult } from "../domain/provider.ts";
import { failureOf } from "../http-send.ts";
import { type MailMessage, mailboxOf, writeMail } from "./mail-message.ts";
import { createSmtpPool } from "./smtp-pool.ts";
import { createSmtpSession, type MailServer } from "./smtp-session.ts";

interface Dependencies {
  readonly egress: Egress;
  readonly now: () => number;
  readonly ca?: string | undefined;
}

/** Time limit for one mail, from name resolution to the server's final reply. */
const timeoutMs = 45_000;
const ports = { implicit: 465, starttls: 587, none: 25 } as const;

/** Mail through any SMTP server. */
export function smtp({ egress, now, ca }: Dependencies, url: (text: string) => string | undefined): Provider {
  const pool = createSmtpPool();
  const digest = createKeyedDigest();

  async function deliver(
    server: MailServer,
    address: CheckedAddress,
    mail: MailMessage,
    signal: AbortSignal,
  ): Promise<SendFailure | undefined> {
    const key = digest(canonicalJson({ ...server, ...address }));
    return pool.withSession(key, signal, async (idle, release) => {
      if (idle !== undefined) {
        const problem = await idle.send(mail, signal);
        if (problem === undefined) release(idle);
        else idle.close();
        // The server may have closed the idle session, so the mail is retried with a new one.
        if (problem === undefined || !problem.lost) return problem?.failure;
      }
      const session = createSmtpSession(server, address);
      const failure = (await session.open(signal)) ?? (await session.send(mail, signal))?.failure;
      if (failure === undefined) release(session);
      else session.close();
      return failure;
    });
  }

  return {
    channels: ["email"],
    deduplicates: false,
    addresses: "shared",
    settings: {
      host: { type: "text", required: true, rule: (host) => hostProblem(host, url) },
      port: { type: "number", range: [1, 65_535] },
      tls: { type: "text", rule: oneOf("implicit", "starttls", "none") },
      from: { type: "text", required: true, rule: mailboxProblem },
      reply_to: { type: "text", rule: mailboxProblem },
    },
    credentials: {
      username: { type: "text", rule: oneLine },
      password: { type: "text", rule: oneLine },
    },
    check(settings, { username, password }) {
      if (Boolean(username) !== Boolean(password)) {
        return [{ field: "credentials", rule: "both", message: "username and password must be set together" }];
      }
      if (username && settings.tls === "none") {
        return [
          { field: "settings.tls", rule: "secure", message: "must be implicit or starttls when a password is set" },
        ];
      }
      return [];
    },
    async send({ settings, credentials }, message, signal): Promise<SendResult> {
      if (!isEmail(message.to.identity)) return failed("recipient_rejected", "The address is not an email address.");
      const server = serverOf(settings, credentials, ca);
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        const address = await egress.resolve(server.host);
        const sender = { from: textOf(settings, "from"), replyTo: textOf(settings, "reply_to") };
        const mail = await writeMail(message, sender, now());
        const failure = await deliver(server, address, mail, limited);
        return failure ?? { kind: "accepted", providerMessageId: mail.messageId, observed: false };
      } catch (error) {
        if (error instanceof EgressError) return failureOf(error, false);
        // The mail never got a session, so nothing was sent.
        if (signal.aborted) return failed("cancelled", "Sending was interrupted before it began.");
        if (limited.aborted) return failed("timeout", "Other mails to the same server took too long.");
        throw error;
      }
    },
    close: pool.close,
  };
}

function serverOf(
  settings: Readonly<Record<string, unknown>>,
  credentials: Readonly<Record<string, string>>,
  ca: string | undefined,
): MailServer {
  const tls = (textOf(settings, "tls") || "starttls") as MailServer["tls"];
  return {
    host: textOf(settings, "host"),
    port: typeof settings.port === "number" ? settings.port : ports[tls],
    tls,
    username: credentials.username ?? "",
    password: credentials.password ?? "",
    ca,
  };
}

function mailboxProblem(text: string): string | undefined {
  return (
    oneLine(text) ??
    (mailboxOf(text) === undefined ? "must be one mail address (for example: Ada <ada@example.com>)" : undefined)
  );
}

/** Checks a host with the same rules as the host of a URL. */
function hostProblem(host: string, url: (text: string) => string | undefined): string | undefined {
  if (!/^[A-Za-z0-9.:_-]{1,253}$/.test(host))
    return "must be a host name or IP address (for example: smtp.example.com)";
  return url(`http://${host.includes(":") ? `[${host}]` : host}/`);
}
