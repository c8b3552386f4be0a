import type { TenantId } from "../../../../platform/access/index.ts";
import type { TimeSlices } from "../../../../platform/event-loop/index.ts";
import {
  applyCasing,
  compileTemplate,
  type RenderOptions,
  TemplateError,
} from "../../../../platform/templates/index.ts";
import type { Integration } from "../../integrations/index.ts";
import type { Layouts } from "../../layouts/index.ts";
import type { PartialLibrary } from "../../partials/index.ts";
import { attachmentBytesMax, type ChannelContent, type MailAttachment, toAttached } from "../../preferences/index.ts";
import type { ProviderMarkup } from "../../providers/index.ts";
import type { Channel, Subscriber } from "../../subscribers/index.ts";
import type { DeliveryFailure } from "../domain/delivery.ts";
import { plainText } from "../domain/plain-text.ts";
import { renderData } from "./message-data.ts";
import { toSendableText } from "./sendable-text.ts";
import type { TemplateValues } from "./template-values.ts";

/** A message with all its templates rendered. */
export interface RenderedMessage {
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  /** Set on email only. */
  readonly html: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The files of a mail, with their content in base64. */
  readonly attachments: readonly MailAttachment[];
  readonly layoutId: string;
  readonly layoutVersion: number;
}

export interface RenderInput {
  readonly tenantId: TenantId;
  readonly channel: Channel;
  readonly content: ChannelContent | undefined;
  readonly values: TemplateValues;
  readonly nowMs: number;
  readonly subscriber: Pick<Subscriber, "locale" | "timezone">;
  readonly casing: Integration["casingOverride"];
  /** The markup in which the provider interprets texts. */
  readonly markup: ProviderMarkup | undefined;
  readonly partials: PartialLibrary;
  /** Each template is rendered in one turn on the event loop. */
  readonly turns: TimeSlices;
}

/** The subscriber as templates and conditions see it. */
export function subscriberFacts(subscriber: Subscriber): Record<string, unknown> {
  return {
    id: subscriber.id,
    external_id: subscriber.externalId,
    first_name: subscriber.firstName,
    last_name: subscriber.lastName,
    email: subscriber.email,
    phone: subscriber.phone,
    avatar: subscriber.avatar,
    locale: subscriber.locale,
    timezone: subscriber.timezone,
    data: subscriber.data,
  };
}

/** The maximum size of a message. Carriers split long text messages, so theirs is small. */
const bytesMax: Readonly<Record<Channel, number>> = {
  email: 1024 * 1024,
  sms: 1600,
  push: 3 * 1024,
  chat: 32 * 1024,
  in_app: 64 * 1024,
};

/** Renders a channel's templates and layout; returns the failure when they cannot be rendered. */
export async function renderMessage(layouts: Pick<Layouts, "layoutFor" | "wrap">, input: RenderInput) {
  const { tenantId, channel, content } = input;
  if (content === undefined || (content.body === "" && content.title === "" && content.subject === "")) {
    return failed("template_missing", `The notification workflow has no content for the channel ${channel}.`);
  }
  const layout = await layouts.layoutFor(tenantId, channel, content.layoutId);
  if (layout === undefined && content.layoutId !== "") {
    return failed("template_missing", "The layout that the workflow names does not exist.");
  }
  try {
    const missing = new Set<string>();
    const message = await renderContent(layouts, input, content, layout, (path) => missing.add(path));
    if ("code" in message) return message;
    if (!content.strictVariables || missing.size === 0) return message;
    return failed("variable_missing", `No value was given for ${[...missing].join(", ")}.`);
  } catch (error) {
    if (error instanceof TemplateError) return failed(error.code, error.message);
    throw error;
  }
}

async function renderContent(
  layouts: Pick<Layouts, "wrap">,
  { channel, values, nowMs, subscriber, casing, markup, partials, turns }: RenderInput,
  content: ChannelContent,
  layout: Awaited<ReturnType<Layouts["layoutFor"]>>,
  onMissing: (path: string) => void,
): Promise<RenderedMessage | DeliveryFailure> {
  const { locale, timezone } = subscriber;
  const isMail = channel === "email";
  const language = { nowMs, locale, timezone, onMissing, partials: partials[content.engine] };
  const plain = { ...language, escape: markup?.escape ?? "none", bytesMax: bytesMax[channel] } as const;
  const marked = isMail ? ({ ...plain, escape: "html" } as const) : plain;
  const renderTemplate = async (source: string, options: RenderOptions) => {
    if (source === "") return "";
    if (turns.isOver()) await turns.next();
    return compileTemplate(content.engine, source).render(values, options);
  };

  const own = { body: await renderTemplate(content.body, marked), text: await renderTemplate(content.textBody, plain) };
  // The plain-text part falls back to the text of the HTML part.
  const unwrapped = { body: own.body, text: own.text || (isMail ? plainText(own.body) : own.body) };
  if (layout !== undefined && turns.isOver()) await turns.next();
  const { body, text } =
    layout === undefined
      ? unwrapped
      : layouts.wrap(layout, unwrapped, values, { ...marked, partials: partials[layout.engine] });
  const message = isMail ? text || unwrapped.text : body;
  const renderHeading = async (source: string) =>
    toSendableText(applyCasing(oneLine(await renderTemplate(source, plain)), casing, locale));
  const subject = await renderHeading(content.subject);
  const title = await renderHeading(content.title);
  const attached = { ...plain, bytesMax: attachmentBytesMax };
  const rendered: MailAttachment[] = [];
  for (const { filename, content: source, ...file } of content.attachments) {
    rendered.push({
      ...file,
      filename: await renderTemplate(filename, attached),
      content: await renderTemplate(source, attached),
    });
  }
  const attachments = toAttached(rendered);
  if ("code" in attachments) return failed(attachments.code, attachments.message);
  if (turns.isOver()) await turns.next();
  return {
    subject,
    title,
    text: toSendableText(channel === "sms" ? applyCasing(message, casing, locale) : message),
    html: isMail ? toSendableText(body) : "",
    data: renderData(content.data, content.engine, values, language, markup),
    attachments,
    layoutId: layout?.id ?? "",
    layoutVersion: layout?.version ?? 0,
  };
}

/** Joins lines: text after a line break would become a header of its own in a mail. */
function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ").trim();
}

function failed(
  code: "template_missing" | "variable_missing" | "attachment_invalid" | TemplateError["code"],
  detail: string,
): DeliveryFailure {
  return { phase: "render", code, detail: detail.slice(0, 256) };
}
