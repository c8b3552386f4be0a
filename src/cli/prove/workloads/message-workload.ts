import { setTimeout as delay } from "node:timers/promises";
import type { CreateWorkload } from "../workload.ts";

const settleMs = 120_000;

/** Triggers mails, which end in the outbox of the tenant. */
export const createMessageWorkload: CreateWorkload = async (context) => {
  const { tenant, history, random, loading, over, call } = context;
  const workflow_key = "proof";
  await call(
    (client, options) =>
      client.notificationWorkflows.upsert(
        { workflow_key, name: "Proof", channels: { email: { subject: "{{payload.message}}", body: "Proof" } } },
        options,
      ),
    "notification workflow",
  );
  const external_id = "reader";
  await call(
    (client, options) => client.subscribers.upsert({ external_id, email: "reader@example.org" }, options),
    "subscriber",
  );

  const subjectOf = (message: string) => `${tenant.name}/${message}`;
  const triggered = new Set<string>();
  const readMessages = async () =>
    (await call((client) => client.outbox.listMessages({ limit: 100 }).take(1_000_000))).value;

  return {
    async load() {
      while (!loading.aborted) {
        const message = `message-${triggered.size + 1}`;
        const request = { workflow_key, subscriber_external_id: external_id, payload: { message } };
        const answer = await call((client, options) => client.notifications.trigger(request, options), message);
        triggered.add(message);
        const { startMs, endMs, node } = answer;
        const outcome = answer.value.outcomes[0]?.outcome ?? "none";
        history.record({
          ...{ kind: "acknowledged", name: "notify", subject: subjectOf(message) },
          ...{ startMs, endMs, node, facts: { outcome } },
        });
        await delay(random() * 60);
      }
    },
    async settle() {
      // A message that could not be sent while the database was away is sent again later.
      const untilMs = history.now() + settleMs;
      let messages = await readMessages();
      while (messages.length < triggered.size && !over.aborted && history.now() < untilMs) {
        await delay(500);
        messages = await readMessages();
      }
      const nowMs = history.now();
      const observe = (message: string, id: string) =>
        history.record({
          ...{ kind: "observed", name: "message", subject: subjectOf(message), startMs: nowMs, endMs: nowMs },
          facts: { message: id },
        });
      for (const { subject, id } of messages) observe(subject, id);
      const seen = new Set(messages.map(({ subject }) => subject));
      for (const message of triggered) if (!seen.has(message)) observe(message, "absent");
    },
  };
};
