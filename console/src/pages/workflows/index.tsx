import { currentTab, Page, Tabs } from "../../ui/page";
import { Approvals } from "./approvals";
import { DefinitionPage, NewDefinitionPage } from "./definition-page";
import { Definitions } from "./definitions";
import { RunPage } from "./run-page";
import { Runs } from "./runs";
import { StartRunButton } from "./start-run";

const tabs = { runs: "Runs", definitions: "Definitions", approvals: "Approvals" };

/** Workflows: where each run is, and what it waits for. */
export default function Workflows({ path: [kind, id] }: { readonly path: readonly string[] }) {
  if (kind === "definitions" && id === "new") return <NewDefinitionPage />;
  if (kind === "definitions" && id !== undefined) return <DefinitionPage id={id} key={id} />;
  if (kind === "runs" && id !== undefined) return <RunPage key={id} runId={id} />;
  return (
    <Page actions={<StartRunButton />} question="Where is each run, and what does it wait for?" title="Workflows">
      <Tabs label="Parts of workflows" tabs={tabs} />
      <Part />
    </Page>
  );
}

function Part() {
  switch (currentTab(tabs)) {
    case "runs":
      return <Runs />;
    case "definitions":
      return <Definitions />;
    case "approvals":
      return <Approvals />;
  }
}
