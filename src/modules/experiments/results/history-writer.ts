import type { PlatformServices } from "../../area.ts";
import type { EventEntry, EventRecorder } from "../../operations/index.ts";
import { analyse } from "../analysis/index.ts";
import { planOf } from "../experiments/index.ts";
import { pointOf } from "./domain/history.ts";
import { insertPoint, lockDuePoint } from "./history-store.ts";
import { readPhases } from "./moment-store.ts";

export type HistoryWriter = ReturnType<typeof createHistoryWriter>;

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly events: EventRecorder;
}

/** Creates the writer. A changed verdict is an event. */
export function createHistoryWriter({ db, clock, events }: Dependencies) {
  return {
    /** Writes one due point; returns whether there was one. */
    async writeDue() {
      const nowMs = clock.now();
      return db.transaction(async (tx) => {
        const experiment = await lockDuePoint(tx, nowMs);
        if (experiment === undefined) return false;
        const { tenantId, id, key, design, minima, lastVerdict, environmentId } = experiment;
        const analysis = analyse(planOf(design), await readPhases(tx, experiment), minima);
        await insertPoint(tx, experiment, {
          at: new Date(nowMs),
          point: pointOf(analysis),
          minima: { sampleRatioP: analysis.sampleRatio.p },
          verdict: analysis.verdict,
        });
        const entries: EventEntry[] = [];
        if (lastVerdict !== analysis.verdict) {
          const data = {
            ...{ key, verdict: analysis.verdict, previous: lastVerdict, winner: analysis.winner ?? "" },
            ...{ sentence: analysis.sentence, environment_id: environmentId },
          };
          entries.push({ tenantId, type: "experiment.verdict_changed", subject: id, data });
        }
        await events.recordMany(tx, entries, nowMs);
        return true;
      });
    },
  };
}
