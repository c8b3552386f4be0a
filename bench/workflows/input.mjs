// The input that every participant uses, and the pure steps.

let created = 0;
const run = `${process.pid.toString(36)}-${Date.now().toString(36)}`;

/** A new input with a unique order. */
export function nextInput() {
  return { order: `${run}-${created++}`, country: "DE", amount: 71, lines: [{ sku: "a-1", count: 2 }] };
}

/** The steps of an internal run, as functions. Our definition does the same with expressions. */
export const steps = {
  total: (input) => ({ total: input.amount * 2 }),
  tax: ({ total }) => ({ tax: total * 3, total }),
  label: ({ tax, total }, input) => ({ label: `${input.country} ${input.order}`, sum: total + tax }),
};
