import { createSubscriberService, type Subscriber, type UpsertSubscriberRequest } from "@client/gen/subscriber";
import { useList } from "../../core/query";
import { href, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty, samplesOf } from "../../ui/empty";
import { type Field, FormDialog } from "../../ui/form";
import { filterOf, ListTable, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { subscriberName } from "./subscriber-names";

const subscribers = createSubscriberService(transport);

const columns: readonly Column<Subscriber>[] = [
  { title: "Name", value: subscriberName },
  { title: "External id", value: ({ external_id }) => external_id },
  { title: "Email", value: ({ email }) => email },
  { title: "Phone", width: "140px", value: ({ phone }) => phone },
  { title: "Locale", width: "90px", value: ({ locale }) => locale },
  {
    title: "Status",
    width: "110px",
    value: ({ active }) => (active ? "active" : "inactive"),
    render: ({ active }) => <Status of={active ? "active" : "inactive"} />,
  },
  {
    title: "Created",
    width: "120px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
];

export const subscriberFields: readonly Field[] = [
  { name: "first_name", label: "First name", row: "name" },
  { name: "last_name", label: "Last name", row: "name" },
  { name: "email", label: "Email", row: "address" },
  { name: "phone", label: "Phone", row: "address" },
  { name: "locale", label: "Locale", placeholder: "en-GB", row: "place" },
  { name: "timezone", label: "Time zone", placeholder: "Europe/Berlin", row: "place" },
  { name: "data", label: "Data", kind: "json", hint: "Templates see it as subscriber.data." },
];

/** The people who can be notified. */
export function Subscribers() {
  const [isAdding, add] = useAddressedDialog("new", can("notification:write"));
  const filters = { email: filterOf("email"), external_id: filterOf("external") };
  const list = useList(`subscribers ${JSON.stringify(filters)}`, (page) => subscribers.list({ ...page, ...filters }), {
    live: ["subscriber."],
  });
  return (
    <>
      <div class="filters">
        <TextFilter label="Email" name="email" />
        <TextFilter label="External id" name="external" />
        <span class="spacer" />
        {can("notification:write") && (
          <Button icon="plus" onClick={() => add(true)}>
            Add subscriber
          </Button>
        )}
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/v2/notification/subscribers",
              body: { external_id: "ada", email: "ada@example.org", first_name: "Ada" },
              cli: "subscriber upsert --external-id ada --email ada@example.org --first-name Ada",
              sdk: `subscribers.upsert({ external_id: "ada", email: "ada@example.org", first_name: "Ada" })`,
            })}
            title="No subscriber"
          >
            A subscriber is a person who can be notified. A trigger can also create one.
          </Empty>
        }
        hrefOf={({ id }) => href(`notifications/subscribers/${id}`)}
        keyOf={({ id }) => id}
        label="Subscribers"
        list={list}
      />
      {isAdding && (
        <FormDialog
          done="The subscriber was added."
          fields={[
            { name: "external_id", label: "External id", required: true, hint: "Your own id of the person." },
            ...subscriberFields,
          ]}
          onClose={() => add(false)}
          onSubmit={async (values) => {
            await subscribers.upsert(values as unknown as UpsertSubscriberRequest);
            list.refresh();
          }}
          submit="Add subscriber"
          title="Add a subscriber"
        />
      )}
    </>
  );
}
