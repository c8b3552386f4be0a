import { createNotificationService, type NotificationDeadLetter } from "@client/gen/notification";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { words } from "../../ui/format";
import { nameColumn } from "../../ui/name";
import { ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";

const notifications = createNotificationService(transport);

const columns: readonly Column<NotificationDeadLetter>[] = [
  nameColumn({ title: "Message", width: "240px", kind: "notification_delivery", id: ({ delivery_id }) => delivery_id }),
  { title: "Channel", width: "100px", value: ({ channel }) => words(channel) },
  { title: "Why", value: ({ failure_code, failure_detail }) => `${words(failure_code)} ${failure_detail}` },
  { title: "Attempts", width: "94px", isNumber: true, value: ({ attempts }) => attempts },
  { title: "Status", width: "120px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  {
    title: "Failed",
    width: "110px",
    value: ({ last_failed_at }) => last_failed_at,
    render: ({ last_failed_at }) => <Ago time={last_failed_at} />,
  },
];

/** Messages whose attempts all failed. */
export function DeadLetters() {
  const list = useList("notification dead letters", (page) => notifications.listDeadLetters(page), {
    live: ["notification."],
  });
  const redrive = (letter: NotificationDeadLetter) =>
    confirm({
      title: "Send this message again?",
      consequence: "It is sent again with the stored content, if the preferences of the person still allow it.",
      confirm: "Send again",
      done: "The message is sent again.",
      act: () =>
        notifications
          .redriveDeadLetter({ dead_letter_id: letter.id, reason: "sent again from the console" })
          .then(list.refresh),
    });
  return (
    <ListTable
      columns={columns}
      empty={<Empty title="No dead letter">Messages come here when a provider refused them for good. None was.</Empty>}
      keyOf={({ id }) => id}
      label="Dead letters of notifications"
      list={list}
      rowActions={
        can("notification:admin")
          ? (letter) => (
              <Button onClick={() => redrive(letter)} small tone="quiet">
                Send again
              </Button>
            )
          : undefined
      }
    />
  );
}
