import { createScheduleService, type Schedule } from "@client/gen/schedule";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { formatSeconds, formatTime, words } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { Name } from "../../ui/name";
import { Page, Ready } from "../../ui/page";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";
import { announce } from "../../ui/toast";
import { ScheduleDialog } from "./schedule-dialog";
import { ScheduleRuns } from "./schedule-runs";
import { scheduleState } from "./schedule-state";

const schedules = createScheduleService(transport);
const shownTimes = 8;

/** One schedule: its next times, what it routes, and its runs. */
export function SchedulePage({ id }: { readonly id: string }) {
  const schedule = useQuery(`schedule ${id}`, () => schedules.get({ schedule_id: id }), {
    everyMs: 5_000,
    live: ["schedule."],
  });
  return (
    <Page
      actions={schedule.data && <Actions refresh={schedule.refresh} schedule={schedule.data} />}
      badge={schedule.data && <Status of={scheduleState(schedule.data)} />}
      crumbs={[{ title: "Schedules", path: "schedules" }]}
      question="When is it next, and what came of the last times?"
      title={schedule.data?.name ?? "Schedule"}
    >
      <Ready query={schedule}>
        {(data) => (
          <>
            <Problem schedule={data} />
            <div class="columns">
              <Timing schedule={data} />
              <Item schedule={data} />
            </div>
            <ScheduleRuns scheduleId={id} />
          </>
        )}
      </Ready>
    </Page>
  );
}

/** Why the schedule routes nothing. */
function Problem({ schedule }: { readonly schedule: Schedule }) {
  const { paused_by, last_error, consecutive_failures: failures } = schedule;
  switch (scheduleState(schedule)) {
    case "failing":
      return (
        <Notice tone="bad">
          <strong>Paused after {failures} failures in a row. </strong>
          {last_error} Correct it, then resume the schedule.
        </Notice>
      );
    case "paused":
      return (
        <Notice tone="warn">
          Paused by {paused_by ? <Name id={paused_by} /> : "somebody"}. Times that pass now do not fire later.
        </Notice>
      );
    case "ended":
      return <Notice tone="info">There is no time left. Edit the times to continue.</Notice>;
    case "active":
      return last_error === "" ? null : <Notice tone="bad">The last time routed no item: {last_error}</Notice>;
  }
}

function Timing({ schedule }: { readonly schedule: Schedule }) {
  const { id, timing, paused, next_at } = schedule;
  // The next time changes when a time has passed, or somebody has changed the schedule.
  const times = useQuery(paused ? undefined : `schedule times ${id} ${next_at} ${schedule.record_version}`, () =>
    schedules.listTimes({ schedule_id: id, count: shownTimes }),
  );
  return (
    <Card title="Times">
      <div class="stack">
        <Facts
          of={{
            Expression: <code>{timing?.cron}</code>,
            "Time zone": timing?.timezone,
            "On overlap": words(timing?.overlap),
            "Missed times": `${words(timing?.catch_up)}, at most ${formatSeconds(timing?.catch_up_s)} late`,
            "Spread over": timing?.jitter_s ? formatSeconds(timing.jitter_s) : undefined,
            "Not before": timing?.start_at && formatTime(timing.start_at),
            "Not after": timing?.end_at && formatTime(timing.end_at),
          }}
        />
        <h3>Next times</h3>
        {paused ? (
          <p class="soft">A paused schedule has none.</p>
        ) : (
          <ol>
            {times.data?.times.map((time) => (
              <li class="number" key={time}>
                {formatTime(time, timing?.timezone)}, <Ago time={time} />
              </li>
            ))}
          </ol>
        )}
      </div>
    </Card>
  );
}

function Item({ schedule: { id, item, last_fired_at, last_item_id, created_at } }: { readonly schedule: Schedule }) {
  const { pool_id: poolId, type, key, priority, attributes, payload } = item!;
  return (
    <Card title="Item">
      <div class="stack">
        <Facts
          of={{
            Pool: <Name id={poolId} kind="pool" />,
            Type: type,
            Key: key,
            Priority: priority || undefined,
            "Last item": last_item_id && <Name id={last_item_id} kind="queue_item" />,
            "Last routed": last_fired_at && <Ago time={last_fired_at} />,
            Created: <Ago time={created_at} />,
            Id: <Id id={id} />,
          }}
        />
        {attributes && <Part label="Attributes" value={attributes} />}
        {payload && <Part label="Payload" value={payload} />}
      </div>
    </Card>
  );
}

function Part({ label, value }: { readonly label: string; readonly value: object }) {
  return (
    <>
      <h3>{label}</h3>
      <JsonView label={`${label} of the item`} value={value} />
    </>
  );
}

function Actions({ schedule, refresh }: { readonly schedule: Schedule; readonly refresh: () => void }) {
  const [isEditing, edit] = useState(false);
  const { name, paused } = schedule;
  const id = { schedule_id: schedule.id };
  const toggle = () =>
    paused
      ? announce(schedules.resume(id), "The schedule fires again.", refresh)
      : announce(schedules.pause(id), "The schedule is paused.", refresh);
  const remove = () =>
    confirm({
      title: `Delete ${name}?`,
      consequence: "It routes no item any more, and its runs are deleted. Items that it routed stay in their queue.",
      confirm: "Delete schedule",
      typed: name,
      done: "The schedule was deleted.",
      act: () => schedules.delete(id).then(() => navigate(href("schedules"))),
    });
  return (
    <>
      {can("schedule:write") && (
        <>
          <Button onClick={() => announce(schedules.fire(id), "The schedule was fired.", refresh)}>Fire now</Button>
          <Button onClick={toggle} tone={paused ? "primary" : undefined}>
            {paused ? "Resume" : "Pause"}
          </Button>
          <Button onClick={() => edit(true)}>Edit</Button>
        </>
      )}
      {can("schedule:delete") && (
        <Button onClick={remove} tone="danger-text">
          Delete
        </Button>
      )}
      {isEditing && <ScheduleDialog onClose={() => edit(false)} onSaved={refresh} schedule={schedule} />}
    </>
  );
}
