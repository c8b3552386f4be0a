/** Whether this run includes every case, however long it takes, as `npm run chaos` and `npm run test:fuzz` do. */
const isLong = process.env.TEST_LONG === "1";

/** The seed of the run: as a turn, it chooses which cases a short run includes. */
export const seed = Number(process.env.TEST_SEED ?? 1);

/** The size of a test: the normal one, or that of a long run. */
export function sized(short: number, long: number): number {
  return isLong ? long : short;
}

/**
 * Every nth case of a list, with a different offset for each turn, so that a few turns cover all cases. A long run uses
 * all cases in every turn.
 */
export function sampled<T>(cases: readonly T[], nth: number, turn: number): readonly T[] {
  return isLong ? cases : cases.filter((_, at) => (at + turn) % nth === 0);
}
