import { type CreateTopicRequest, createTopicService, type Topic } from "@client/gen/topic";
import { useList } from "../../core/query";
import { href, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty, samplesOf } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago } from "../../ui/text";

const topics = createTopicService(transport);

const columns: readonly Column<Topic>[] = [
  { title: "Name", value: ({ name, key }) => name || key },
  { title: "Key", value: ({ key }) => key, render: ({ key }) => <code>{key}</code> },
  { title: "Description", value: ({ description }) => description },
  {
    title: "Created",
    width: "120px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
];

/** Groups of subscribers that get the same message. */
export function Topics() {
  const [isAdding, add] = useAddressedDialog("new", can("notification:write"));
  const list = useList("topics", (page) => topics.list(page), { live: ["topic."] });
  return (
    <>
      <div class="filters">
        <span class="spacer" />
        {can("notification:write") && (
          <Button icon="plus" onClick={() => add(true)}>
            New topic
          </Button>
        )}
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/v2/notification/topics",
              body: { key: "news", name: "Product news" },
              cli: `topic create --key news --name "Product news"`,
              sdk: `topics.create({ key: "news", name: "Product news" })`,
            })}
            title="No topic"
          >
            A topic is a group of subscribers. A trigger for a topic is a broadcast.
          </Empty>
        }
        hrefOf={({ key }) => href(`notifications/topics/${key}`)}
        keyOf={({ id }) => id}
        label="Topics"
        list={list}
      />
      {isAdding && (
        <FormDialog
          done="The topic was created."
          fields={[
            { name: "key", label: "Key", required: true },
            { name: "name", label: "Name" },
            { name: "description", label: "Description" },
          ]}
          onClose={() => add(false)}
          onSubmit={async (values) => {
            await topics.create(values as unknown as CreateTopicRequest);
            list.refresh();
          }}
          submit="Create topic"
          title="New topic"
        />
      )}
    </>
  );
}
