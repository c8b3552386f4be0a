import { createWorkflowDefinitionService, type WorkflowDefinition } from "@client/gen/workflow-definition";
import { useQuery } from "../../core/query";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { Graph } from "../../ui/graph";
import { currentTab, Page, Ready, Tabs } from "../../ui/page";
import { Facts, Id, Notice, Status } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";
import { HistoryCharts } from "../shared/history-charts";
import { drawDefinition } from "./definition-graph";
import { DraftEditor, Editor } from "./editor";
import { firstText } from "./first-text";
import { Runs } from "./runs";
import { StartRunButton } from "./start-run";
import { Versions } from "./versions";

const definitions = createWorkflowDefinitionService(transport);
const tabs = { graph: "Graph", draft: "Draft", versions: "Versions", runs: "Runs", charts: "Charts" };

const crumbs = [
  { title: "Workflows", path: "workflows" },
  { title: "Definitions", path: "workflows", tab: "definitions" },
];

/** One definition: its graph, its draft, its versions and its runs. */
export function DefinitionPage({ id }: { readonly id: string }) {
  const definition = useQuery(`definition ${id}`, () => definitions.get({ id }), { live: ["workflow.definition"] });
  const { data, refresh } = definition;
  return (
    <Page
      actions={data && <Actions definition={data} refresh={refresh} />}
      badge={<Status of={data?.status} />}
      crumbs={crumbs}
      question="What does it do, and what changed between versions?"
      title={data?.name || data?.key || "Definition"}
    >
      <Tabs label="Parts of the definition" tabs={tabs} />
      <Ready query={definition}>{(loaded) => <Part definition={loaded} refresh={refresh} />}</Ready>
    </Page>
  );
}

function Part({ definition, refresh }: { readonly definition: WorkflowDefinition; readonly refresh: () => void }) {
  switch (currentTab(tabs)) {
    case "graph":
      return <Overview definition={definition} />;
    case "draft":
      return <DraftEditor definition={definition} onSaved={refresh} />;
    case "versions":
      return <Versions definition={definition} />;
    case "runs":
      return <Runs definitionId={definition.id} />;
    case "charts":
      return (
        <HistoryCharts
          charts={[
            { title: "Runs per minute", lines: { started: "Started", completed: "Succeeded", failed: "Failed" } },
          ]}
          source="workflow"
          sourceId={definition.id}
        />
      );
  }
}

/** A definition that does not exist yet. */
export function NewDefinitionPage() {
  return (
    <Page crumbs={crumbs} question="Which steps does it have, and in which order?" title="New workflow">
      <Editor
        definition={undefined}
        onSaved={(id) => navigate(href(`workflows/definitions/${id}`, { tab: "draft" }))}
        stored={firstText}
      />
    </Page>
  );
}

function Overview({ definition }: { readonly definition: WorkflowDefinition }) {
  const drawn = drawDefinition(definition.draft as Record<string, unknown> | undefined);
  return (
    <>
      {definition.has_unpublished_changes && (
        <Notice tone="warn">
          The draft has changes that are not published. Runs use version {definition.active_version}.
        </Notice>
      )}
      <div class="columns wide-first">
        <Card flush title="Steps">
          <Graph edges={drawn.edges} label="The steps of the workflow" nodes={drawn.nodes} />
        </Card>
        <Card title="Definition">
          <Facts
            of={{
              Key: <code>{definition.key}</code>,
              "Active version": definition.active_version || "none",
              "Time-out": String((definition.draft as Record<string, unknown> | undefined)?.timeout ?? ""),
              Description: String((definition.draft as Record<string, unknown> | undefined)?.description ?? ""),
              Id: <Id id={definition.id} />,
            }}
          />
        </Card>
      </div>
    </>
  );
}

function Actions({ definition, refresh }: { readonly definition: WorkflowDefinition; readonly refresh: () => void }) {
  const publish = () =>
    definitions
      .publish({ id: definition.id, record_version: definition.record_version })
      .then(({ version, unchanged }) => {
        toast(unchanged ? "The draft is the active version already." : `Version ${version?.version} is active.`);
        refresh();
      }, toastError);
  const archive = () =>
    confirm({
      title: `Archive ${definition.key}?`,
      consequence: "No new run can be started. Runs that are in progress continue to their end.",
      confirm: "Archive definition",
      typed: definition.key,
      done: "The definition is archived.",
      act: () => definitions.archive({ id: definition.id }).then(refresh),
    });
  if (definition.status === "STATUS_ARCHIVED") return null;
  return (
    <>
      {can("workflow_definition:write") && (
        <>
          <Button onClick={archive} tone="danger-text">
            Archive
          </Button>
          {(definition.has_unpublished_changes || definition.active_version === 0) && (
            <Button onClick={publish}>Publish draft</Button>
          )}
        </>
      )}
      {definition.active_version > 0 && <StartRunButton definition={definition.key} />}
    </>
  );
}
