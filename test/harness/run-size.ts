/** Whether this run leaves nothing out, however long it takes: `npm run chaos` and `npm run test:fuzz` do. */
const isLong = process.env.TEST_LONG === "1";

/** The size of a test: what is enough for every day, and what a long run takes. */
export function sized(short: number, long: number): number {
  return isLong ? long : short;
}

/**
 * Every nth case of a list, beginning with another one for each turn, so that a few turns cover them all. A long run takes
 * them all in every turn.
 */
export function sampled<T>(cases: readonly T[], nth: number, turn: number): readonly T[] {
  return isLong ? cases : cases.filter((_, at) => (at + turn) % nth === 0);
}
