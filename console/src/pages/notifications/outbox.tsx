import { createOutboxService, type OutboxMessage } from "@client/gen/outbox";
import { useList } from "../../core/query";
import { setQuery, withQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { formatTime, words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Facts } from "../../ui/text";
import { MailFrame } from "./mail-frame";

const outbox = createOutboxService(transport);
const channels = ["email", "sms", "push", "chat"];

const columns: readonly Column<OutboxMessage>[] = [
  { title: "Message", value: ({ subject, title, body }) => subject || title || body },
  { title: "To", value: ({ recipient }) => recipient },
  { title: "Channel", width: "100px", value: ({ channel }) => words(channel) },
  { title: "Workflow", width: "170px", value: ({ workflow_key }) => workflow_key },
  {
    title: "When",
    width: "110px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
];

/** Messages that were kept here instead of sent. */
export function Outbox() {
  const channel = filterOf("channel");
  const list = useList(
    `outbox ${channel}`,
    (page) => outbox.listMessages({ ...page, channel } as Parameters<typeof outbox.listMessages>[0]),
    {
      everyMs: 4_000,
    },
  );
  const opened = list.rows.find(({ id }) => id === filterOf("open"));
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={channels.map((each) => [each, words(each)])} label="Channel" name="channel" />
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty title="The outbox is empty">
            In development, messages without an integration are kept here instead of sent. Trigger a notification to see
            one.
          </Empty>
        }
        hrefOf={({ id }) => withQuery({ open: id })}
        keyOf={({ id }) => id}
        label="Outbox"
        list={list}
      />
      {opened !== undefined && (
        <Dialog
          kind="drawer"
          onClose={() => setQuery({ open: undefined })}
          title={opened.subject || opened.title || "Message"}
        >
          <div class="dialog-body">
            <Facts
              of={{
                To: opened.recipient,
                Channel: words(opened.channel),
                Workflow: opened.workflow_key,
                Time: formatTime(opened.created_at),
              }}
            />
            {opened.html === "" ? <p>{opened.body}</p> : <MailFrame html={opened.html} title="The mail" />}
          </div>
        </Dialog>
      )}
    </>
  );
}
