import { createRoutingService, type Decision } from "@client/gen/routing";
import { useMemo } from "preact/hooks";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href } from "../../core/router";
import { transport } from "../../core/transport";
import { pickRecipient } from "../../palette/picker-sources";
import { Empty, samplesOf } from "../../ui/empty";
import { words } from "../../ui/format";
import { nameColumn } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable, Page, PickerFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { itemText } from "../shared/item-text";
import { PoolFilter } from "../shared/pool-filter";
import { RouteItemButton } from "../shared/route-item";
import { DecisionPage } from "./decision-page";

const routing = createRoutingService(transport);
const outcomes = ["routed", "queued", "held", "deduplicated", "debounced", "rejected"];

/** Decisions: why a recipient got an item. */
export default function Decisions({ path: [decisionId] }: { readonly path: readonly string[] }) {
  return decisionId === undefined ? <DecisionList /> : <DecisionPage decisionId={decisionId} key={decisionId} />;
}

function DecisionList() {
  const filters = {
    pool_id: filterOf("pool"),
    outcome: filterOf("outcome"),
    recipient_id: filterOf("recipient"),
    key: filterOf("key"),
    ...environmentFilter(),
  };
  const poolId = filters.pool_id;
  const recipients = useMemo(() => poolId && pickRecipient(poolId), [poolId]);
  const list = useList(
    `decisions ${JSON.stringify(filters)}`,
    (page) => routing.listDecisions({ ...page, ...filters }),
    {
      everyMs: 4_000,
      live: ["route."],
    },
  );
  const columns: readonly Column<Decision>[] = [
    { title: "Item", value: itemText },
    {
      title: "Outcome",
      width: "124px",
      value: ({ outcome }) => outcome,
      render: ({ outcome }) => <Status of={outcome} />,
    },
    nameColumn({ title: "Pool", kind: "pool", id: ({ pool_id }) => pool_id }),
    { title: "Reason", value: ({ reason }) => words(reason) },
    nameColumn({ title: "Recipient", kind: "recipient", id: ({ recipient_id }) => recipient_id }),
    {
      title: "When",
      width: "110px",
      value: ({ decided_at }) => decided_at,
      render: ({ decided_at }) => <Ago time={decided_at} />,
    },
  ];
  return (
    <Page actions={<RouteItemButton />} question="Why did this recipient get this item?" title="Decisions">
      <div class="filters">
        <PoolFilter />
        <ChoiceFilter choices={outcomes.map((each) => [each, words(each)])} label="Outcome" name="outcome" />
        {recipients && <PickerFilter from={recipients} label="Recipient" name="recipient" />}
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/route",
              body: { type: "ticket", attributes: { language: "de" } },
              cli: `route --type ticket --attributes '{"language": "de"}'`,
              sdk: `routing.route({ type: "ticket", attributes: { language: "de" } })`,
            })}
            title="No decision matches"
          >
            Every routed item leaves a decision with its trace: the rules that matched, who was eligible, and how one
            was chosen.
          </Empty>
        }
        hrefOf={({ decision_id }) => href(`decisions/${decision_id}`)}
        keyOf={({ decision_id }) => decision_id}
        label="Decisions"
        list={list}
      />
    </Page>
  );
}
