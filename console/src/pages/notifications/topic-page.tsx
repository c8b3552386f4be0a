import { createTopicService, type Subscription } from "@client/gen/topic";
import { useState } from "preact/hooks";
import { useList, useQuery } from "../../core/query";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickSubscriber } from "../../palette/picker-sources";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { nameColumn } from "../../ui/name";
import { ListTable, Page } from "../../ui/page";
import { Ago } from "../../ui/text";
import { toastError } from "../../ui/toast";

const topics = createTopicService(transport);

/** One topic and its members. */
export function TopicPage({ topicKey }: { readonly topicKey: string }) {
  const [isAdding, add] = useState(false);
  const topic = useQuery(`topic ${topicKey}`, () => topics.get({ key: topicKey }));
  const list = useList(`topic members ${topicKey}`, (page) => topics.listSubscribers({ ...page, key: topicKey }), {
    live: ["topic."],
  });
  const remove = (id: string) =>
    topics.removeSubscribers({ key: topicKey, subscriber_ids: [id] }).then(list.refresh, toastError);
  const removeTopic = () =>
    confirm({
      title: `Delete the topic ${topicKey}?`,
      consequence: "Its memberships are deleted. A broadcast that is being sent still reaches those who were members.",
      confirm: "Delete topic",
      typed: topicKey,
      done: "The topic was deleted.",
      act: () => topics.delete({ key: topicKey }).then(() => navigate(href("notifications", { tab: "topics" }))),
    });
  return (
    <Page
      actions={
        can("notification:write") && (
          <>
            <Button icon="plus" onClick={() => add(true)}>
              Add members
            </Button>
            <Button onClick={removeTopic} tone="danger-text">
              Delete
            </Button>
          </>
        )
      }
      crumbs={[
        { title: "Notifications", path: "notifications" },
        { title: "Topics", path: "notifications", tab: "topics" },
      ]}
      question={topic.data?.description || "Who is in it?"}
      title={topic.data?.name || topicKey}
    >
      <ListTable
        columns={[
          nameColumn({
            title: "Subscriber",
            kind: "subscriber",
            id: ({ subscriber_id }: Subscription) => subscriber_id,
            plain: true,
          }),
          { title: "Context", value: ({ context_keys }) => context_keys.join(", ") },
          {
            title: "Since",
            width: "130px",
            value: ({ created_at }) => created_at,
            render: ({ created_at }) => <Ago time={created_at} />,
          },
        ]}
        empty={<Empty title="No member">Add subscribers by their id or by your own id of them.</Empty>}
        hrefOf={({ subscriber_id }) => href(`notifications/subscribers/${subscriber_id}`)}
        keyOf={({ id }) => id}
        label="Members of the topic"
        list={list}
        rowActions={
          can("notification:write")
            ? ({ subscriber_id }) => (
                <Button onClick={() => remove(subscriber_id)} small tone="quiet">
                  Remove
                </Button>
              )
            : undefined
        }
      />
      {isAdding && (
        <FormDialog
          done="The members were added."
          fields={[
            {
              name: "subscriber_ids",
              label: "Subscribers",
              kind: "list",
              required: true,
              from: pickSubscriber,
            },
          ]}
          onClose={() => add(false)}
          onSubmit={async ({ subscriber_ids }) => {
            await topics.addSubscribers({ key: topicKey, subscriber_ids: subscriber_ids as string[] });
            list.refresh();
          }}
          submit="Add members"
          title="Add members"
        />
      )}
    </Page>
  );
}
