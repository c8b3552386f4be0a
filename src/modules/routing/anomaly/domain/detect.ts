import type { AnomalyConfig } from "../../pools/index.ts";
import type { AnomalyMethod, Finding } from "./anomaly.ts";
import { type Look, lookAt } from "./look.ts";
import { findOutside, iqrBound, zscoreBound } from "./outside.ts";
import { findPatterns } from "./pattern.ts";
import { findRateChanges } from "./rate-change.ts";
import type { Window } from "./window.ts";

/** Whose outcomes the windows hold. */
export type Watched = "recipient" | "pool";

/** What of a pool's config steers the telling of anomalies. */
export type Watching = Pick<
  AnomalyConfig,
  "methods" | "zscoreThreshold" | "iqrMultiplier" | "rateChangeDrop" | "samplesMin"
>;

/**
 * Tells what stands out in the last three of some windows, oldest first, against those before them; in the order of the
 * config's methods.
 *
 * Only changes for the worse are findings: slower, dearer, less often a success, less done. Two of the three windows must
 * stand out, and what they are held against must be made of enough outcomes.
 */
export function detect(windows: readonly Window[], config: Watching, watched: Watched): Finding[] {
  const look = lookAt(windows, config.samplesMin);
  return config.methods.flatMap((method) => find[method](look, config, watched));
}

const find: Record<AnomalyMethod, (look: Look, config: Watching, watched: Watched) => Finding[]> = {
  zscore: (look, { zscoreThreshold }) => findOutside(look, "zscore", zscoreBound(zscoreThreshold)),
  iqr: (look, { iqrMultiplier }) => findOutside(look, "iqr", iqrBound(iqrMultiplier)),
  rate_change: (look, { rateChangeDrop }, watched) => findRateChanges(look, rateChangeDrop, watched === "pool"),
  // A pool mixes the outcomes of many: what follows what there is chance.
  pattern: (look, _, watched) => (watched === "pool" ? [] : findPatterns(look)),
};
