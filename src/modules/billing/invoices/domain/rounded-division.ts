/** Divides and rounds to the nearest integer; a half is rounded up. Both numbers are not negative. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

/** Divides and rounds up. Both numbers are not negative. */
export function divideRoundedUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
