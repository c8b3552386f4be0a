/** Terms of the Stirling series: accurate to a few units in the last place from 10 upwards. */
const stirling = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360];

/** The natural logarithm of the gamma function, for positive x. */
export function logGamma(x: number): number {
  let shifted = x;
  let product = 1;
  while (shifted < 10) product *= shifted++;
  const inverse = 1 / shifted;
  let correction = 0;
  for (let i = stirling.length - 1; i >= 0; i--) correction = correction * inverse * inverse + stirling[i]!;
  return (
    (shifted - 0.5) * Math.log(shifted) -
    shifted +
    0.5 * Math.log(2 * Math.PI) +
    correction * inverse -
    Math.log(product)
  );
}
