import type { Client } from "../../../../clients/typescript/src/client.ts";

/** The pools of the demo, by what goes through them. */
export interface DemoPools {
  readonly tickets: string;
  readonly leads: string;
  readonly models: string;
}

const agents = [
  ["Ada", { german: 5, billing: 4 }],
  ["Grace", { english: 5, billing: 3 }],
  ["Hedy", { german: 3, technical: 5 }],
  ["Katherine", { english: 4, technical: 4 }],
] as const;

const models = [
  ["large", 0.03, 8],
  ["medium", 0.008, 20],
  ["small", 0.001, 60],
] as const;

/** Items are retried quickly, so that failures and dead letters show within a minute. */
const quickRetry = { max_attempts: 3, initial_ms: 500, max_ms: 4_000 };

/** Creates the pools with their recipients and rules. */
export async function seedRouting(client: Client): Promise<DemoPools> {
  const [tickets, leads, llm] = await Promise.all([
    client.pools.create({
      name: "Support tickets",
      description: "Tickets go to whoever has the skills and the fewest of them.",
      strategy: "skills_based",
      config: { item_events: true, retry: quickRetry },
    }),
    client.pools.create({
      name: "Sales leads",
      description: "Leads are dealt out in turn; gold leads go first.",
      strategy: "round_robin",
      config: { item_events: true, retry: quickRetry },
    }),
    client.pools.create({
      name: "Language models",
      description: "Calls go to the cheapest model that fits; each customer has a limit.",
      strategy: "lowest_cost",
      config: {
        item_events: true,
        retry: quickRetry,
        admission: { throttle: { key: "item.attributes.customer", limit: 60, period_s: 60, on_limit: "delay" } },
      },
    }),
  ]);
  await client.recipients.batchCreate({
    pool_id: tickets.id,
    recipients: agents.map(([name, skills]) => ({ name, skills, capacity: 4 })),
  });
  await client.recipients.batchCreate({
    pool_id: leads.id,
    recipients: ["Lovelace team", "Hopper team", "Lamarr team"].map((name) => ({ name, capacity: 6 })),
  });
  await client.recipients.batchCreate({
    pool_id: llm.id,
    recipients: models.map(([name, cost, capacity]) => ({ name, cost, capacity, attributes: { size: name } })),
  });
  await Promise.all([
    client.rules.create({
      pool_id: tickets.id,
      name: "German speakers first",
      condition: `item.attributes.language == "de" && "german" in recipient.skills`,
      action: { type: "prefer" },
      priority: 10,
    }),
    client.rules.create({
      pool_id: tickets.id,
      name: "Outages jump the queue",
      condition: `item.attributes.severity == "outage"`,
      action: { type: "set_priority", priority: 500 },
      priority: 20,
    }),
    client.rules.create({
      pool_id: leads.id,
      name: "Reject leads without an address",
      condition: "!has(item.attributes.email)",
      action: { type: "reject", reason: "A lead needs an email address." },
      priority: 10,
    }),
    client.rules.create({
      pool_id: llm.id,
      name: "Long prompts need the large model",
      condition: `item.attributes.tokens > 6000 && recipient.attributes.size == "large"`,
      action: { type: "prefer" },
      priority: 10,
    }),
  ]);
  await client.schedules.create({
    name: "Review of open leads",
    timing: { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    item: { pool_id: leads.id, type: "review", attributes: { email: "sales@acme.example" } },
  });
  return { tickets: tickets.id, leads: leads.id, models: llm.id };
}

/** Stages a version of a pool, and creates the candidate that takes it to production. */
export async function seedPromotion(client: Client, poolId: string): Promise<void> {
  const message = "The least busy team gets the lead";
  const { version } = await client.poolVersions.create({ pool_id: poolId, strategy: "least_loaded", message });
  await client.promotions.createCandidate({
    name: "Leads to the least busy team",
    description: "Teams that are still busy get fewer leads.",
    artifacts: [{ kind: "strategy", ref: poolId, version }],
    guardrails: [
      { metric: "success", limit: 0.8 },
      { metric: "dead_letters", limit: 100 },
    ],
  });
}
