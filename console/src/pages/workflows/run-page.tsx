import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import { createWorkflowRunService, type WorkflowRun } from "@client/gen/workflow-run";
import { useQuery } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Card } from "../../ui/card";
import { formatTime, words } from "../../ui/format";
import { Graph } from "../../ui/graph";
import { JsonView } from "../../ui/json-view";
import { Name, Prose } from "../../ui/name";
import { currentTab, Page, Ready, Tabs } from "../../ui/page";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";
import { drawDefinition } from "./definition-graph";
import { RunActions } from "./run-actions";
import { RunHistory } from "./run-history";
import { RunTimeline } from "./run-timeline";
import { runText, runTone } from "./runs";
import { useStepStates } from "./step-states";

const runs = createWorkflowRunService(transport);
const definitions = createWorkflowDefinitionService(transport);
const tabs = { graph: "Graph", timeline: "Timeline", history: "History", data: "Data" };
const ended = new Set(["succeeded", "failed", "cancelled", "timed_out"]);

/** One run: its graph lit by state, its timeline, its history, and what it waits for. */
export function RunPage({ runId }: { readonly runId: string }) {
  const run = useQuery(`run ${runId}`, () => runs.get({ run_id: runId }), { everyMs: 2_500, live: ["workflow."] });
  const { data, refresh } = run;
  return (
    <Page
      actions={data && <RunActions refresh={refresh} run={data} />}
      badge={data && <Status of={data.status} tone={runTone(data.status)} />}
      crumbs={[{ title: "Workflows", path: "workflows" }]}
      question="Where is it, and what does it wait for?"
      title={data ? runText(data) : "Run"}
    >
      <Ready query={run}>
        {(loaded) => (
          <>
            <Explanation run={loaded} />
            <Tabs label="Parts of the run" tabs={tabs} />
            <Part run={loaded} />
          </>
        )}
      </Ready>
    </Page>
  );
}

function Part({ run }: { readonly run: WorkflowRun }) {
  switch (currentTab(tabs)) {
    case "graph":
      return <RunGraph run={run} />;
    case "timeline":
      return <RunTimeline run={run} />;
    case "history":
      return <RunHistory run={run} />;
    case "data":
      return <RunData run={run} />;
  }
}

/** Why the run is where it is, in one sentence for each reason. */
function Explanation({ run }: { readonly run: WorkflowRun }) {
  const explanation = useQuery(ended.has(run.status) ? undefined : `explain ${run.id} ${run.revision}`, () =>
    runs.explain({ run_id: run.id }),
  );
  if (run.error !== undefined) {
    return (
      <Notice tone="bad">
        <strong>{run.error.code}</strong>
        {run.error.step && ` in ${run.error.step}`}: <Prose text={run.error.message} />
      </Notice>
    );
  }
  if (explanation.data === undefined) return null;
  const { summary, reasons } = explanation.data;
  return (
    <Notice tone="info">
      <strong>
        <Prose text={summary} />
      </strong>
      {reasons
        .filter(({ remedy }) => remedy !== "")
        // What the API would do, a button of the page does.
        .map(({ step, remedy }) => (
          <div key={`${step} ${remedy}`}>
            <Prose text={remedy.replace(/: [A-Z]+ \/\S+$/, ".")} />
          </div>
        ))}
    </Notice>
  );
}

function RunGraph({ run }: { readonly run: WorkflowRun }) {
  const version = useQuery(
    can("workflow_definition:read") ? `version ${run.definition_id} ${run.version}` : undefined,
    () => definitions.getVersion({ id: run.definition_id, version: String(run.version) }),
  );
  const states = useStepStates(run);
  const drawn = drawDefinition(
    version.data?.document as Record<string, unknown> | undefined,
    (step) => states.get(step)?.tone,
  );
  return (
    <div class="columns wide-first">
      <Card flush title="Steps">
        <Graph edges={drawn.edges} label="The steps of the run, coloured by their state" nodes={drawn.nodes} />
      </Card>
      <RunFacts run={run} />
    </div>
  );
}

function RunFacts({ run }: { readonly run: WorkflowRun }) {
  return (
    <Card title="Run">
      <Facts
        of={{
          Workflow: (
            <a class="link" href={href(`workflows/definitions/${run.definition_id}`)}>
              {run.definition_key} · version {run.version}
            </a>
          ),
          "Active steps": run.active_steps
            .map(({ step, activity }) => `${step} (${words(activity).toLowerCase()})`)
            .join(", "),
          "Run key": run.run_key,
          Attributes: Object.entries(run.attributes)
            .map(([name, value]) => `${name} = ${value}`)
            .join(", "),
          "Started by": <Name id={run.started_by} />,
          "Started via": run.started_via === "api" ? "API or console" : run.started_via,
          Parent: run.parent_run_id && <Name id={run.parent_run_id} kind="workflow_run" />,
          "Replay of": run.replay_of_run_id && <Name id={run.replay_of_run_id} kind="workflow_run" />,
          Continues: run.continues_run_id && <Name id={run.continues_run_id} kind="workflow_run" />,
          "Continued by": run.continued_by_run_id && <Name id={run.continued_by_run_id} kind="workflow_run" />,
          Started: formatTime(run.started_at ?? run.created_at),
          Ended: run.ended_at && formatTime(run.ended_at),
          Deadline: ended.has(run.status) ? undefined : <Ago time={run.deadline} />,
          Id: <Id id={run.id} />,
        }}
      />
    </Card>
  );
}

function RunData({ run }: { readonly run: WorkflowRun }) {
  return (
    <div class="columns">
      <Card title="Input">
        <JsonView label="Input of the run" value={run.input ?? null} />
      </Card>
      <Card title="Output">
        <JsonView label="Output of the run" value={run.output ?? null} />
      </Card>
      <Card title="Values of the steps">
        <JsonView label="Values of the steps" value={run.values ?? {}} />
      </Card>
    </div>
  );
}
