/**
 * Schedules: the times of cron expressions in time zones, and the worker that fires for them.
 *
 * times: the instants at which a schedule fires. catch-up: firing for a time that was missed, for example because no node was
 * running. jitter: a delay that is the same for all firings of a schedule, so that schedules with the same times spread.
 */
export type { CronRefusal, CronTimes } from "./cron-times.ts";
export {
  type DueTime,
  decideDueTime,
  jitterMs,
  listTimes,
  readSchedule,
  type ScheduleTimes,
} from "./schedule-times.ts";
export { createScheduleWorker } from "./schedule-worker.ts";
