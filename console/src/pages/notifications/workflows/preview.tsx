import {
  type ChannelContent,
  createNotificationWorkflowService,
  type PreviewedAttachment,
} from "@client/gen/notification-workflow";
import { transport } from "../../../core/transport";
import { useTypedQuery } from "../../../core/typed-query";
import { messageOf } from "../../../ui/format";
import { Facts, Notice } from "../../../ui/text";
import { MailFrame } from "../mail-frame";

const workflows = createNotificationWorkflowService(transport);
const sampleSubscriber = { first_name: "Ada", last_name: "Lovelace", email: "ada@example.org" };

interface Props {
  readonly channel: string;
  readonly content: Partial<ChannelContent>;
  readonly payload: string;
  /** The locale of the sample subscriber. */
  readonly locale: string;
}

/** The message as the service renders it for a sample. */
export function Preview({ channel, content, payload, locale }: Props) {
  const { data: shown } = useTypedQuery(JSON.stringify([channel, content, payload, locale]), () =>
    render(channel, content, payload, locale),
  );
  if (shown === undefined) return <p class="faint">Rendering…</p>;
  if (typeof shown === "string") return <Notice tone="bad">{shown}</Notice>;
  return (
    <div class="stack">
      <Facts
        of={{ Subject: shown.subject, Title: shown.title, Attachments: shown.attachments.map(fileText).join(", ") }}
      />
      {channel === "email" ? <MailFrame html={shown.body} title="Preview of the mail" /> : <p>{shown.body}</p>}
      {shown.unresolved_variables.length > 0 && (
        <Notice tone="warn">The sample has no {shown.unresolved_variables.join(", ")}. They render as nothing.</Notice>
      )}
    </div>
  );
}

function fileText({ filename, size_bytes }: PreviewedAttachment): string {
  return `${filename} (${size_bytes.toLocaleString("en-GB")} bytes)`;
}

async function render(channel: string, content: Partial<ChannelContent>, payloadText: string, locale: string) {
  let payload: object;
  try {
    payload = JSON.parse(payloadText) as object;
  } catch {
    return "The sample payload is not valid JSON.";
  }
  const request = { channel, content, payload, subscriber: { ...sampleSubscriber, locale } };
  return workflows
    .previewNotificationContent(request as Parameters<typeof workflows.previewNotificationContent>[0])
    .catch(messageOf);
}
