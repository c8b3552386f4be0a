import type { Config } from "../../../../../config/index.ts";
import type { CaseContext, Json } from "../../sandbox/index.ts";

/** The path of everything about notifications but triggers. */
export const notificationPath = "/api/v2/notification";
export const triggerPath = "/api/v2/notifications/trigger";
export const notificationCapabilities = ["notifications", "subscribers"];
/** What turns cases about steps off: runs through steps wait in the queue. */
export const stepped = {
  offBy: ({ "notification.dispatch.queue": queue }: Config) =>
    queue === "none" ? "notification.dispatch.queue" : undefined,
};
export const sendMail = { key: "mail", send: { channels: ["email"] } };

/** Creates a workflow with a mail that is stored and not sent, and returns the fields of a trigger to a new subscriber. */
export async function createNotification(
  context: CaseContext,
  steps: readonly object[] = [],
  channels: object = {},
): Promise<Json> {
  const name = context.name();
  const email = `${name}@conformance.invalid`;
  const content = { subject: "Conformance", body: "<p>{{payload.text}}</p>" };
  const workflow = { channels: { email: content, ...channels }, steps };
  await context.data("PUT", `${notificationPath}/workflows/${name}`, workflow);
  const integration = { channel: "email", name, provider_key: "development", priority: 1 };
  await context.data("POST", `${notificationPath}/integrations`, integration);
  return { workflow_key: name, subscriber_external_id: name, subscriber: { email }, payload: { text: "first" } };
}

/** Creates the subscriber of a trigger before it. Returns the path of the subscriber, and the trigger without it. */
export async function createSubscriber(
  context: CaseContext,
  { subscriber, ...notification }: Json,
): Promise<{ path: string; notification: Json }> {
  const { subscriber_external_id: external_id } = notification;
  const { id } = await context.data("POST", `${notificationPath}/subscribers`, { external_id, ...subscriber });
  return { path: `${notificationPath}/subscribers/${id}`, notification };
}

/** The messages to the subscriber of the case, when there are as many as expected. */
export async function readOutbox(context: CaseContext, expected = 0): Promise<Json[]> {
  const read = async (): Promise<Json[]> => {
    const messages = await context.data("GET", `${notificationPath}/outbox?limit=100`);
    return messages.filter(({ recipient }: Json) => recipient.startsWith(`${context.name()}@`));
  };
  return context.until(read, ({ length }) => length >= expected);
}

/** Reads a run through the steps of a notification until it is right. */
export function readRun(context: CaseContext, runId: string, isRight: (run: Json) => boolean): Promise<Json> {
  return context.until(() => context.data("GET", `/api/v2/notifications/runs/${runId}`), isRight);
}

export const isCompleted = ({ status }: Json) => status === "completed";
