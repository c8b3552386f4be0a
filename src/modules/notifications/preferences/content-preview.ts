import { invalid } from "../../../errors/index.ts";
import {
  compileTemplate,
  type FindPartial,
  newWorkBudget,
  type RenderOptions,
  repairTemplate,
  reportTemplateErrors,
} from "../../../platform/templates/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { localizedContent } from "./domain/localized-content.ts";
import { attachmentBytesMax, describeAttachment, toAttached } from "./domain/mail-attachments.ts";
import type { ChannelContent } from "./domain/workflow.ts";

/** Content that was rendered with sample values. */
export interface ContentPreview {
  readonly subject: string;
  readonly title: string;
  readonly body: string;
  readonly textBody: string;
  readonly attachments: readonly ReturnType<typeof describeAttachment>[];
  /** The locale whose texts were used; "" for those of the content itself. */
  readonly locale: string;
  /** Variables that the sample does not have, sorted. */
  readonly unresolved: readonly string[];
}

interface Sample {
  readonly payload: object;
  readonly subscriber: object;
}

/** Rendered previews are for people to read. */
const bytesMax = 256 * 1024;

/** Renders the templates of a channel with sample values. Throws when a template is invalid or exceeds its work budget. */
export function previewContent(
  channel: Channel,
  given: ChannelContent,
  sample: Sample,
  nowMs: number,
  partials?: FindPartial,
): ContentPreview {
  const missing = new Set<string>();
  const { locale = "", timezone = "" } = sample.subscriber as { locale?: string; timezone?: string };
  const { content, locale: chosen } = localizedContent(given, String(locale));
  const values = { ...sample, workflow_key: "preview", transaction_id: "preview" };
  const options: RenderOptions = {
    ...{ locale: String(locale), timezone: String(timezone), bytesMax },
    escape: "none",
    nowMs,
    partials,
    work: newWorkBudget(),
    onMissing: (path) => missing.add(path),
  };
  const render = (field: string, source: string, markup: RenderOptions["escape"], most = bytesMax) => {
    if (source === "") return "";
    return reportTemplateErrors(
      `content.${field}`,
      () => compileTemplate(content.engine, source).render(values, { ...options, escape: markup, bytesMax: most }),
      () => repairTemplate(content.engine, source),
    );
  };
  const attachments = toAttached(
    content.attachments.map(({ filename, content: source, ...file }, at) => ({
      ...file,
      filename: render(`attachments[${at}].filename`, filename, "none"),
      content: render(`attachments[${at}].content`, source, "none", attachmentBytesMax),
    })),
  );
  if ("code" in attachments) throw invalid("content.attachments", `template.${attachments.code}`, attachments.message);
  return {
    subject: render("subject", content.subject, "none"),
    title: render("title", content.title, "none"),
    body: render("body", content.body, channel === "email" ? "html" : "none"),
    textBody: render("text_body", content.textBody, "none"),
    attachments: attachments.map(describeAttachment),
    locale: chosen,
    unresolved: [...missing].sort(),
  };
}
