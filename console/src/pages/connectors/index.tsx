import { currentTab, Page, Tabs } from "../../ui/page";
import { Actions } from "./actions";
import { Apps } from "./apps";
import { Connections } from "./connections";
import { Executions } from "./executions";
import { Providers } from "./providers";
import { Triggers } from "./triggers";

const tabs = {
  providers: "Catalogue",
  apps: "OAuth apps",
  connections: "Connections",
  actions: "Actions",
  executions: "Executions",
  triggers: "Triggers",
};

/** Connectors: which systems are connected, and what was done there. */
export default function Connectors() {
  return (
    <Page question="Which systems are connected, and what did we do there?" title="Connectors">
      <Tabs label="Parts of connectors" tabs={tabs} />
      <Part />
    </Page>
  );
}

function Part() {
  switch (currentTab(tabs)) {
    case "providers":
      return <Providers />;
    case "apps":
      return <Apps />;
    case "connections":
      return <Connections />;
    case "actions":
      return <Actions />;
    case "executions":
      return <Executions />;
    case "triggers":
      return <Triggers />;
  }
}
