import { createExperimentService, type Experiment, type ExperimentResults } from "@client/gen/experiment";
import { useQuery } from "../../core/query";
import { transport } from "../../core/transport";
import { Card, Stat } from "../../ui/card";
import { Empty, samplesOf } from "../../ui/empty";
import { formatCount, formatDecimal, formatPercent, formatSeconds, words } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { currentTab, Page, Ready, Tabs } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago, Chips, Facts, Id, Notice, Status, type Tone } from "../../ui/text";
import { ExperimentActions } from "./experiment-actions";
import { HistoryChart } from "./history-chart";
import { IntervalChart } from "./interval-chart";

const experiments = createExperimentService(transport);
const tabs = { results: "Results", design: "Design" };

/** One experiment: the verdict in a sentence, the intervals behind it, and the design. */
export function ExperimentPage({ id }: { readonly id: string }) {
  const experiment = useQuery(`experiment ${id}`, () => experiments.get({ experiment_id: id }), {
    live: ["experiment."],
  });
  return (
    <Page
      actions={experiment.data && <ExperimentActions experiment={experiment.data} refresh={experiment.refresh} />}
      badge={<Status of={experiment.data?.status} />}
      crumbs={[{ title: "Experiments", path: "experiments" }]}
      question={experiment.data?.description || "Is the new variant better?"}
      title={experiment.data?.name || experiment.data?.key || "Experiment"}
    >
      <Tabs label="Parts of the experiment" tabs={tabs} />
      <Ready query={experiment}>
        {(data) => (currentTab(tabs) === "results" ? <Results experiment={data} /> : <Design experiment={data} />)}
      </Ready>
    </Page>
  );
}

const verdictTones: Readonly<Record<string, Tone>> = {
  winner: "ok",
  ship: "ok",
  no_difference: "info",
  insufficient: "info",
  harm: "bad",
  guardrail_violated: "bad",
  sample_ratio_mismatch: "bad",
};

function Results({ experiment }: { readonly experiment: Experiment }) {
  const results = useQuery(
    experiment.status === "draft" ? undefined : `results ${experiment.id}`,
    () => experiments.getResults({ experiment_id: experiment.id }),
    { everyMs: 8_000, live: ["experiment."] },
  );
  if (experiment.status === "draft") {
    return <Notice tone="info">This is a draft. Start it, and results appear as units are exposed and scored.</Notice>;
  }
  return (
    <Ready query={results}>
      {(data) => (
        <>
          <Notice tone={verdictTones[data.verdict] ?? "info"}>
            <strong>{words(data.verdict)}. </strong>
            {data.sentence}
          </Notice>
          {Number(data.units) === 0 && <FirstUnit experiment={experiment} />}
          <div class="stats">
            <Stat label="Units" note={`${formatCount(data.mature_units)} counted`} value={Number(data.units)} />
            <Stat label="Planned" value={data.planned_units} />
            <Stat label="False winners" note="at most" value={formatPercent(data.alpha, 0)} />
            <Stat
              label="Sample ratio"
              note={data.sample_ratio ? `p = ${formatDecimal(data.sample_ratio.p_value)}` : undefined}
              tone={data.sample_ratio?.mismatch ? "bad" : undefined}
              value={data.sample_ratio?.mismatch ? "mismatch" : "as planned"}
            />
          </div>
          <Comparisons results={data} />
          <HistoryChart experimentId={experiment.id} />
        </>
      )}
    </Ready>
  );
}

/** The calls that give an experiment its units and their outcomes. */
function FirstUnit({ experiment: { id, unit, metrics } }: { readonly experiment: Experiment }) {
  const metric = metrics[0]?.key ?? "";
  return (
    <div class="columns">
      <Empty
        samples={samplesOf({
          path: `/api/experiments/${id}/assign`,
          body: { unit: "ada" },
          cli: `experiment assign ${id} --unit ada`,
          sdk: `experiments.assign({ experiment_id: "${id}", unit: "ada" })`,
        })}
        title="Assign a unit"
      >
        No unit counts yet. Ask for the variant of each {unit}, and show it.
      </Empty>
      {metric !== "" && (
        <Empty
          samples={samplesOf({
            path: `/api/experiments/${id}/scores`,
            body: { score_id: "order-1", unit: "ada", metric },
            cli: `experiment score ${id} --score-id order-1 --unit ada --metric ${metric}`,
            sdk: `experiments.recordScore({ experiment_id: "${id}", score_id: "order-1", unit: "ada", metric: "${metric}" })`,
          })}
          title="Record its outcome"
        >
          Each outcome has an id of yours, so that a repeated call counts once.
        </Empty>
      )}
    </div>
  );
}

/** The metrics of each variant against the control. */
function Comparisons({ results }: { readonly results: ExperimentResults }) {
  const rows = results.variants.flatMap((variant) => variant.metrics.map((metric) => ({ variant, metric })));
  return (
    <div class="stack">
      <IntervalChart results={results} />
      <Table
        columns={[
          { title: "Variant", value: ({ variant }) => `${variant.variant}${variant.control ? " (control)" : ""}` },
          { title: "Metric", value: ({ metric }) => metric.metric },
          { title: "Role", width: "110px", value: ({ metric }) => words(metric.comparison?.role) },
          { title: "Units", width: "90px", isNumber: true, value: ({ metric }) => Number(metric.n) },
          {
            title: "Mean",
            width: "100px",
            isNumber: true,
            value: ({ metric }) => metric.mean,
            render: ({ metric }) => formatDecimal(metric.mean, 4),
          },
          {
            title: "Lift",
            width: "100px",
            isNumber: true,
            value: ({ metric }) => metric.comparison?.lift,
            render: ({ metric }) => formatPercent(metric.comparison?.lift),
          },
          {
            title: "State",
            width: "150px",
            value: ({ metric }) => metric.comparison?.state,
            render: ({ metric }) => <Status of={metric.comparison?.state} />,
          },
        ]}
        keyOf={({ variant, metric }) => `${variant.variant} ${metric.metric}`}
        label="Results by variant and metric"
        rows={rows}
      />
    </div>
  );
}

function Design({ experiment }: { readonly experiment: Experiment }) {
  return (
    <div class="columns">
      <Card title="Design">
        <Facts
          of={{
            Key: <code>{experiment.key}</code>,
            Unit: experiment.unit,
            Variants: <Chips of={experiment.variants.map(({ key, weight }) => `${key} ${weight}`)} />,
            Control: experiment.control,
            Allocation: `${experiment.allocation_pct} %`,
            Targeting: experiment.targeting ? <code>{experiment.targeting}</code> : "everybody",
            "Score window": formatSeconds(experiment.score_window_s),
            Layer: experiment.layer?.key,
            Phases: experiment.phases.length,
            Decision: experiment.decision && `${experiment.decision.variant}: ${experiment.decision.reason}`,
            Started: <Ago time={experiment.started_at} />,
            Ended: experiment.ended_at && <Ago time={experiment.ended_at} />,
            Id: <Id id={experiment.id} />,
          }}
        />
      </Card>
      <Card title="Metrics">
        <JsonView label="Metrics" value={experiment.metrics} />
      </Card>
    </div>
  );
}
