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
  let bytes = 0;
  return rendered.flatMap(({ filename, contentType, content }, at) => {
    const file = { filename: filename.trim(), content: content.replace(/\s+/g, "") };
    if (file.content === "") return [];
    if (!isFilename(file.filename))
      throw new TemplateError(
        "attachment_invalid",
        `The name of attachment ${at + 1} must be one line of 1 to 255 characters without slashes.`,
      );
    if (!base64Pattern.test(file.content))
      throw new TemplateError("attachment_invalid", `The content of attachment ${at + 1} must be base64.`);
    bytes += file.content.length;
    if (bytes > attachmentBytesMax)
      throw new TemplateError("too_large", "The attachments must have at most 1 MiB in total.");
    return [{ ...file, contentType: contentType || "application/octet-stream" }];
  });
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
