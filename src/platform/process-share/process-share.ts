/** The place of this process among those that one supervisor runs on a machine. */
export interface ProcessPlace {
  /** From 1. A process that replaces another one has the number of that one. */
  readonly number: number;
  /** The number of processes. */
  readonly count: number;
}

let own: ProcessPlace = { number: 1, count: 1 };

/** Tells this process its place. It comes before everything that is limited. */
export function setProcessPlace(place: ProcessPlace): void {
  own = place;
}

/**
 * The part of a limit of the machine that this process enforces, so that all processes together enforce the limit. Every process
 * has at least the minimum, because a limit of 0 would stop it or, for some limits, mean that there is none.
 */
export function shareOf(total: number, { number, count }: ProcessPlace = own, minimum = 1): number {
  return Math.max(minimum, Math.floor(total / count) + (number <= total % count ? 1 : 0));
}
