import { createRoutingService, type Decision } from "@client/gen/routing";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href } from "../../core/router";
import { transport } from "../../core/transport";
import { Empty, samplesOf } from "../../ui/empty";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, Page, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Id, Status } from "../../ui/text";
import { PoolFilter, usePoolNames } from "../shared/pool-filter";
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
  const names = usePoolNames();
  const list = useList(
    `decisions ${JSON.stringify(filters)}`,
    (page) => routing.listDecisions({ ...page, ...filters }),
    {
      everyMs: 4_000,
      live: ["route."],
    },
  );
  const columns: readonly Column<Decision>[] = [
    {
      title: "Decision",
      width: "140px",
      value: ({ decision_id }) => decision_id,
      render: ({ decision_id }) => <Id id={decision_id} />,
    },
    {
      title: "Outcome",
      width: "124px",
      value: ({ outcome }) => outcome,
      render: ({ outcome }) => <Status of={outcome} />,
    },
    { title: "Item", value: ({ type, key }) => (key === "" ? type : `${type} · ${key}`) },
    { title: "Pool", value: ({ pool_id }) => names.get(pool_id) ?? pool_id },
    { title: "Reason", value: ({ reason }) => words(reason) },
    {
      title: "Recipient",
      width: "140px",
      value: ({ recipient_id }) => recipient_id,
      render: ({ recipient_id }) => <Id id={recipient_id} />,
    },
    {
      title: "When",
      width: "110px",
      value: ({ decided_at }) => decided_at,
      render: ({ decided_at }) => <Ago time={decided_at} />,
    },
  ];
  return (
    <Page question="Why did this recipient get this item?" title="Decisions">
      <div class="filters">
        <PoolFilter />
        <ChoiceFilter choices={outcomes.map((each) => [each, words(each)])} label="Outcome" name="outcome" />
        <TextFilter label="Recipient id" name="recipient" />
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
