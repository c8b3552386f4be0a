import { TemplateError } from "../../../../platform/templates/index.ts";
import type { MailAttachment } from "./workflow.ts";

/** The maximum size of all attachments of a mail, in base64. */
export const attachmentBytesMax = Math.ceil((1024 * 1024) / 3) * 4;

const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The rendered attachments as they are sent; those without content are left out. Throws TemplateError if a name or a content
 * cannot be attached, or if they are too large together.
 */
export function toAttached(rendered: readonly MailAttachment[]): readonly MailAttachment[] {
  const attached = rendered.flatMap(({ filename, contentType, content }) => {
    const file = { filename: filename.trim(), content: content.replace(/\s+/g, "") };
    return file.content === "" ? [] : [{ ...file, contentType: contentType || "application/octet-stream" }];
  });
  for (const { filename, content } of attached) {
    if (!isFilename(filename))
      throw new TemplateError(
        "attachment_invalid",
        "The name of an attachment must be one line of 1 to 255 characters without slashes.",
      );
    if (!base64Pattern.test(content))
      throw new TemplateError("attachment_invalid", `The content of the attachment ${filename} must be base64.`);
  }
  if (attached.reduce((sum, { content }) => sum + content.length, 0) > attachmentBytesMax)
    throw new TemplateError("too_large", "The attachments must have at most 1 MiB in total.");
  return attached;
}

function isFilename(name: string): boolean {
  return name.length > 0 && name.length <= 255 && !/[/\\\p{Cc}\u2028\u2029]/u.test(name);
}

/** An attachment without its content. */
export function describeAttachment({ filename, contentType, content }: MailAttachment) {
  return { filename, contentType, sizeBytes: Buffer.byteLength(content, "base64") };
}
