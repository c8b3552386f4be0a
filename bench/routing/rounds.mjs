// Each round covers all lanes, so that temporary load on the machine affects them equally.

/** Measures every lane once per round; returns each lane's median result, in lane order. */
export async function inRounds({ rounds, lanes, measure, title }) {
  const results = lanes.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, lane] of lanes.entries()) {
      process.stderr.write(`${title}, round ${round + 1} of ${rounds}: ${lane.participant.name}, ${lane.name}\n`);
      results[i].push(await measure(lane));
    }
  }
  return lanes.map(({ participant, list, number, drains, ...lane }, i) => ({
    participant: participant.name,
    kind: participant.kind,
    durable: participant.durable,
    ...lane,
    ...median(results[i]),
  }));
}

/** The lanes of one list of every participant, each with its participant and its index in the list. */
export function lanesOf(stage, list) {
  return stage.present.flatMap((participant) =>
    participant[list].map((lane, number) => ({ participant, list, number, ...lane })),
  );
}

function median(results) {
  const sorted = results.toSorted((a, b) => a.perSecond - b.perSecond);
  const errors = results.reduce((sum, each) => sum + (each.errors ?? 0), 0);
  const slowest = sorted[0].perSecond;
  const spread = slowest > 0 ? sorted.at(-1).perSecond / slowest : null;
  const firstError = results.find((each) => each.firstError)?.firstError;
  return { ...sorted[sorted.length >> 1], errors, spread, ...(firstError && { firstError }) };
}
