// Ratios of our rates to those of the others, and the aims.
import { show } from "../routing/report.mjs";

const ours = ["Switchyard over HTTP", "Switchyard in process"];

/** What our rate should be, relative to another participant. */
const factors = { "durable-streams": 3, "Redis Streams": 0.5, "raw inserts": 0.5 };

/** The aims of one form: [what, aim, measured value, whether it is met]. */
export function ratioAims(rows, form) {
  const rateOf = (name) => rows.find((row) => row.participant === name && row.form === form)?.perSecond;
  return Object.entries(factors).flatMap(([other, factor]) =>
    ours.flatMap((our) => {
      const ratio = rateOf(our) / rateOf(other);
      if (Number.isNaN(ratio)) return [];
      return [[`${form}: ${our} against ${other}`, `>= ${factor}x`, show.ratio(ratio), ratio >= factor]];
    }),
  );
}

/** The name of a participant, with its role. */
export const nameOf = (row) => row.participant + (row.kind === "limit" ? " (limit)" : "");
