import {
  type ChannelContent,
  type ChannelContentsInput,
  createNotificationWorkflowService,
  type LocalizedContent,
  type NotificationWorkflow,
  type UpsertNotificationWorkflowRequest,
} from "@client/gen/notification-workflow";
import { useId, useState } from "preact/hooks";
import { useQuery } from "../../../core/query";
import { href, navigate, query, setQuery } from "../../../core/router";
import { can } from "../../../core/session";
import { transport } from "../../../core/transport";
import { Button } from "../../../ui/button";
import { Card } from "../../../ui/card";
import { confirm } from "../../../ui/dialog";
import { words } from "../../../ui/format";
import { currentTab, Page, Ready, Tabs } from "../../../ui/page";
import { announce } from "../../../ui/toast";
import { Attachments } from "./attachments";
import { Locales } from "./locales";
import { Preview } from "./preview";
import { Steps } from "./steps";
import { WhatIf } from "./what-if";
import { wholeWorkflow } from "./whole-workflow";

const workflows = createNotificationWorkflowService(transport);
export const channelNames = ["email", "sms", "push", "chat", "in_app"] as const;
type Channel = (typeof channelNames)[number];
const tabs = { templates: "Templates", steps: "Steps" };

/** One notification workflow: its templates, with a preview while somebody types, and its steps. */
export function WorkflowPage({ workflowKey }: { readonly workflowKey: string }) {
  const workflow = useQuery(`notification workflow ${workflowKey}`, () => workflows.get({ workflow_key: workflowKey }));
  const remove = () =>
    confirm({
      title: `Delete ${workflowKey}?`,
      consequence: "Triggers of this workflow are refused from now on. Messages that were sent stay in the history.",
      confirm: "Delete workflow",
      typed: workflowKey,
      done: "The workflow was deleted.",
      act: () =>
        workflows
          .delete({ workflow_key: workflowKey })
          .then(() => navigate(href("notifications", { tab: "workflows" }))),
    });
  return (
    <Page
      actions={
        can("notification:write") && (
          <Button onClick={remove} tone="danger-text">
            Delete
          </Button>
        )
      }
      crumbs={[
        { title: "Notifications", path: "notifications" },
        { title: "Workflows", path: "notifications", tab: "workflows" },
      ]}
      question={workflow.data?.description || "What does the message say on each channel?"}
      title={workflow.data?.name || workflowKey}
    >
      <Tabs label="Parts of the workflow" tabs={tabs} />
      <Ready query={workflow}>
        {(data) =>
          currentTab(tabs) === "steps" ? (
            <Steps refresh={workflow.refresh} workflow={data} />
          ) : (
            <Templates key={data.record_version} refresh={workflow.refresh} workflow={data} />
          )
        }
      </Ready>
    </Page>
  );
}

const samplePayload = JSON.stringify(
  { order: "A-4711", headline: "Something new", title: "Hello", text: "World" },
  null,
  2,
);

