import { createEventService, type Event } from "@client/gen/event";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href } from "../../core/router";
import { transport } from "../../core/transport";
import { Empty } from "../../ui/empty";
import { formatTime, words } from "../../ui/format";
import { nameColumn } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";

const events = createEventService(transport);

/** The types of events that change who may do what, and how the workspace works. */
const families: Readonly<Record<string, readonly string[]>> = {
  access: [
    "member.*",
    "api_key.*",
    "login_link.*",
    "browser_session.*",
    "group_roles.*",
    "sso_connection.*",
    "scim_user.*",
    "scim_group.*",
  ],
  secrets: ["secret.*", "connection.*"],
  settings: ["config.*", "tenant.*", "environment.*", "billing.*", "entitlement.*"],
  routing: [
    "pool.*",
    "recipient.*",
    "rule.*",
    "queue.paused",
    "queue.resumed",
    "queue.drained",
    "dead_letter.*",
    "admission.*",
  ],
};

const columns: readonly Column<Event>[] = [
  { title: "What", value: ({ type }) => type },
  nameColumn({ title: "Who", width: "180px", id: ({ actor }) => actor }),
  nameColumn({ title: "Record", width: "200px", id: ({ subject }) => subject }),
  {
    title: "Details",
    value: ({ data }) => JSON.stringify(data ?? {}).slice(0, 240),
    render: ({ data }) => <code>{JSON.stringify(data ?? {}).slice(0, 240)}</code>,
  },
  { title: "When", width: "190px", value: ({ time }) => time, render: ({ time }) => formatTime(time) },
];

/** Audit: who changed what, in order. */
export default function Audit() {
  const family = filterOf("about");
  const types = family === undefined ? Object.values(families).flat() : (families[family] ?? []);
  const filters = { types, ...environmentFilter() };
  const list = useList(`audit ${JSON.stringify(filters)}`, (page) => events.list({ ...page, ...filters }), {
    live: types.map((type) => type.replace(/\*$/, "")),
  });
  return (
    <Page question="Who changed what, and when?" title="Audit">
      <div class="filters">
        <ChoiceFilter choices={Object.keys(families).map((each) => [each, words(each)])} label="About" name="about" />
        <span class="soft">
          Changes of access, settings and routing. Operators find every call in the audit log of the service.
        </span>
      </div>
      <ListTable
        columns={columns}
        empty={<Empty title="No change">Nothing of this kind has happened.</Empty>}
        hrefOf={({ id }) => href("events", { open: id })}
        keyOf={({ id }) => id}
        label="Changes"
        list={list}
      />
    </Page>
  );
}
