import addressparser from "nodemailer/lib/addressparser";
import MailComposer from "nodemailer/lib/mail-composer";
import { isEmail } from "../../../../platform/validation/index.ts";
import { mailHeaders, toOneLine } from "../domain/mail-headers.ts";
import type { OutgoingMessage } from "../domain/provider.ts";

/** A mail in wire format. */
export interface MailMessage {
  readonly from: string;
  readonly to: string;
  readonly messageId: string;
  readonly content: Buffer;
}

/** A mail address with its display name. */
interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** Parses a single mailbox such as `Ada <ada@example.com>`; undefined when the text names none or several. */
export function mailboxOf(text: string): Mailbox | undefined {
  const [mailbox, ...others] = addressparser(text, { flatten: true });
  if (mailbox === undefined || others.length > 0 || !isEmail(mailbox.address ?? "")) return undefined;
  return { name: mailbox.name ?? "", address: mailbox.address! };
}

/** Composes a MIME mail in text, HTML or both. Its Message-ID is the same for every attempt. */
export async function writeMail(
  { deliveryId, to, subject, title, text, html, data, attachments }: OutgoingMessage,
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
    subject: toOneLine(subject || title),
    ...(text !== "" || html === "" ? { text } : {}),
    ...(html !== "" && { html }),
    messageId,
    date: new Date(nowMs),
    headers: mailHeaders(data),
    attachments: attachments.map(({ content, ...file }) => ({ ...file, content: Buffer.from(content, "base64") })),
    // Tenant input is text, never a file name or URL to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
  return { from: from.address, to: to.identity, messageId, content };
}
