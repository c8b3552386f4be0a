import type { Client } from "../../../clients/typescript/src/client.ts";

const word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
/** A name as long as it may be, without a place to break it. */
const longName = word.repeat(3).slice(0, 200);
const longKey = "a_long_key_".repeat(6).slice(0, 60);

/** Creates records with the longest names; returns the paths of their pages, with their headings. */
export async function seedLongNames(client: Client): Promise<readonly (readonly [path: string, heading: string])[]> {
  const name = longName;
  const pool = await client.pools.create({ name, description: name });
  const { id: recipient_id } = await client.recipients.create({ pool_id: pool.id, name });
  const condition = `item.attributes.${longKey} == "${name}"`;
  await client.rules.create({ pool_id: pool.id, name, condition, action: { type: "route", recipient_id } });
  const { decision_id, type } = await client.routing.route({
    pool_id: pool.id,
    type: longKey,
    key: name,
    attributes: { [longKey]: name },
  });
  const schedule = await client.schedules.create({
    name,
    timing: { cron: "0 9 * * *", timezone: "America/Argentina/ComodRivadavia" },
    item: { pool_id: pool.id, type: longKey, key: name },
  });
  const steps = [{ id: longKey, approval: { by: ["role:admin"], timeout: "1h" } }];
  const document = { dsl: "1", key: longKey, name, timeout: "1h", steps };
  const definition = await client.workflowDefinitions.create({ document });
  await client.workflowDefinitions.publish({ id: definition.id });
  const { run } = await client.workflowRuns.start({ definition: longKey, run_key: name });
  const variants = ["a", "b"].map((end) => ({ key: `${longKey}${end}`, weight: 50 }));
  const metrics = [{ key: longKey, type: "proportion" as const, baseline: 0.1, minimum_lift: 0.2 }];
  const shorter = name.slice(0, 120);
  const experiment = await client.experiments.create({ key: longKey, name: shorter, variants, metrics });
  const subscriber = await client.subscribers.upsert({ external_id: longKey, first_name: name });
  const channels = { in_app: { title: name, body: name } };
  await client.notificationWorkflows.upsert({ workflow_key: longKey, name, channels });
  await client.notifications.trigger({ workflow_key: longKey, subscriber_external_id: longKey });
  await client.topics.create({ key: longKey, name: shorter, description: name });
  const endpoint = await client.webhooks.createEndpoint({
    url: `http://127.0.0.1:9/${longKey}`,
    description: name,
    event_types: [longKey],
  });
  await client.apiKeys.create({ name, roles: ["viewer"] });
  await client.members.invite({ email: `${longKey}@example.org`, display_name: name, roles: ["operator", "viewer"] });
  await client.environments.create({ key: longKey.replaceAll("_", "-").slice(0, 40), name: shorter });
  const { version } = await client.poolVersions.create({ pool_id: pool.id, strategy: "least_loaded", message: name });
  const artifacts = [{ kind: "strategy" as const, ref: pool.id, version }];
  const guardrails = [{ metric: "success" as const, limit: 0.5 }];
  const candidate = await client.promotions.createCandidate({ name: shorter, artifacts, guardrails });
  return [
    ...["", "?tab=recipients", "?tab=rules"].map((tab) => [`pools/${pool.id}${tab}`, name] as const),
    [`queues/${pool.id}`, name],
    [`decisions/${decision_id}`, type],
    [`schedules/${schedule.id}`, name],
    [`workflows/runs/${run!.id}`, longKey],
    [`workflows/definitions/${definition.id}`, name],
    [`experiments/${experiment.id}`, shorter],
    [`notifications/subscribers/${subscriber.id}`, name],
    [`notifications/workflows/${longKey}`, name],
    [`notifications/topics/${longKey}`, shorter],
    [`webhooks/${endpoint.id}`, name],
    [`promotions/${candidate.id}`, shorter],
  ];
}
