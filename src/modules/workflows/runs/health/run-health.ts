import type { Sql } from "../../../../platform/db/index.ts";
import type { HealthScope, HealthSource, HealthTime, RunHealth, StateCounts } from "../../../health-source.ts";
import type { RunSweeper } from "../run-sweeper.ts";
import {
  countEndedRuns,
  countOpenLetters,
  countOverdueRuns,
  readLetterStates,
  type StateCount,
} from "./health-store.ts";

/** Creates the source of health reports about runs. The sweeper continues runs, so its passes are the heartbeat. */
export function createRunHealth({ lastPassMs }: Pick<RunSweeper, "lastPassMs">): HealthSource<RunHealth> {
  return { lastPassMs, read: readRunHealth };
}

async function readRunHealth(sql: Sql, scope: HealthScope, { idleSince, start, end }: HealthTime): Promise<RunHealth> {
  const [ended, overdue, states, open] = await Promise.all([
    countEndedRuns(sql, scope, start, end),
    countOverdueRuns(sql, scope, idleSince),
    readLetterStates(sql, scope),
    countOpenLetters(sql, scope),
  ]);
  const others = states.filter((state) => state !== "open").map((state) => [state, 1] as const);
  return { ended: toCounts(ended), overdue: toCounts(overdue), letters: { ...Object.fromEntries(others), open } };
}

function toCounts(rows: readonly StateCount[]): StateCounts {
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
