/**
 * Assignments: which variant a unit gets.
 *
 * Unit: what is assigned, such as a user; stored as a digest. Exposure: the first assignment of a unit; it is stored once and
 * always wins. Receipt: the signed proof of an exposure. Eligibility: whether a unit may enter, decided from memory by
 * targeting, layer and allocation.
 */

export type { Receipt } from "./domain/receipt.ts";
export type { CompiledExperiment } from "./eligibility.ts";
export { createExposureWriter, type ExposureWriter } from "./exposure-writer.ts";
export { assignmentHandlers } from "./handler.ts";
export { createReceipts, type ReceiptFailure, type Receipts } from "./receipts.ts";
export {
  type AssignContext,
  type Assignment,
  type AssignmentService,
  createAssignmentService,
  type ExperimentReference,
  unknownMetric,
} from "./service.ts";
export { createSnapshots, type Snapshots } from "./snapshots.ts";
