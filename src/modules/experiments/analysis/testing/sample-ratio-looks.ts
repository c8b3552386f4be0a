/** The sample-ratio check with a look after every unit, beside a chi-square test. */
import { logBayesFactor, sampleRatioConcentration } from "../significance/exact-test.ts";
import { createSeededRandom } from "./seeded-random.ts";

export interface SampleRatioLooks {
  treatmentShare: number;
  /** The share of the treatment's units that get lost. */
  lost: number;
  units: number;
  runs: number;
  seed: number;
}

export interface SampleRatioLooksResult {
  /** Share of the runs in which the check ever found a mismatch. */
  sequential: number;
  chiSquare: number;
}

/** The 99.9 % quantile of chi-square with one degree of freedom. */
const chiSquareMax = 10.8276;

export function simulateSampleRatio(setup: SampleRatioLooks): SampleRatioLooksResult {
  const { treatmentShare: share } = setup;
  let [sequential, chiSquare] = [0, 0];
  for (let run = 0; run < setup.runs; run++) {
    const random = createSeededRandom(setup.seed * 1_000_003 + run);
    const found = { sequential: false, chiSquare: false };
    let [control, treatment] = [0, 0];
    for (let n = 1; n <= setup.units && !(found.sequential && found.chiSquare); n++) {
      if (random.unit() >= share) control++;
      else if (random.unit() >= setup.lost) treatment++;
      const total = control + treatment;
      const deviation = (treatment - total * share) ** 2 / (total * share * (1 - share));
      if (total >= 100 && deviation > chiSquareMax) found.chiSquare = true;
      // The Bayes factor is below 1,000 where chi-square is small: the costly look is only needed beyond.
      if (!found.sequential && deviation > 6) {
        const log = logBayesFactor([treatment, control], [share, 1 - share], sampleRatioConcentration);
        if (log > Math.log(1_000)) found.sequential = true;
      }
    }
    if (found.sequential) sequential++;
    if (found.chiSquare) chiSquare++;
  }
  return { sequential: sequential / setup.runs, chiSquare: chiSquare / setup.runs };
}
