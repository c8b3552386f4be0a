import { setTimeout as delay } from "node:timers/promises";
import type { CreateWorkload } from "../workload.ts";

/** Triggers mails, which end in the outbox of the tenant. */
export const createMessageWorkload: CreateWorkload = async (context) => {
  const { tenant, history, random, loading, call } = context;
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
      const { value: messages } = await call((client) => client.outbox.listMessages({ limit: 100 }).take(1_000_000));
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
