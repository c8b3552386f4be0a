import { type CreatePoolRequest, createPoolService, type Pool } from "@client/gen/pool";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href, navigate, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty, samplesOf } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { environmentFields, initialEnvironment, withEnvironment } from "../shared/environment";
import { PoolPage } from "./pool-page";
import { strategies } from "./strategies";

const pools = createPoolService(transport);

const columns: readonly Column<Pool>[] = [
  { title: "Name", value: ({ name }) => name },
  { title: "Strategy", width: "170px", value: ({ strategy }) => words(strategy) },
  { title: "Recipients", width: "110px", isNumber: true, value: ({ recipient_count }) => recipient_count },
  { title: "Rules", width: "90px", isNumber: true, value: ({ rule_count }) => rule_count },
  { title: "Status", width: "120px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  {
    title: "Changed",
    width: "130px",
    value: ({ updated_at }) => updated_at,
    render: ({ updated_at }) => <Ago time={updated_at} />,
  },
];

/** Pools: who gets which work. */
export default function Pools({ path: [poolId] }: { readonly path: readonly string[] }) {
  return poolId === undefined ? <PoolList /> : <PoolPage key={poolId} poolId={poolId} />;
}

function PoolList() {
  const [isCreating, create] = useAddressedDialog("new", can("pool:write"));
  const status = filterOf("status") as Pool["status"] | undefined;
  const filters = { status, ...environmentFilter() };
  const list = useList(`pools ${JSON.stringify(filters)}`, (page) => pools.list({ ...page, ...filters }), {
    live: ["pool.", "recipient.", "rule."],
  });
  const action = can("pool:write") && (
    <Button icon="plus" onClick={() => create(true)} tone="primary">
      New pool
    </Button>
  );
  return (
    <Page actions={action} question="Who gets which work, and how is it chosen?" title="Pools">
      <div class="filters">
        <ChoiceFilter
          choices={["STATUS_ACTIVE", "STATUS_DISABLED", "STATUS_DRAINING", "STATUS_ARCHIVED"].map((each) => [
            each,
            words(each),
          ])}
          label="Status"
          name="status"
        />
      </div>
      <ListTable
        columns={withEnvironment(columns)}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/pools",
              body: { name: "support", strategy: "least_loaded" },
              cli: "pool create --name support --strategy least_loaded",
              sdk: `pools.create({ name: "support", strategy: "least_loaded" })`,
            })}
            title="No pool"
          >
            A pool groups recipients, such as people, queues or systems, with the rules and the strategy that choose
            among them.
          </Empty>
        }
        hrefOf={({ id }) => href(`pools/${id}`)}
        keyOf={({ id }) => id}
        label="Pools"
        list={list}
      />
      {isCreating && <CreatePool onClose={() => create(false)} />}
    </Page>
  );
}

function CreatePool({ onClose }: { readonly onClose: () => void }) {
  return (
    <FormDialog
      done="The pool was created."
      fields={[
        { name: "name", label: "Name", required: true, placeholder: "support" },
        { name: "description", label: "Description" },
        ...environmentFields(),
        { name: "strategy", label: "Strategy", kind: "choice", required: true, choices: strategies },
        {
          name: "config.item_events",
          label: "Record an event for every item",
          kind: "flag",
          hint: "Shows each item in the live tail. Leave it off for pools with thousands of items per second.",
        },
      ]}
      initial={initialEnvironment()}
      onClose={onClose}
      onSubmit={async (values) => {
        const { id } = await pools.create(values as unknown as CreatePoolRequest);
        navigate(href(`pools/${id}`));
      }}
      submit="Create pool"
      title="New pool"
    />
  );
}
