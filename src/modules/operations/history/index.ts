/**
 * History: coarse counts of pools, workflows and notification channels over the last week, for charts.
 *
 * source: a kind of records that have a history. point: the counts of a record, or of all, in a part of a time range. step: the time
 * that the counts of a stored row cover: a minute, ten or an hour. sample: the reading of queues that one node makes at the end of a minute;
 * where there was none, a chart has a gap. mark: something that happened at a time of a chart, such as a start of a new version.
 */
import { retentionJob } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import { type HistorySource, steps } from "../../history-source.ts";
import { historyHandlers } from "./handler.ts";
import { createHistoryRecorder } from "./history-recorder.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "platformTenantId"> {
  /** The sources of other areas, which are composed later. */
  readonly sources: () => readonly HistorySource[];
  /** The version of this node. */
  readonly version: string;
}

/** The longest range of minutes is an hour, that of ten minutes a day, that of hours a week. Retention may be late. */
const keptMs = { minute: 2 * 3_600_000, tenMinutes: 26 * 3_600_000, hour: 170 * 3_600_000 };

export function createHistory(dependencies: Dependencies) {
  const { sources } = dependencies;
  const expiring = (table: string) =>
    (["minute", "tenMinutes", "hour"] as const).map((length) => ({
      ...{ table, column: "at", ageMs: keptMs[length], oldestFirst: true },
      where: (sql: PlatformServices["db"]["sql"]) => sql`step = ${steps[length]}`,
    }));
  return {
    ...createHistoryRecorder(dependencies),
    handlers: historyHandlers(sources),
    jobs: [
      retentionJob(dependencies, {
        ...{ kind: "history.delete_expired", everyMs: 10 * 60_000 },
        rows: [...expiring("history_points"), ...expiring("history_samples")],
      }),
    ],
  };
}
