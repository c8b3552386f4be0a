import {
  type CreateSuppressionRequest,
  createSuppressionService,
  type ListSuppressionsRequest,
  type Suppression,
} from "@client/gen/suppression";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";

const suppressions = createSuppressionService(transport);
const channels = ["email", "sms", "push", "chat"];
const reasons = ["bounced", "complained", "unsubscribed", "unreachable", "manual"];

const columns: readonly Column<Suppression>[] = [
  { title: "Address", value: ({ identity }) => identity },
  { title: "Channel", width: "100px", value: ({ channel }) => words(channel) },
  {
    title: "Why",
    width: "140px",
    value: ({ reason }) => reason,
    render: ({ reason }) => <Status of={reason} tone={reason === "manual" ? "muted" : "warn"} />,
  },
  {
    title: "Note",
    value: ({ note, provider_key }) => note || provider_key || undefined,
    render: ({ note, provider_key, delivery_id }) =>
      delivery_id === "" ? undefined : (
        <>
          {note || `Reported by ${provider_key || "the provider"}`}{" "}
          <a class="link" href={href("notifications", { open: delivery_id })}>
            Open the delivery
          </a>
        </>
      ),
  },
  {
    title: "Since",
    width: "120px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
];

/** The addresses that get no message, and why. */
export function Suppressions() {
  const [isAdding, add] = useState(false);
  const filters = {
    channel: filterOf("channel"),
    reason: filterOf("reason"),
    identity: filterOf("address"),
  } as ListSuppressionsRequest;
  const list = useList(
    `suppressions ${JSON.stringify(filters)}`,
    (page) => suppressions.list({ ...page, ...filters }),
    { live: ["notification.suppression."] },
  );
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={channels.map((each) => [each, words(each)])} label="Channel" name="channel" />
        <ChoiceFilter choices={reasons.map((each) => [each, words(each)])} label="Reason" name="reason" />
        <TextFilter label="Whole address" name="address" />
        <span class="spacer" />
        {can("notification:write") && (
          <Button icon="plus" onClick={() => add(true)}>
            Suppress an address
          </Button>
        )}
      </div>
      <ListTable
        columns={columns}
        empty={isFiltered ? <NoMatch /> : <NoSuppression />}
        keyOf={({ id }) => id}
        label="Suppressions"
        list={list}
        rowActions={
          can("notification:write")
            ? (suppression) => (
                <Button onClick={() => askToRemove(suppression, list.refresh)} small tone="quiet">
                  Remove
                </Button>
              )
            : undefined
        }
        rowActionsWidth="100px"
      />
      {isAdding && (
        <FormDialog
          done="The address is suppressed."
          fields={[
            {
              name: "channel",
              label: "Channel",
              kind: "choice",
              required: true,
              choices: channels.map((value) => ({ value, label: words(value) })),
            },
            {
              name: "identity",
              label: "Address",
              required: true,
              placeholder: "ada@example.org",
              hint: "The mail address, phone number, device token or chat address.",
            },
            { name: "note", label: "Note", hint: "For example, who asked for it." },
          ]}
          onClose={() => add(false)}
          onSubmit={async (values) => {
            await suppressions.create(values as unknown as CreateSuppressionRequest);
            list.refresh();
          }}
          submit="Suppress"
          title="Suppress an address: nothing is sent to it any more"
        />
      )}
    </>
  );
}

function askToRemove({ id, identity, reason }: Suppression, refresh: () => void): void {
  const risk = reason === "manual" ? "" : " Its provider refused it before: check that the address works now.";
  confirm({
    title: `Send to ${identity} again?`,
    consequence: `The next notification for this address is sent, if preferences allow it.${risk}`,
    confirm: "Remove suppression",
    done: "The address gets messages again.",
    act: () => suppressions.delete({ id }).then(refresh),
  });
}

function NoMatch() {
  return <Empty title="Nothing matches">No suppressed address has these properties. Change the filters.</Empty>;
}

function NoSuppression() {
  return (
    <Empty
      samples={samplesOf({
        path: "/api/v2/notification/suppressions",
        body: { channel: "email", identity: "ada@example.org", note: "asked by phone" },
        cli: `suppression create --channel email --identity ada@example.org --note "asked by phone"`,
        sdk: `suppressions.create({ channel: "email", identity: "ada@example.org", note: "asked by phone" })`,
      })}
      title="No suppressed address"
    >
      Nothing is sent to a suppressed address, whoever it belongs to. Addresses come here when a provider reports a
      permanent bounce or a complaint. Choose <strong>Suppress an address</strong> to add one yourself.
    </Empty>
  );
}
