import { currentTab, Page, Tabs } from "../../ui/page";
import { AllEnvironments } from "../shared/environment";
import { Broadcasts } from "./broadcasts";
import { ChannelCharts } from "./channel-charts";
import { Deliveries } from "./deliveries";
import { Outbox } from "./outbox";
import { Runs } from "./runs";
import { SubscriberPage } from "./subscriber-page";
import { Subscribers } from "./subscribers";
import { Suppressions } from "./suppressions";
import { TopicPage } from "./topic-page";
import { Topics } from "./topics";
import { TriggerButton } from "./trigger";
import { Workflows } from "./workflows";
import { WorkflowPage } from "./workflows/workflow-page";

const tabs = {
  deliveries: "Deliveries",
  subscribers: "Subscribers",
  workflows: "Workflows",
  runs: "Runs",
  topics: "Topics",
  broadcasts: "Broadcasts",
  suppressions: "Suppressions",
  charts: "Charts",
  outbox: "Outbox",
};

/** Notifications: who got what, and why not. */
export default function Notifications({ path: [kind, id] }: { readonly path: readonly string[] }) {
  if (kind === "subscribers" && id !== undefined) return <SubscriberPage id={id} key={id} />;
  if (kind === "workflows" && id !== undefined) return <WorkflowPage key={id} workflowKey={id} />;
  if (kind === "topics" && id !== undefined) return <TopicPage key={id} topicKey={id} />;
  return (
    <Page actions={<TriggerButton />} question="Who got what, and why not?" title="Notifications">
      <AllEnvironments of="Notifications" />
      <Tabs label="Parts of notifications" tabs={tabs} />
      <Part />
    </Page>
  );
}

function Part() {
  switch (currentTab(tabs)) {
    case "deliveries":
      return <Deliveries />;
    case "subscribers":
      return <Subscribers />;
    case "workflows":
      return <Workflows />;
    case "runs":
      return <Runs />;
    case "topics":
      return <Topics />;
    case "broadcasts":
      return <Broadcasts />;
    case "suppressions":
      return <Suppressions />;
    case "charts":
      return <ChannelCharts />;
    case "outbox":
      return <Outbox />;
  }
}
