/**
 * Scores: outcomes of units.
 *
 * Score: one outcome of a unit for one metric, with the caller's id. Window: how long after the first exposure scores count. A
 * score is pending (counts with its unit), early, late or ended (never counts).
 */
export { scoreHandlers } from "./handler.ts";
export type { ScoreInput } from "./score-check.ts";
export { createScoreService, type ScoreService } from "./service.ts";
