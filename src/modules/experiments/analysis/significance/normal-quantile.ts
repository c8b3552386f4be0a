// Coefficients of the rational approximation by Acklam, relative error below 1.2e-9.
const a = [
  -3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1,
  2.506628277459239,
];
const b = [
  -5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1,
];
const c = [
  -7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
];
const d = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1];

/** The value that a standard normal variable does not exceed with probability p, for p between 0 and 1. */
export function normalQuantile(p: number): number {
  if (p < 0.02425) return tail(p);
  if (p > 1 - 0.02425) return -tail(1 - p);
  const q = p - 0.5;
  return (q * polynomial(a, q * q)) / polynomial(b, q * q);
}

function tail(p: number): number {
  const q = Math.sqrt(-2 * Math.log(p));
  return polynomial(c, q) / polynomial(d, q);
}

/** Highest power first. */
function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}
