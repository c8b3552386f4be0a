import { createHistoryService, type GetHistoryRequest, type HistoryMark } from "@client/gen/history";
import { environmentFilter } from "../../core/environments";
import { useQuery } from "../../core/query";
import { href, query, setQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Card } from "../../ui/card";
import { Chart } from "../../ui/chart";
import { useSamples } from "../../ui/chart/samples";
import { formatCount, formatMoment } from "../../ui/format";
import { AllEnvironments } from "./environment";
import { type Counts, momentsOf } from "./timeline";

const service = createHistoryService(transport);
const refreshMs = 30_000;
/** Counts that a page does not read itself are stored this often. */
const storedMs = 10_000;
const marksShown = 6;

/** The time ranges, and what their charts say about a time. */
const ranges = {
  "15m": { title: "15 min", time: { timeStyle: "medium" } },
  "1h": { title: "1 h", time: { timeStyle: "medium" } },
  "24h": { title: "24 h", time: { weekday: "short", hour: "2-digit", minute: "2-digit" } },
  "7d": { title: "7 d", time: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } },
} as const satisfies Record<string, { readonly title: string; readonly time: Intl.DateTimeFormatOptions }>;

type Range = keyof typeof ranges;

/** A count or a rate; digits that nobody reads are left out. */
function formatRate(value: number): string {
  const scale = value < 1 ? 100 : value < 10 ? 10 : 1;
  return formatCount(Math.round(value * scale) / scale);
}

/** A chart of some counts. */
interface HistoryChart {
  readonly title: string;
  /** The name of each line, by its count. */
  readonly lines: { readonly [Count in keyof Counts]?: string };
  readonly format?: (value: number) => string;
}

interface Props extends Pick<GetHistoryRequest, "source"> {
  /** The record; all of the source if it is empty. */
  readonly sourceId?: string;
  readonly charts: readonly HistoryChart[];
  /** The counts now, which continue the history at its right edge. What happens is counted from any moment on. */
  readonly live?: Counts;
}

/** Charts of what happened to a record in a time range that the address names, from before the page was opened until now. */
export function HistoryCharts({ source, sourceId = "", charts, live }: Props) {
  const wanted = query.value.get("range") ?? "";
  const range: Range = wanted in ranges ? (wanted as Range) : "1h";
  const filter = source === "pool" && sourceId === "" ? environmentFilter() : {};
  const key = `history ${source} ${sourceId} ${filter.environment_id}`;
  const history = useQuery(
    can("history:read") ? `${key} ${range}` : undefined,
    () => service.get({ source, source_id: sourceId, range, ...filter }),
    { everyMs: live === undefined ? storedMs : refreshMs, live: ["queue.paused", "queue.resumed", "promotion."] },
  );
  const moments = momentsOf(history.data, useSamples(key, live));
  const times = moments.map(({ atMs }) => atMs);
  const positions = times.map((time) => formatMoment(time, ranges[range].time));
  const marks = history.data?.marks ?? [];
  return (
    <>
      {source === "workflow" && <AllEnvironments of="These counts" />}
      <div class="filters">
        <fieldset aria-label="Time range" class="segmented">
          {(Object.keys(ranges) as Range[]).map((each) => (
            <button aria-pressed={each === range} key={each} onClick={() => setQuery({ range: each })} type="button">
              {ranges[each].title}
            </button>
          ))}
        </fieldset>
        <Marks marks={marks} timeOf={(at) => formatMoment(at, ranges[range].time)} />
      </div>
      <div class="columns">
        {charts.map(({ title, lines, format = formatRate }) => (
          <Card key={title} title={title}>
            <Chart
              format={format}
              label={`${title}, last ${ranges[range].title}`}
              marks={marks.map((mark) => ({ atMs: Date.parse(mark.at ?? ""), text: describeMark(mark) }))}
              positions={positions}
              series={Object.entries(lines).map(([count, name]) => ({
                name,
                values: moments.map(({ counts }) => counts[count as keyof Counts]),
              }))}
              times={times}
            />
          </Card>
        ))}
      </div>
    </>
  );
}

/** The newest marks as a list, for people who cannot see them in the charts. */
function Marks({ marks, timeOf }: { readonly marks: readonly HistoryMark[]; readonly timeOf: (at: string) => string }) {
  return (
    <ul aria-label="What happened" class="marks">
      {marks.slice(-marksShown).map((mark) => (
        <li key={`${mark.kind} ${mark.at}`}>
          {timeOf(mark.at ?? "")} <MarkLink mark={mark} />
        </li>
      ))}
    </ul>
  );
}

function MarkLink({ mark }: { readonly mark: HistoryMark }) {
  const text = describeMark(mark);
  if (mark.subject_id === "") return <span>{text}</span>;
  const page = mark.kind.startsWith("queue.") ? "queues" : "promotions";
  return (
    <a class="link" href={href(`${page}/${mark.subject_id}`)}>
      {text}
    </a>
  );
}

function describeMark({ kind, name }: HistoryMark): string {
  switch (kind) {
    case "version.started":
      return `Version ${name} started`;
    case "promotion.promoted":
      return `${name} activated`;
    case "promotion.rolled_back":
      return `${name} rolled back`;
    case "queue.paused":
      return `${name} paused`;
    default:
      return `${name} resumed`;
  }
}
