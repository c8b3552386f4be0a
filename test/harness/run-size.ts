/** Whether this run includes every case, however long it takes, as `npm run chaos` and `npm run test:fuzz` do. */
const isLong = process.env.TEST_LONG === "1";

/** The seed of the run: of its random cases, and of the cases that a short run includes. */
export const seed = Number(process.env.TEST_SEED ?? 1);

/** The size of a test: the normal one, or that of a long run. */
export function sized<T>(short: T, long: T): T {
  return isLong ? long : short;
}

/**
 * One in `nth` cases of a list in a short run, with a different offset for each turn and each seed, so that a few turns cover
 * all cases, and as many seeds cover all cases in every turn. A long run uses all cases.
 */
export function sampled<T>(cases: readonly T[], nth: number, turn: number): readonly T[] {
  return isLong ? cases : cases.filter((_, at) => (at + turn + seed) % nth === 0);
}

/** The share of the cases that this run includes, for the title of a test. */
export function shareText(nth: number, cases: string): string {
  return isLong ? "" : ` (1 in ${nth} ${cases})`;
}
