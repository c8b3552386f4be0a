import { words } from "../../ui/format";
import { ChoiceFilter, filterOf } from "../../ui/page";
import { HistoryCharts } from "../shared/history-charts";
import { channelNames } from "./workflows/workflow-page";

/** What was sent over time, on all channels or on one. */
export function ChannelCharts() {
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={channelNames.map((each) => [each, words(each)])} label="Channel" name="channel" />
      </div>
      <HistoryCharts
        charts={[
          { title: "Messages per minute", lines: { started: "Sent", completed: "Delivered", failed: "Failed" } },
        ]}
        source="channel"
        sourceId={filterOf("channel")}
      />
    </>
  );
}