function Templates({ workflow, refresh }: { readonly workflow: NotificationWorkflow; readonly refresh: () => void }) {
  const [channels, setChannels] = useState<Partial<Record<Channel, Partial<ChannelContent>>>>(workflow.channels ?? {});
  const [payload, setPayload] = useState(samplePayload);
  const [isTrying, setTrying] = useState(false);
  const wanted = query.value.get("channel") as Channel | null;
  const channel = wanted ?? channelNames.find((each) => channels[each] !== undefined) ?? "email";
  const content = channels[channel];
  const payloadId = useId();
  const [locale, setLocale] = useState("");
  const change = (part: Partial<ChannelContent> | undefined) => {
    const { [channel]: _, ...others } = channels;
    setChannels(part === undefined ? others : { ...others, [channel]: { ...content, ...part } });
  };
  const save = () => {
    const changed = { ...wholeWorkflow(workflow), channels };
    return announce(
      workflows.upsert(changed as UpsertNotificationWorkflowRequest),
      "The templates were saved.",
      refresh,
    );
  };
  return (
    <>
      <div class="filters">
        <fieldset aria-label="Channel" class="segmented">
          {channelNames.map((each) => (
            <button
              aria-pressed={each === channel}
              key={each}
              onClick={() => setQuery({ channel: each })}
              type="button"
            >
              {words(each)}
              {channels[each] === undefined ? "" : " ·"}
            </button>
          ))}
        </fieldset>
        <span class="spacer" />
        {can("notification:simulate") && <Button onClick={() => setTrying(true)}>Try on recorded triggers</Button>}
        {isTrying && (
          <WhatIf
            draft={{ channels: channels as ChannelContentsInput }}
            onClose={() => setTrying(false)}
            workflowKey={workflow.workflow_key}
          />
        )}
        {can("notification:write") && (
          <Button onClick={save} tone="primary">
            Save templates
          </Button>
        )}
      </div>
      <div class="columns">
        <Card
          actions={
            can("notification:write") && (
              <Button onClick={() => change(content === undefined ? { body: "" } : undefined)} small>
                {content === undefined ? "Use this channel" : "Remove channel"}
              </Button>
            )
          }
          title={`Template for ${words(channel).toLowerCase()}`}
        >
          {content === undefined ? (
            <p class="soft">This workflow sends nothing on this channel.</p>
          ) : (
            <LocalizedFields
              channel={channel}
              change={change}
              content={content}
              locale={locale}
              setLocale={setLocale}
            />
          )}
        </Card>
        <div class="stack">
          <Card title="Preview">
            {content === undefined ? (
              <p class="soft">Nothing to show.</p>
            ) : (
              <Preview channel={channel} content={content} locale={locale || "en-GB"} payload={payload} />
            )}
          </Card>
          <Card title="Sample payload">
            <label class="visually-hidden" for={payloadId}>
              Sample payload
            </label>
            <textarea
              class="textarea code"
              id={payloadId}
              onInput={(event) => setPayload(event.currentTarget.value)}
              rows={6}
              spellcheck={false}
              value={payload}
            />
          </Card>
        </div>
      </div>
    </>
  );
}

interface TemplateProps {
  readonly channel: Channel;
  readonly content: Partial<ChannelContent>;
  readonly change: (part: Partial<ChannelContent>) => void;
}

interface LocalizedProps extends TemplateProps {
  /** The locale whose texts are shown; "" for the content's own. */
  readonly locale: string;
  readonly setLocale: (locale: string) => void;
}

/** The texts of one locale, and what all locales share. */
function LocalizedFields({ channel, content, change, locale: wanted, setLocale }: LocalizedProps) {
  const { locales = {} } = content;
  const locale = wanted in locales ? wanted : "";
  const isReadOnly = !can("notification:write");
  const texts = locale === "" ? content : (locales[locale] ?? {});
  const changeTexts = (part: Partial<ChannelContent>) =>
    change(locale === "" ? part : { locales: { ...locales, [locale]: { ...texts, ...part } as LocalizedContent } });
  return (
    <div class="stack">
      <Locales
        change={(next) => change({ locales: next })}
        isReadOnly={isReadOnly}
        locale={locale}
        locales={locales}
        setLocale={setLocale}
      />
      <TemplateFields channel={channel} change={changeTexts} content={texts} />
      {channel === "email" && <Attachments change={change} files={content.attachments ?? []} isReadOnly={isReadOnly} />}
    </div>
  );
}

function TemplateFields({ channel, content, change }: TemplateProps) {
  const heading = channel === "email" ? "subject" : "title";
  const isReadOnly = !can("notification:write");
  const headingId = useId();
  const bodyId = useId();
  return (
    <div class="form">
      {channel !== "sms" && (
        <div class="field">
          <label for={headingId}>{words(heading)}</label>
          <input
            class="input code"
            id={headingId}
            onInput={(event) => change({ [heading]: event.currentTarget.value })}
            readOnly={isReadOnly}
            value={content[heading] ?? ""}
          />
        </div>
      )}
      <div class="field">
        <label for={bodyId}>Body</label>
        <textarea
          class="textarea code"
          id={bodyId}
          onInput={(event) => change({ body: event.currentTarget.value })}
          readOnly={isReadOnly}
          rows={12}
          spellcheck={false}
          value={content.body ?? ""}
        />
        <span class="hint">
          Handlebars over payload, subscriber, workflow_key and transaction_id. The body of a mail is HTML.
        </span>
      </div>
    </div>
  );
}
