import type { Client } from "../../../../clients/typescript/src/client.ts";

const people = [
  ["ada", "Ada", "Lovelace", "en-GB"],
  ["grace", "Grace", "Hopper", "en-US"],
  ["hedy", "Hedy", "Lamarr", "de-AT"],
  ["katherine", "Katherine", "Johnson", "en-US"],
  ["margaret", "Margaret", "Hamilton", "en-US"],
  ["radia", "Radia", "Perlman", "en-US"],
  ["barbara", "Barbara", "Liskov", "en-US"],
  ["emmy", "Emmy", "Noether", "de-DE"],
] as const;

/** The external ids of the subscribers. */
export const subscriberIds: readonly string[] = people.map(([id]) => id);

/** Creates subscribers with preferences, a topic, and the workflows that send messages. */
export async function seedNotifications(client: Client): Promise<void> {
  const subscribers = await Promise.all(
    people.map(([external_id, first_name, last_name, locale]) =>
      client.subscribers.upsert({ external_id, first_name, last_name, locale, email: `${external_id}@acme.example` }),
    ),
  );
  await client.notificationWorkflows.upsert({
    workflow_key: "order.shipped",
    name: "Order shipped",
    description: "Tells the customer that the parcel is on its way.",
    channels: {
      email: {
        subject: "Order {{payload.order}} is on its way",
        body: "<h2>It is on its way</h2><p>Dear {{subscriber.first_name}}, your order <b>{{payload.order}}</b> arrives soon.</p>",
      },
      in_app: { title: "Order {{payload.order}} shipped", body: "It arrives soon." },
    },
  });
  await client.notificationWorkflows.upsert({
    workflow_key: "product.news",
    name: "Product news",
    channels: {
      email: { subject: "News: {{payload.headline}}", body: "<p>{{payload.headline}}</p>" },
      in_app: { title: "{{payload.headline}}", body: "Read more in the app." },
    },
  });
  await client.notificationWorkflows.upsert({
    workflow_key: "order.review",
    name: "Ask for a review",
    channels: {
      in_app: { title: "How was it?", body: "Review your order {{payload.order}}." },
      email: { subject: "How was order {{payload.order}}?", body: "<p>Tell us what you think.</p>" },
    },
    steps: [
      { key: "arrival", delay: { for_s: 3 * 86_400 } },
      { key: "inbox", send: { channels: ["in_app"] } },
      { key: "unread", await_inbox: { step: "inbox", state: "read", for_s: 86_400 } },
      { key: "mail", condition: "!steps.inbox.read", send: { channels: ["email"] } },
    ],
  });
  await client.suppressions.create({ channel: "email", identity: "former@acme.example", note: "Asked by phone." });
  await client.topics.create({
    key: "news",
    name: "Product news",
    description: "Everybody who wants to hear from us.",
  });
  await client.topics.addSubscribers({ key: "news", subscriber_ids: subscribers.map(({ id }) => id) });
  // Hedy does not want mail, so that somebody can be asked why she did not get it.
  await client.subscribers.upsertPreference({
    subscriber_id: subscribers[2]!.id,
    channels: { email: { enabled: false } },
  });
  await client.notifications.trigger({
    workflow_key: "order.review",
    subscriber_external_id: "ada",
    payload: { order: "A-1000" },
  });
  await client.notifications.trigger({
    workflow_key: "product.news",
    topic: "news",
    payload: { headline: "Replay decisions from the console" },
  });
}

const units = 3_000;
const batch = 500;
/** How many of a hundred buy: the new checkout is better. */
const buyers = { old: 10, new: 14 } as const;

/** Creates an experiment with enough exposures and scores to have a result. Returns its id. */
export async function seedExperiment(client: Client): Promise<string> {
  const { id: experiment_id } = await client.experiments.create({
    key: "checkout",
    name: "One-page checkout",
    description: "Does a checkout on one page sell more?",
    score_window_s: 0,
    planned_units: 20_000,
    expected_units_per_day: 2_000,
    variants: [
      { key: "old", weight: 50, description: "Three pages" },
      { key: "new", weight: 50, description: "One page" },
    ],
    metrics: [
      { key: "bought", type: "proportion", baseline: 0.1, minimum_lift: 0.2 },
      { key: "revenue", type: "mean", role: "guardrail", margin: 2, winsor_cap: 500 },
    ],
  });
  await client.experiments.start({ experiment_id });
  for (let first = 0; first < units; first += batch) {
    const names = Array.from({ length: batch }, (_, index) => `visitor-${first + index}`);
    await scoreUnits(client, experiment_id, names);
  }
  return experiment_id;
}

/** Assigns units, and records what they do. Which of them buy follows from their names. */
export async function scoreUnits(client: Client, experiment_id: string, names: readonly string[]): Promise<void> {
  const { assignments } = await client.experiments.assignBatch({
    experiment_id,
    units: names.map((unit) => ({ unit })),
  });
  const bought = assignments.filter(({ unit, variant }) => hash(unit) % 100 < (buyers[variant as "old" | "new"] ?? 0));
  if (bought.length === 0) return;
  await client.experiments.recordScoreBatch({
    experiment_id,
    scores: bought.flatMap(({ unit }) => [
      { score_id: `${unit}-bought`, unit, metric: "bought" },
      { score_id: `${unit}-revenue`, unit, metric: "revenue", value: 20 + (hash(unit) % 60) },
    ]),
  });
}

/** A number that depends on every character of a text. */
function hash(text: string): number {
  let value = 2166136261;
  for (const character of text) value = Math.imul(value ^ character.charCodeAt(0), 16777619) >>> 0;
  return value >>> 8;
}
