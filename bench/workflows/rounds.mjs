// Each round covers all participants, so that temporary load on the machine affects them equally.

/** Measures every lane of every participant once per round; returns the median of each lane. */
export async function inRounds({ stage, title, rounds, lanesOf, measure }) {
  const results = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const name of stage.names()) {
      await stage.measure(name, async (participant) => {
        for (const lane of lanesOf(participant)) {
          process.stderr.write(`${title}, round ${round + 1} of ${rounds}: ${name}, ${lane.form}\n`);
          const result = await measure(participant, lane);
          const row = { participant: name, kind: participant.kind, ...lane, ...result };
          const key = `${name}/${lane.form}`;
          results.set(key, [...(results.get(key) ?? []), row]);
        }
      });
    }
  }
  return [...results.values()].map(median);
}

function median(rows) {
  const sorted = rows.toSorted((a, b) => a.perSecond - b.perSecond);
  const errors = rows.reduce((sum, row) => sum + row.errors, 0);
  const spread = sorted[0].perSecond > 0 ? sorted.at(-1).perSecond / sorted[0].perSecond : null;
  return { ...sorted[sorted.length >> 1], errors, spread };
}
