import type { Json, SuiteSource } from "../sandbox/index.ts";
import { messageCases } from "./messages.ts";
import { readEventIds } from "./steps/event-steps.ts";
import {
  createNotification,
  createSubscriber,
  isCompleted,
  notificationCapabilities,
  notificationPath,
  readOutbox,
  readRun,
  sendMail,
  stepped,
  triggerPath,
} from "./steps/notification-steps.ts";
import { createTwice } from "./steps/repeat-steps.ts";

const endpoints = "/api/v2/webhooks/endpoints";

/** Cases about what the instance delivers: events, webhooks and notifications. No request leaves the instance. */
export const deliverySuite: SuiteSource = {
  id: "delivery",
  name: "Delivery",
  description: "How events, webhooks and notifications reach their recipients, once, and nobody else.",
  version: 3,
  defaults: { capabilities: notificationCapabilities, dryRun: false },
  cases: {
    "delivery.notification-once": {
      guarantee: "A trigger that is repeated with its idempotency key sends one message.",
      async run(context) {
        const notification = await createNotification(context);
        const other = { payload: { text: "other" } };
        await createTwice(context, triggerPath, notification, other, (data) => data?.transaction_id);
        context.expect("messages in the outbox", (await readOutbox(context)).length, 1);
      },
    },
    "delivery.broadcast-once": {
      guarantee: "A broadcast that is repeated with its idempotency key reaches every subscriber of its topic once.",
      async run(context) {
        const { workflow_key } = await createNotification(context);
        const topic = context.name();
        await context.data("POST", `${notificationPath}/topics`, { key: topic, name: topic });
        for (const name of ["first", "second"]) {
          const subscriber = { external_id: context.name(name), email: `${topic}@${name}.conformance.invalid` };
          await context.data("POST", `${notificationPath}/subscribers`, subscriber);
        }
        const subscriber_ids = ["first", "second", "first"].map((name) => context.name(name));
        for (const id of subscriber_ids) {
          await context.data("POST", `${notificationPath}/topics/${topic}/subscribers`, { subscriber_ids: [id] });
        }
        const other = { payload: { text: "other" } };
        await createTwice(context, triggerPath, { workflow_key, topic }, other, (data) => data?.transaction_id);
        const messages = await readOutbox(context, 2);
        const recipients = messages.map(({ recipient }) => recipient);
        context.expect("messages", recipients.length, 2);
        context.expect("recipients", new Set(recipients).size, 2);
      },
    },
    "delivery.preferences-respected": {
      guarantee: "A channel that the subscriber has turned off is not used, and the preview says so.",
      async run(context) {
        const { path, notification } = await createSubscriber(context, await createNotification(context));
        const { workflow_key } = notification;
        const preferences = `${path}/preferences`;
        await context.data("POST", preferences, { workflow_key, channels: { email: { enabled: false } } });
        const asked = { workflow_key, channels: ["email"] };
        const { channels } = await context.data("POST", `${preferences}:preview`, asked);
        const preview = channels.find(({ channel }: Json) => channel === "email");
        context.expect("the preview allows it", preview?.allowed ?? false, false);
        const { outcomes } = await context.data("POST", triggerPath, notification);
        context.expect("outcome of the trigger", outcomes[0]?.outcome ?? "", "skipped");
        context.expect("messages in the outbox", (await readOutbox(context)).length, 0);
      },
    },
    "delivery.values-escaped": {
      guarantee: "Values in the HTML of a mail cannot become markup.",
      async run(context) {
        const notification = await createNotification(context);
        await context.data("POST", triggerPath, { ...notification, payload: { text: "<b>bold</b>" } });
        const [message] = await readOutbox(context);
        context.expect("the mail", message?.html ?? "", "<p>&lt;b&gt;bold&lt;/b&gt;</p>");
      },
    },
    "delivery.digest": {
      guarantee: "A digest sends one message for all triggers of its window.",
      ...stepped,
      async run(context) {
        const body = "{{#each digest.events}}{{this.payload.text}} {{/each}}";
        const digest = { key: "batch", digest: { key: "'all'", window: { for_s: 4 } } };
        const email = { subject: "Conformance", body };
        const notification = await createNotification(context, [digest, sendMail], { email });
        const triggers = ["first", "second"].map((text) => ({ ...notification, payload: { text } }));
        const { results } = await context.data("POST", `${triggerPath}:batch`, { triggers });
        for (const { run_id } of results) await readRun(context, run_id, isCompleted);
        const messages = await readOutbox(context, 1);
        context.expect("messages", messages.length, 1);
        const texts = messages[0]?.html.trim().split(" ").sort();
        context.expect("texts in the message", texts?.join(" ") ?? "", "first second");
      },
    },
    "delivery.delay-cancelled": {
      guarantee: "A message that a delay holds is not sent after its trigger is cancelled.",
      ...stepped,
      async run(context) {
        const delay = { key: "wait", delay: { for_s: 3600 } };
        const notification = await createNotification(context, [delay, sendMail]);
        const { run_id, transaction_id } = await context.data("POST", triggerPath, notification);
        const held = await readRun(context, run_id, ({ step_key }) => step_key === "wait");
        context.expect("status before", held.status, "waiting");
        const cancel = `/api/v2/notifications/triggers/${transaction_id}:cancel`;
        const { body } = await context.send("POST", cancel, { body: {} });
        context.expect("cancelled runs", body?.data?.cancelled_runs ?? 0, 1);
        context.expect("messages in the outbox", (await readOutbox(context)).length, 0);
      },
    },
    "delivery.read-in-inbox": {
      guarantee: "A mail for unread inbox messages is not sent when the message is read in time.",
      ...stepped,
      async run(context) {
        const in_app = { title: "Conformance", body: "{{payload.text}}" };
        const unread = [
          { key: "inbox", send: { channels: ["in_app"] } },
          { key: "unread", await_inbox: { step: "inbox", state: "read", for_s: 3600 } },
          { ...sendMail, condition: "!steps.inbox.read" },
        ];
        const created = await createNotification(context, unread, { in_app });
        const { path, notification } = await createSubscriber(context, created);
        const { run_id } = await context.data("POST", triggerPath, notification);
        const inbox = `${path}/inbox`;
        const read = () => context.data("GET", inbox);
        const [message] = await context.until(read, ({ length }) => length > 0);
        await context.data("POST", `${inbox}/${message?.id}:mark`, { read: true });
        const { status, outcomes } = await readRun(context, run_id, isCompleted);
        context.expect("status of the run", status, "completed");
        context.expect("outcome of the mail", outcomes.at(-1)?.outcome ?? "", "skipped");
      },
    },
    "delivery.event-log": {
      guarantee: "Events are on the log once, in the order of their publication.",
      capabilities: ["events"],
      async run(context) {
        const subject = context.name();
        const event = (n: number) => ({ type: "checks.published", subject, data: { n } });
        await createTwice(context, "/api/events", event(0), event(9), (data) => data?.id);
        for (const n of [1, 2]) await context.data("POST", "/api/events", event(n));
        const listed = await context.data("GET", `/api/events?types=checks.published&subject=${subject}`);
        context.expect("events, newest first", listed.map(({ data }: Json) => data.n).join(), "2,1,0");
      },
    },
    "delivery.event-stream": {
      guarantee: "A follower of the event log that reconnects gets every later event once, in order.",
      capabilities: ["events"],
      async run(context) {
        const type = "checks.followed";
        const publish = async (): Promise<string> => (await context.data("POST", "/api/events", { type })).id;
        const ids = [await publish(), await publish(), await publish()];
        const [first, ...later] = ids;
        const followed = context.send("GET", `/api/events/subscribe?types=${type}`, {
          headers: { "last-event-id": first! },
          isEnough: (text) => readEventIds(text).length >= 3,
        });
        later.push(await publish());
        context.expect("events after the first", readEventIds((await followed).text).join() === later.join(), true);
      },
    },
    "delivery.webhook-guarded": {
      guarantee: "A webhook cannot point to the metadata service of the machine.",
      capabilities: ["webhooks"],
      offBy: (config) => (config["egress.mode"] === "disabled" ? "egress.mode" : undefined),
      async run(context) {
        const body = { url: "https://169.254.169.254/conformance" };
        const { code } = await context.send("POST", endpoints, { body });
        context.expect("creation", code, "INVALID_ARGUMENT");
      },
    },
    "delivery.webhook-secret": {
      guarantee:
        "The secret that signs webhooks is returned once, and after a rotation the one before is valid for a while.",
      capabilities: ["webhooks"],
      async run(context) {
        // Nothing is sent: no event has this type.
        const [host = "conformance.invalid"] = context.config["egress.allowed_domains"];
        const url = `https://${host.replace("*", "conformance")}/conformance`;
        const { id, secret } = await context.data("POST", endpoints, { url, event_types: ["checks.never"] });
        const read = await context.send("GET", `${endpoints}/${id}`);
        context.expect("status of a read", read.status, 200);
        context.expect("the read returns it", read.text.includes(secret), false);
        const rotated = await context.data("POST", `${endpoints}/${id}:rotate_secret`, {});
        context.expect("the rotation returns another one", rotated.secret !== secret, true);
        const validMs = Date.parse(rotated.previous_secret_valid_until) - Date.parse(rotated.updated_at);
        context.expect("hours for which the one before is valid", Math.round(validMs / 3_600_000), 24);
        await context.data("DELETE", `${endpoints}/${id}`);
      },
    },
    ...messageCases,
  },
};
