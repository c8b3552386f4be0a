// The work item that every participant uses: about 300 bytes of JSON, like a lead from a web form.

// Constraint groups with many items each.
const groups = 1_000;

let created = 0;
const run = Date.now().toString(36);

/** A new work item: `attributes.order` is unique, `key` is shared by every thousandth item. */
export function nextItem() {
  const n = created++;
  return {
    type: "lead",
    key: `account-${n % groups}`,
    attributes: { order: `${run}-${process.pid}-${n}`, country: "DE", tier: "gold", score: 71, language: "de" },
    payload: {
      name: "Ada Lovelace",
      email: "ada@example.com",
      company: "Analytical Engines",
      message: "Please call me back about the offer from last Tuesday.",
    },
  };
}

/** Creates a number of new work items. */
export function nextItems(count) {
  return Array.from({ length: count }, nextItem);
}
