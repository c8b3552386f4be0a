/**
 * Experiments: assigns variants to units, records outcomes, and says which variant is better.
 *
 * experiments: design and life. assignments: which variant a unit gets, with a signed receipt. scores: outcomes of units.
 * results: what the outcomes show. analysis: the statistics.
 */
import type { Area, AreaParts } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { Quotas } from "../tenancy/index.ts";
import {
  assignmentHandlers,
  createAssignmentService,
  createExposureWriter,
  createReceipts,
  createSnapshots,
} from "./assignments/index.ts";
import { createExperimentService, experimentHandlers } from "./experiments/index.ts";
import { analyseExperiment, createHistoryWriter, createMaturingWorker, resultHandlers } from "./results/index.ts";
import { createScoreService, scoreHandlers } from "./scores/index.ts";

interface Parts extends AreaParts {
  readonly events: EventRecorder;
  readonly quotas: () => Quotas;
  /** The secret that receipts are signed with. */
  readonly receiptSecret: Buffer;
}

/** Creates the area. */
export function createExperiments(parts: Parts) {
  const { cursors, receiptSecret, config } = parts;
  const receipts = createReceipts(receiptSecret);
  const snapshots = createSnapshots(parts);
  const writer = createExposureWriter(parts);
  const service = createExperimentService({ ...parts, analyse: analyseExperiment });
  // A score that was accepted in time is committed before its request times out.
  const graceMs = 2 * config["api.request_timeout_s"] * 1000;
  const assignments = createAssignmentService({ ...parts, snapshots, receipts, writer, graceMs });
  const scores = createScoreService({ ...parts, assignments, receipts });
  const history = createHistoryWriter(parts);
  const maturing = createMaturingWorker({ ...parts, history });
  return {
    handlers: {
      "service.api.ExperimentService": {
        ...experimentHandlers({ service, cursors }),
        ...assignmentHandlers({ service: assignments, receipts }),
        ...scoreHandlers(scores),
        ...resultHandlers(),
      },
    },
    jobs: [],
    workers: [maturing],
    /** Resolves when nothing is being stored. */
    async stop() {
      await writer.idle();
      await scores.idle();
    },
  } satisfies Area & Record<string, unknown>;
}
