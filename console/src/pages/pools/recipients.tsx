import type { Pool } from "@client/gen/pool";
import {
  type CreateRecipientRequest,
  createRecipientService,
  type Recipient,
  type UpdateRecipientRequest,
} from "@client/gen/recipient";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { type Field, FormDialog } from "../../ui/form";
import { formatLimit, words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";

const recipients = createRecipientService(transport);

const columns: readonly Column<Recipient>[] = [
  { title: "Name", value: ({ name }) => name },
  { title: "Status", width: "108px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  { title: "In flight", width: "80px", isNumber: true, value: ({ in_flight }) => in_flight },
  {
    title: "Capacity",
    width: "96px",
    isNumber: true,
    value: ({ capacity }) => capacity,
    render: ({ capacity }) => formatLimit(capacity),
  },
  { title: "Weight", width: "76px", isNumber: true, value: ({ weight }) => weight },
  { title: "Skills", value: ({ skills }) => skillText(skills) },
  {
    title: "Delivery",
    width: "86px",
    value: ({ delivery }) => words(delivery?.mode),
  },
  {
    title: "Last work",
    width: "104px",
    value: ({ last_assigned_at }) => last_assigned_at,
    render: ({ last_assigned_at }) => <Ago time={last_assigned_at} />,
  },
];

const fields: readonly Field[] = [
  { name: "name", label: "Name", required: true, placeholder: "ada" },
  { name: "capacity", label: "Capacity", kind: "number", row: "numbers", hint: "Items at a time. 0 is unlimited." },
  {
    name: "weight",
    label: "Weight",
    kind: "number",
    row: "numbers",
    hint: "100 when empty, 0 gets nothing. For weighted random and round robin.",
  },
  {
    name: "priority",
    label: "Priority",
    kind: "number",
    row: "order",
    hint: "100 when empty, lower is first. For the strategy priority.",
  },
  {
    name: "cost",
    label: "Cost",
    kind: "number",
    row: "order",
    hint: "Of one item; 0 when empty. For lowest cost, until outcomes report it.",
  },
  {
    name: "skills",
    label: "Skills",
    kind: "json",
    placeholder: `{ "german": 4 }`,
    hint: "Levels from 1 to 5, in JSON.",
  },
  {
    name: "attributes",
    label: "Attributes",
    kind: "json",
    placeholder: `{ "team": "north", "remote": true }`,
    hint: "In JSON. Rules see them as recipient.attributes.",
  },
];

export function Recipients({ pool }: { readonly pool: Pool }) {
  const [edited, edit] = useState<Recipient | "new">();
  const status = filterOf("status") as Recipient["status"] | undefined;
  const list = useList(
    `recipients ${pool.id} ${status ?? ""}`,
    (page) => recipients.list({ ...page, pool_id: pool.id, status }),
    {
      live: ["recipient."],
      everyMs: 5_000,
    },
  );
  const save = async (values: Record<string, unknown>) => {
    if (edited === "new") {
      await recipients.create({ ...values, pool_id: pool.id } as CreateRecipientRequest);
    } else {
      const { skills, ...others } = values;
      const change = { ...others, ...(skills !== undefined && { skill_set: { skills } }) };
      await recipients.update({
        ...change,
        recipient_id: edited!.id,
        record_version: edited!.record_version,
      } as UpdateRecipientRequest);
    }
    list.refresh();
  };
  return (
    <>
      <div class="filters">
        <ChoiceFilter
          choices={["ACTIVE", "PAUSED", "DRAINING", "EJECTED", "OFFLINE"].map((each) => [
            `STATUS_${each}`,
            words(each),
          ])}
          label="Status"
          name="status"
        />
        <span class="spacer" />
        {can("recipient:write") && (
          <Button icon="plus" onClick={() => edit("new")}>
            Add recipient
          </Button>
        )}
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: `/api/pools/${pool.id}/recipients`,
              body: { name: "ada", capacity: 5 },
              cli: `recipient create ${pool.id} --name ada --capacity 5`,
              sdk: `recipients.create({ pool_id: "${pool.id}", name: "ada", capacity: 5 })`,
            })}
            title="No recipient"
          >
            A recipient is whoever or whatever does the work: a person, a worker process, or an address that gets it
            pushed.
          </Empty>
        }
        keyOf={({ id }) => id}
        label={`Recipients of ${pool.name}`}
        list={list}
        rowActions={
          can("recipient:write")
            ? (recipient) => <RowActions edit={() => edit(recipient)} recipient={recipient} refresh={list.refresh} />
            : undefined
        }
        rowActionsWidth="196px"
      />
      {edited !== undefined && (
        <FormDialog
          done={edited === "new" ? "The recipient was added." : "The recipient was changed."}
          fields={fields}
          initial={edited === "new" ? {} : { ...edited }}
          onClose={() => edit(undefined)}
          onSubmit={save}
          submit={edited === "new" ? "Add recipient" : "Save changes"}
          title={edited === "new" ? `Add a recipient to ${pool.name}` : `Change ${edited.name}`}
        />
      )}
    </>
  );
}

interface RowActionProps {
  readonly recipient: Recipient;
  readonly refresh: () => void;
  readonly edit: () => void;
}

function RowActions({ recipient, refresh, edit }: RowActionProps) {
  const { id, name, status } = recipient;
  const isPaused = status === "STATUS_PAUSED";
  const toggle = async () => {
    try {
      await (isPaused ? recipients.resume({ recipient_id: id }) : recipients.pause({ recipient_id: id }));
      toast(isPaused ? `${name} gets work again.` : `${name} gets no new work.`);
      refresh();
    } catch (error) {
      toastError(error);
    }
  };
  const remove = () =>
    confirm({
      title: `Remove ${name}?`,
      consequence:
        "The recipient gets no work any more. Items that it has in progress return to the queue when their lease ends.",
      confirm: "Remove recipient",
      done: `${name} was removed.`,
      act: () => recipients.delete({ recipient_id: id }).then(refresh),
    });
  return (
    <>
      <Button onClick={toggle} small tone="quiet">
        {isPaused ? "Resume" : "Pause"}
      </Button>
      <Button onClick={edit} small tone="quiet">
        Edit
      </Button>
      {can("recipient:delete") && (
        <Button onClick={remove} small tone="quiet">
          Remove
        </Button>
      )}
    </>
  );
}

function skillText(skills: Readonly<Record<string, number>>): string {
  return Object.entries(skills)
    .map(([name, level]) => `${name} ${level}`)
    .join(", ");
}
