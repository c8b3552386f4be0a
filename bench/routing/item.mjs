// The work item that everybody takes: some 300 bytes of JSON, as a lead that a web form sends.

// Groups for constraints that hold many items each.
const groups = 1_000;

let made = 0;
const run = Date.now().toString(36);

/** A new work item: `attributes.order` is unique, `key` is shared by every thousandth item. */
export function nextItem() {
  const n = made++;
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

/** As many new work items. */
export function nextItems(count) {
  return Array.from({ length: count }, nextItem);
}
