import {
  type CreateScheduleRequest,
  createScheduleService,
  type PreviewScheduleRequest,
  type Schedule,
  type ScheduleTimingInput,
} from "@client/gen/schedule";
import { transport } from "../../core/transport";
import { useTypedQuery } from "../../core/typed-query";
import { pickPool } from "../../palette/picker-sources";
import { type Field, FormDialog, type Values } from "../../ui/form";
import { formatTime, messageOf } from "../../ui/format";
import { Ago } from "../../ui/text";

const schedules = createScheduleService(transport);
const previewedTimes = 5;

const overlaps = [
  { value: "skip", label: "Skip the time" },
  { value: "allow", label: "Route another one" },
  { value: "queue_one", label: "Route one when it has ended" },
  { value: "cancel_running", label: "Cancel it, and route the next one" },
];
const catchUps = [
  { value: "latest", label: "The last one fires" },
  { value: "all", label: "Each of them fires" },
];

interface Props {
  /** The schedule to change; a new one is created without it. */
  readonly schedule?: Schedule;
  readonly onSaved: (schedule: Schedule) => void;
  readonly onClose: () => void;
}

/** Creates or changes a schedule. Its next times are shown while somebody types. */
export function ScheduleDialog({ schedule, onSaved, onClose }: Props) {
  const save = async (values: Record<string, unknown>) => {
    const saved =
      schedule === undefined
        ? await schedules.create(values as unknown as CreateScheduleRequest)
        : await schedules.update({
            ...(values as unknown as CreateScheduleRequest),
            item: { ...unseenParts(schedule), ...(values.item as CreateScheduleRequest["item"]) },
            schedule_id: schedule.id,
            record_version: schedule.record_version,
          });
    onSaved(saved);
  };
  return (
    <FormDialog
      done={schedule === undefined ? "The schedule was created." : "The schedule was changed."}
      fields={fieldsOf(schedule)}
      initial={schedule === undefined ? { timing: { timezone: ownTimezone() } } : { ...schedule }}
      onClose={onClose}
      onSubmit={save}
      submit={schedule === undefined ? "Create schedule" : "Save changes"}
      title={schedule === undefined ? "New schedule" : `Change ${schedule.name}`}
      wide
    />
  );
}

/** The parts of the item that the form does not show. An update replaces the whole item, so they are sent back. */
function unseenParts({ item }: Schedule): object {
  const { pool_id, type, key, priority, attributes, payload, ...others } = item!;
  return others;
}

function fieldsOf(schedule: Schedule | undefined): readonly Field[] {
  return [
    { name: "name", label: "Name", required: true, placeholder: "daily report" },
    {
      name: "timing.cron",
      label: "Times, as a cron expression",
      required: true,
      placeholder: "0 9 * * 1-5",
      hint: "Minute, hour, day of month, month, day of week. Six fields start with seconds.",
      below: (values) => <NextTimes key="next times" values={values} />,
      row: "times",
    },
    {
      name: "timing.timezone",
      label: "Time zone",
      kind: "choice",
      required: true,
      choices: timezones(schedule?.timing?.timezone ?? ownTimezone()),
      row: "times",
    },
    { name: "item.pool_id", label: "Pool", required: true, from: pickPool, row: "item" },
    { name: "item.type", label: "Type of the item", required: true, placeholder: "report", row: "item" },
    { name: "item.key", label: "Key", row: "order" },
    { name: "item.priority", label: "Priority", kind: "number", row: "order" },
    { name: "item.attributes", label: "Attributes", kind: "json", placeholder: `{ "language": "de" }` },
    {
      name: "item.payload",
      label: "Payload",
      kind: "json",
      placeholder: `{ "day": "=string(schedule.time)" }`,
      hint: "A text that starts with = is an expression in CEL over schedule.time, schedule.id and schedule.name.",
    },
    {
      name: "timing.overlap",
      label: "While an earlier item is unfinished",
      kind: "choice",
      required: true,
      choices: overlaps,
      row: "policies",
    },
    {
      name: "timing.catch_up",
      label: "Of several missed times",
      kind: "choice",
      required: true,
      choices: catchUps,
      row: "policies",
    },
    { name: "timing.catch_up_s", label: "Fire late, at most", kind: "duration", row: "delays" },
    { name: "timing.jitter_s", label: "Spread over", kind: "duration", row: "delays" },
    { name: "timing.start_at", label: "Not before", kind: "time", row: "range" },
    { name: "timing.end_at", label: "Not after", kind: "time", row: "range" },
    ...(schedule === undefined ? [{ name: "paused", label: "Create it paused", kind: "flag" as const }] : []),
  ];
}

function ownTimezone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The zones of the browser, and the one in use, which can be an alias that browsers do not list. */
function timezones(used: string): readonly string[] {
  return [...new Set(["UTC", used, ...Intl.supportedValuesOf("timeZone")])].toSorted();
}

/** The next times of what is entered, or what is wrong with it. */
function NextTimes({ values }: { readonly values: Values }) {
  const timing = values.timing as ScheduleTimingInput | undefined;
  const item = values.item as PreviewScheduleRequest["item"];
  const request = timing?.cron && { timing, count: previewedTimes, ...(item?.pool_id && item.type && { item }) };
  const { data, error } = useTypedQuery(request ? JSON.stringify(request) : undefined, () =>
    schedules.preview(request as PreviewScheduleRequest),
  );
  return (
    <div aria-live="polite" class="field">
      <span class="label">Next times</span>
      {data === undefined && error === undefined && <span class="hint">They appear when the times are entered.</span>}
      {error !== undefined && <span class="error">{messageOf(error)}</span>}
      {data?.times.length === 0 && (
        <span class="error">There is no such time. Change the expression or the range.</span>
      )}
      <ol>
        {data?.times.map((time) => (
          <li class="number" key={time}>
            {formatTime(time, timing?.timezone)} <span class="soft">(</span>
            <Ago time={time} />
            <span class="soft">)</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
