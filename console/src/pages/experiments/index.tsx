import { createExperimentService, type Experiment } from "@client/gen/experiment";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href, navigate, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty, samplesOf } from "../../ui/empty";
import { words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Chips, Status } from "../../ui/text";
import { withEnvironment } from "../shared/environment";
import { ExperimentForm } from "./experiment-form";
import { ExperimentPage } from "./experiment-page";

const experiments = createExperimentService(transport);
const statuses = ["draft", "running", "paused", "completed", "stopped"];

const columns: readonly Column<Experiment>[] = [
  { title: "Experiment", value: ({ name, key }) => name || key },
  { title: "Key", width: "140px", value: ({ key }) => key, render: ({ key }) => <code>{key}</code> },
  { title: "Status", width: "100px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  {
    title: "Variants",
    value: ({ variants }) => variants.map(({ key }) => key).join(", "),
    render: ({ variants }) => <Chips of={variants.map(({ key }) => key)} />,
  },
  { title: "Decision", width: "100px", value: ({ decision }) => decision?.variant },
  {
    title: "Started",
    width: "100px",
    value: ({ started_at }) => started_at,
    render: ({ started_at }) => <Ago time={started_at} />,
  },
];

/** Experiments: is the new variant better? */
export default function Experiments({ path: [id] }: { readonly path: readonly string[] }) {
  return id === undefined ? <ExperimentList /> : <ExperimentPage id={id} key={id} />;
}

function ExperimentList() {
  const [isCreating, create] = useAddressedDialog("new", can("experiment:write"));
  const status = filterOf("status");
  const list = useList(
    `experiments ${status} ${environmentFilter().environment_id}`,
    (page) => experiments.list({ ...page, status, ...environmentFilter() } as Parameters<typeof experiments.list>[0]),
    {
      live: ["experiment."],
    },
  );
  return (
    <Page
      actions={
        can("experiment:write") && (
          <Button icon="plus" onClick={() => create(true)} tone="primary">
            New experiment
          </Button>
        )
      }
      question="Is the new variant better, or does it only look better by chance?"
      title="Experiments"
    >
      <div class="filters">
        <ChoiceFilter choices={statuses.map((each) => [each, words(each)])} label="Status" name="status" />
      </div>
      <ListTable
        columns={withEnvironment(columns)}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/experiments",
              body: {
                key: "checkout",
                variants: [
                  { key: "old", weight: 50 },
                  { key: "new", weight: 50 },
                ],
                metrics: [{ key: "bought", type: "proportion" }],
              },
              cli: `experiment create --key checkout --variants '[{"key": "old", "weight": 50}, {"key": "new", "weight": 50}]' --metrics '[{"key": "bought", "type": "proportion"}]'`,
              sdk: `experiments.create({ key: "checkout", variants: [{ key: "old", weight: 50 }, { key: "new", weight: 50 }], metrics: [{ key: "bought", type: "proportion" }] })`,
            })}
            title="No experiment"
          >
            An experiment gives each unit a variant and compares what they do. Its results are valid whenever you look.
          </Empty>
        }
        hrefOf={({ id }) => href(`experiments/${id}`)}
        keyOf={({ id }) => id}
        label="Experiments"
        list={list}
      />
      {isCreating && (
        <ExperimentForm onClose={() => create(false)} onSaved={({ id }) => navigate(href(`experiments/${id}`))} />
      )}
    </Page>
  );
}
