import { createScheduleService, type ListScheduleRunsRequest, type ScheduleRun } from "@client/gen/schedule";
import { useList } from "../../core/query";
import { transport } from "../../core/transport";
import { Empty } from "../../ui/empty";
import { formatTime, words } from "../../ui/format";
import { nameColumn, proseColumn } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Status } from "../../ui/text";

const schedules = createScheduleService(transport);
const states = ["starting", "waiting", "routed", "skipped", "missed", "failed"];

const columns: readonly Column<ScheduleRun>[] = [
  { title: "Time", width: "190px", value: ({ time }) => time, render: ({ time }) => formatTime(time) },
  { title: "State", width: "110px", value: ({ state }) => state, render: ({ state }) => <Status of={state} /> },
  { title: "Fired by", width: "100px", value: ({ cause }) => words(cause) },
  { title: "Outcome", width: "120px", value: ({ outcome }) => (outcome === "" ? undefined : words(outcome)) },
  nameColumn({ title: "Item", width: "190px", kind: "queue_item", id: ({ item_id }) => item_id }),
  proseColumn("Why not", ({ error_code, error_message }) =>
    error_code === "" ? undefined : error_message || words(error_code),
  ),
];

/** Outcomes of a schedule's latest due times. */
export function ScheduleRuns({ scheduleId }: { readonly scheduleId: string }) {
  const state = filterOf("state") as ListScheduleRunsRequest["state"];
  const list = useList(
    `schedule runs ${scheduleId} ${state}`,
    (page) => schedules.listRuns({ ...page, schedule_id: scheduleId, state }),
    { everyMs: 5_000, live: ["schedule."] },
  );
  return (
    <>
      <div class="filters">
        <h2>Runs</h2>
        <span class="spacer" />
        <ChoiceFilter choices={states.map((each) => [each, words(each)])} label="State" name="state" />
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty title="No run">
            Every time appears here with what came of it. Choose <strong>Fire now</strong> to route an item at once.
          </Empty>
        }
        keyOf={({ id }) => id}
        label="Runs of the schedule"
        list={list}
      />
    </>
  );
}
