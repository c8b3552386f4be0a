import type { TenantId } from "../../../../platform/access/index.ts";
import type { TimeSlices } from "../../../../platform/scheduling/index.ts";
import {
  applyCasing,
  compileTemplate,
  type RenderOptions,
  TemplateError,
} from "../../../../platform/templates/index.ts";
import type { Integration } from "../../integrations/index.ts";
import type { Layouts } from "../../layouts/index.ts";
import type { ChannelContent } from "../../preferences/index.ts";
import type { ProviderMarkup } from "../../providers/index.ts";
import type { Channel, Subscriber } from "../../subscribers/index.ts";
import type { DeliveryFailure } from "../domain/delivery.ts";
import { plainText } from "../domain/plain-text.ts";
import { renderData } from "./message-data.ts";
import type { TemplateValues } from "./template-values.ts";

/** What is said to a subscriber on a channel, in full. */
export interface Rendered {
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  /** Only mail has it. */
  readonly html: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly layoutId: string;
  readonly layoutVersion: number;
}

/** What a message is made from. */
export interface RenderInput {
  readonly tenantId: TenantId;
  readonly channel: Channel;
  readonly content: ChannelContent | undefined;
  readonly values: TemplateValues;
  readonly subscriber: Pick<Subscriber, "locale" | "timezone">;
  readonly casing: Integration["casingOverride"];
  /** The markup that the provider reads texts as. */
  readonly markup: ProviderMarkup | undefined;
  /** Each template is rendered in a slice of the event loop. */
  readonly turns: TimeSlices;
}

/** What templates and conditions know of a subscriber. */
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

/** The most bytes that a message may take; text messages are cut into parts by their carriers, so that they get few. */
const bytesMax: Readonly<Record<Channel, number>> = {
  email: 1024 * 1024,
  sms: 1600,
  push: 3 * 1024,
  chat: 32 * 1024,
  in_app: 64 * 1024,
};

/** Makes what is said on a channel from its templates and its layout, or says why that cannot be done. */
export async function render(layouts: Pick<Layouts, "layoutFor" | "wrap">, input: RenderInput) {
  const { tenantId, channel, content } = input;
  if (content === undefined || (content.body === "" && content.title === "" && content.subject === "")) {
    return failed("template_missing", `No notification workflow says anything on the channel ${channel}.`);
  }
  const layout = await layouts.layoutFor(tenantId, channel, content.layoutId);
  if (layout === undefined && content.layoutId !== "") {
    return failed("template_missing", "The layout that the workflow names is not there.");
  }
  try {
    const missing = new Set<string>();
    const message = await rendered(layouts, input, content, layout, (path) => missing.add(path));
    if (!content.strictVariables || missing.size === 0) return message;
    return failed("variable_missing", `Nothing is there for ${[...missing].join(", ")}.`);
  } catch (error) {
    if (error instanceof TemplateError) return failed(error.code, error.message);
    throw error;
  }
}

async function rendered(
  layouts: Pick<Layouts, "wrap">,
  { channel, values, subscriber, casing, markup, turns }: RenderInput,
  content: ChannelContent,
  layout: Awaited<ReturnType<Layouts["layoutFor"]>>,
  onMissing: (path: string) => void,
): Promise<Rendered> {
  const { locale, timezone } = subscriber;
  const isMail = channel === "email";
  const language = { locale, timezone, onMissing };
  const plain = { ...language, escape: markup?.escape ?? "none", bytesMax: bytesMax[channel] } as const;
  const marked = isMail ? ({ ...plain, escape: "html" } as const) : plain;
  const put = async (source: string, options: RenderOptions) => {
    if (source === "") return "";
    if (turns.isOver()) await turns.next();
    return compileTemplate(content.engine, source).render(values, options);
  };

  const own = { body: await put(content.body, marked), text: await put(content.textBody, plain) };
  // Those who do not see HTML are told the same.
  const said = { body: own.body, text: own.text || (isMail ? plainText(own.body) : own.body) };
  if (layout !== undefined && turns.isOver()) await turns.next();
  const { body, text } = layout === undefined ? said : layouts.wrap(layout, said, values, marked);
  const spoken = isMail ? text || said.text : body;
  // A filter may have cut a character in two; nobody takes half of one.
  const heading = async (source: string) =>
    applyCasing(oneLine(await put(source, plain)), casing, locale).toWellFormed();
  const subject = await heading(content.subject);
  const title = await heading(content.title);
  if (turns.isOver()) await turns.next();
  return {
    subject,
    title,
    text: (channel === "sms" ? applyCasing(spoken, casing, locale) : spoken).toWellFormed(),
    html: isMail ? body.toWellFormed() : "",
    data: renderData(content.data, content.engine, values, language, markup),
    layoutId: layout?.id ?? "",
    layoutVersion: layout?.version ?? 0,
  };
}

/** A subject is a line: whatever comes after a break would be a header of its own in a mail. */
function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ").trim();
}

function failed(
  code: "template_missing" | "variable_missing" | TemplateError["code"],
  detail: string,
): DeliveryFailure {
  return { phase: "render", code, detail: detail.slice(0, 256) };
}
