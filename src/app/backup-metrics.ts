import type { Config } from "../config/index.ts";
import { readArchiveState } from "../platform/backup/index.ts";
import type { Metrics } from "../platform/telemetry/index.ts";

/** Adds the metrics of backups, which are 0 without any. All processes of the machine show the same. */
export function addBackupMetrics(metrics: Pick<Metrics, "gauge">, config: Config): void {
  const stateOf = () => readArchiveState(config["data.dir"]);
  const secondsOf = (time: string | undefined) => (time === undefined ? 0 : Date.parse(time) / 1000);
  metrics.gauge({
    name: "backup_archived_until_timestamp_seconds",
    help: "Time up to which acknowledged changes are in the backup store; 0 before the first ones are.",
    isShared: true,
    collect: (gauge) => gauge.set(secondsOf(stateOf()?.archivedUntil)),
  });
  metrics.gauge({
    name: "backup_last_backup_timestamp_seconds",
    help: "Time when the newest backup ended; 0 without one.",
    isShared: true,
    collect: (gauge) => gauge.set(secondsOf(stateOf()?.lastBackupAt)),
  });
  metrics.gauge({
    name: "backup_unarchived_seconds",
    help: "Age of the oldest complete file of the write-ahead log that is not in the backup store; 0 if all are.",
    isShared: true,
    collect(gauge) {
      const since = stateOf()?.waitingSince;
      gauge.set(since === undefined ? 0 : Math.max(0, (Date.now() - Date.parse(since)) / 1000));
    },
  });
}
