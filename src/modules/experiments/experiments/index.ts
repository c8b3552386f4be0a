/**
 * Experiments: their design and their life.
 *
 * Design: variants, allocation, targeting, metrics and the plan of the analysis; fixed by the start, except for weights and
 * allocation. Phase: a period with the same weights and allocation. Layer: experiments of one layer exclude each other, because
 * each reserves slots of its own. Decision: the variant that everybody gets after a completed experiment.
 */
export type { Design, Experiment, ExperimentId, Metric, Phase, SlotRange, Variant } from "./domain/experiment.ts";
export { planOf } from "./domain/experiment.ts";
export { isInRanges } from "./domain/layer-slots.ts";
export { type ExperimentStatus, nextStatus } from "./domain/states.ts";
export { targetingVariables } from "./domain/validation.ts";
export { experimentHandlers } from "./handler.ts";
export { createExperimentService, type ExperimentService } from "./service.ts";
export { experimentStore, type FrozenResults } from "./store.ts";
