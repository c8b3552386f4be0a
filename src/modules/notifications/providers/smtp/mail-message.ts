import addressparser from "nodemailer/lib/addressparser";
import MailComposer from "nodemailer/lib/mail-composer";
import { isEmail } from "../../../../platform/validation/index.ts";
import type { OutgoingMessage } from "../domain/provider.ts";

/** A mail as it goes over the wire. */
export interface MailMessage {
  readonly from: string;
  readonly to: string;
  readonly messageId: string;
  readonly content: Buffer;
}

/** A mailbox: an address, and whose it is. */
interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** The one mailbox that a text such as `Ada <ada@example.com>` names; undefined when it names none or several. */
export function mailboxOf(text: string): Mailbox | undefined {
  const [mailbox, ...others] = addressparser(text, { flatten: true });
  if (mailbox === undefined || others.length > 0 || !isEmail(mailbox.address ?? "")) return undefined;
  return { name: mailbox.name ?? "", address: mailbox.address! };
}

/** Writes a mail down as MIME, in text, in HTML, or in both. Its Message-ID is the same at every attempt. */
export async function writeMail(
  { deliveryId, to, subject, title, text, html, data }: OutgoingMessage,
  sender: { readonly from: string; readonly replyTo: string },
  nowMs: number,
): Promise<MailMessage> {
  const from = mailboxOf(sender.from)!;
  const replyTo = mailboxOf(sender.replyTo);
  const messageId = `<${deliveryId}@${from.address.split("@").at(-1)}>`;
  const content = await new MailComposer({
    from,
    to: { name: "", address: to.identity },
    ...(replyTo !== undefined && { replyTo }),
    subject: oneLined(subject || title),
    ...(text !== "" || html === "" ? { text } : {}),
    ...(html !== "" && { html }),
    messageId,
    date: new Date(nowMs),
    headers: unsubscribeHeaders(data),
    // What a tenant writes is text, never the name of a file or a URL to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
  return { from: from.address, to: to.identity, messageId, content };
}

function oneLined(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/** How a reader leaves, where the message's data names it: a URL, and whether one POST there is enough (RFC 8058). */
function unsubscribeHeaders(data: Readonly<Record<string, unknown>>): Record<string, string> {
  const { list_unsubscribe: url, list_unsubscribe_one_click: oneClick } = data;
  if (typeof url !== "string" || !/^(https:\/\/|mailto:)[\x21-\x3b\x3d\x3f-\x7e]{1,1000}$/.test(url)) return {};
  return {
    "List-Unsubscribe": `<${url}>`,
    ...(oneClick === true && url.startsWith("https:") && { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
  };
}
