import { createNotificationWorkflowService, type NotificationWorkflow } from "@client/gen/notification-workflow";
import { useList } from "../../../core/query";
import { href, navigate, useAddressedDialog } from "../../../core/router";
import { can } from "../../../core/session";
import { transport } from "../../../core/transport";
import { Button } from "../../../ui/button";
import { Empty, samplesOf } from "../../../ui/empty";
import { FormDialog } from "../../../ui/form";
import { words } from "../../../ui/format";
import { ListTable } from "../../../ui/page";
import type { Column } from "../../../ui/table";
import { Ago, Chips } from "../../../ui/text";

const workflows = createNotificationWorkflowService(transport);

const channelsOf = ({ channels }: NotificationWorkflow) => Object.keys(channels ?? {}).map(words);

const columns: readonly Column<NotificationWorkflow>[] = [
  { title: "Name", value: ({ name, workflow_key }) => name || workflow_key },
  {
    title: "Key",
    value: ({ workflow_key }) => workflow_key,
    render: ({ workflow_key }) => <code>{workflow_key}</code>,
  },
  {
    title: "Channels",
    value: (each) => channelsOf(each).join(", "),
    render: (each) => <Chips of={channelsOf(each)} />,
  },
  {
    title: "Changed",
    width: "120px",
    value: ({ updated_at }) => updated_at,
    render: ({ updated_at }) => <Ago time={updated_at} />,
  },
];

/** The notification workflows: which channels a message uses, and its templates. */
export function Workflows() {
  const [isAdding, add] = useAddressedDialog("new", can("notification:write"));
  const list = useList("notification workflows", (page) => workflows.list(page), { live: ["notification.workflow"] });
  return (
    <>
      <div class="filters">
        <span class="spacer" />
        {can("notification:write") && (
          <Button icon="plus" onClick={() => add(true)}>
            New workflow
          </Button>
        )}
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              verb: "PUT",
              path: "/api/v2/notification/workflows/order.shipped",
              body: { channels: { in_app: { title: "Order {{payload.order}} shipped", body: "It arrives soon." } } },
              cli: `notification-workflow upsert order.shipped --channels '{"in_app": {"title": "Order shipped"}}'`,
              sdk: `notificationWorkflows.upsert({ workflow_key: "order.shipped", channels: { in_app: { title: "Order shipped" } } })`,
            })}
            title="No workflow"
          >
            A notification workflow names the channels of a message and has a template for each.
          </Empty>
        }
        hrefOf={({ workflow_key }) => href(`notifications/workflows/${workflow_key}`)}
        keyOf={({ workflow_key }) => workflow_key}
        label="Notification workflows"
        list={list}
      />
      {isAdding && (
        <FormDialog
          fields={[
            { name: "workflow_key", label: "Key", required: true, placeholder: "order.shipped" },
            { name: "name", label: "Name" },
          ]}
          onClose={() => add(false)}
          onSubmit={async ({ workflow_key, name }) => {
            const key = String(workflow_key);
            const channels = { in_app: { title: "{{payload.title}}", body: "{{payload.text}}" } };
            await workflows.upsert({ workflow_key: key, name: name as string | undefined, channels });
            navigate(href(`notifications/workflows/${key}`));
          }}
          submit="Create workflow"
          title="New notification workflow"
        />
      )}
    </>
  );
}
