import type { MailAttachment } from "./workflow.ts";

/** The maximum size of all attachments of a mail, in base64. */
export const attachmentBytesMax = Math.ceil((1024 * 1024) / 3) * 4;

const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Why rendered attachments cannot be sent. */
export interface AttachmentProblem {
  readonly code: "attachment_invalid" | "too_large";
  readonly message: string;
}

/** The rendered attachments as they are sent, without those that have no content; or why they cannot be sent. */
export function toAttached(rendered: readonly MailAttachment[]): readonly MailAttachment[] | AttachmentProblem {
  const attached = rendered.flatMap(({ filename, contentType, content }) => {
    const file = { filename: filename.trim(), content: content.replace(/\s+/g, "") };
    return file.content === "" ? [] : [{ ...file, contentType: contentType || "application/octet-stream" }];
  });
  if (!attached.every(({ filename }) => isFilename(filename)))
    return invalid("The name of an attachment must be one line of 1 to 255 characters without slashes.");
  const broken = attached.findIndex(({ content }) => !base64Pattern.test(content));
  if (broken !== -1) return invalid(`The content of attachment ${broken + 1} must be base64.`);
  if (attached.reduce((sum, { content }) => sum + content.length, 0) > attachmentBytesMax)
    return { code: "too_large", message: "The attachments must have at most 1 MiB in total." };
  return attached;
}

function invalid(message: string): AttachmentProblem {
  return { code: "attachment_invalid", message };
}

function isFilename(name: string): boolean {
  return name.length > 0 && name.length <= 255 && !/[/\\\p{Cc}\u2028\u2029]/u.test(name);
}

/** Whether a file can have a media type. Those of composed types would be parsed as parts of the mail itself. */
export function isFileType(contentType: string): boolean {
  return !/^(multipart|message)\//i.test(contentType);
}

/** An attachment without its content. */
export function describeAttachment({ filename, contentType, content }: MailAttachment) {
  return { filename, contentType, sizeBytes: Buffer.byteLength(content, "base64") };
}
