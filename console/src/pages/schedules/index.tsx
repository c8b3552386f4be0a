import { createScheduleService, type Schedule } from "@client/gen/schedule";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href, navigate, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty, samplesOf } from "../../ui/empty";
import { nameColumn } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { withEnvironment } from "../shared/environment";
import { PoolFilter } from "../shared/pool-filter";
import { ScheduleDialog } from "./schedule-dialog";
import { SchedulePage } from "./schedule-page";
import { scheduleState } from "./schedule-state";

const schedules = createScheduleService(transport);

const columns: readonly Column<Schedule>[] = [
  { title: "Name", value: ({ name }) => name },
  nameColumn({ title: "Pool", kind: "pool", id: ({ item }) => item?.pool_id ?? "" }),
  {
    title: "Times",
    width: "120px",
    value: ({ timing }) => timing?.cron,
    render: ({ timing }) => <code title={timing?.timezone}>{timing?.cron}</code>,
  },
  {
    title: "State",
    width: "90px",
    value: (schedule) => scheduleState(schedule),
    render: (schedule) => <Status of={scheduleState(schedule)} />,
  },
  { title: "Next", width: "90px", value: ({ next_at }) => next_at, render: ({ next_at }) => <Ago time={next_at} /> },
  {
    title: "Last",
    width: "100px",
    value: ({ last_fired_at }) => last_fired_at,
    render: ({ last_fired_at }) => <Ago time={last_fired_at} />,
  },
  { title: "Problem", value: ({ last_error }) => last_error || undefined },
];

/** Schedules: which work starts by itself, and when. */
export default function Schedules({ path: [id] }: { readonly path: readonly string[] }) {
  return id === undefined ? <ScheduleList /> : <SchedulePage id={id} key={id} />;
}

function ScheduleList() {
  const [isCreating, create] = useAddressedDialog("new", can("schedule:write"));
  const poolId = filterOf("pool");
  const isPausedOnly = filterOf("state") === "paused";
  const filters = { pool_id: poolId, paused_only: isPausedOnly, ...environmentFilter() };
  const list = useList(`schedules ${JSON.stringify(filters)}`, (page) => schedules.list({ ...page, ...filters }), {
    everyMs: 10_000,
    live: ["schedule."],
  });
  return (
    <Page
      actions={
        can("schedule:write") && (
          <Button icon="plus" onClick={() => create(true)} tone="primary">
            New schedule
          </Button>
        )
      }
      question="Which work starts by itself, and when is it next?"
      title="Schedules"
    >
      <div class="filters">
        <PoolFilter />
        <ChoiceFilter choices={[["paused", "Paused only"]]} label="State" name="state" />
      </div>
      <ListTable
        columns={withEnvironment(columns)}
        empty={poolId !== undefined || isPausedOnly ? <NoMatch /> : <NoSchedule />}
        hrefOf={({ id }) => href(`schedules/${id}`)}
        keyOf={({ id }) => id}
        label="Schedules"
        list={list}
      />
      {isCreating && (
        <ScheduleDialog onClose={() => create(false)} onSaved={({ id }) => navigate(href(`schedules/${id}`))} />
      )}
    </Page>
  );
}

function NoMatch() {
  return <Empty title="No schedule matches">Change the filters to see other schedules.</Empty>;
}

function NoSchedule() {
  const timing = { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" };
  const item = { pool_id: "POOL_ID", type: "report" };
  return (
    <Empty
      samples={samplesOf({
        path: "/api/schedules",
        body: { name: "daily report", timing, item },
        cli: `schedule create --name "daily report" --timing '${JSON.stringify(timing)}' --item '${JSON.stringify(item)}'`,
        sdk: `schedules.create({ name: "daily report", timing: { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" }, item: { pool_id: "POOL_ID", type: "report" } })`,
      })}
      title="No schedule"
    >
      A schedule routes an item at the times of a cron expression, for example a report on every weekday at nine. Create
      one with <strong>New schedule</strong>, or with a call.
    </Empty>
  );
}
