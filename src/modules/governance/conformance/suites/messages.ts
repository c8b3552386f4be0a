import type { CaseSource, Json } from "../sandbox/index.ts";
import { readEventIds } from "./steps/event-steps.ts";
import {
  createNotification,
  createSubscriber,
  notificationCapabilities,
  readOutbox,
  readRun,
  sendMail,
  stepped,
  triggerPath,
} from "./steps/notification-steps.ts";

/** Cases about the form of messages, when they are sent, and how a page follows them. */
export const messageCases: Readonly<Record<string, CaseSource>> = {
  "delivery.layout": {
    guarantee: "A layout wraps the message of a trigger that names it.",
    capabilities: [...notificationCapabilities, "layouts"],
    async run(context) {
      const notification = await createNotification(context);
      const layout = { channel: "email", name: context.name(), body: "<main>{{content}}</main>" };
      const { id: layout_id } = await context.data("POST", "/api/v2/layouts", layout);
      await context.data("POST", triggerPath, { ...notification, overrides: { email: { layout_id } } });
      const [message] = await readOutbox(context);
      context.expect("the mail", message?.html ?? "", "<main><p>first</p></main>");
    },
  },
  "delivery.throttle": {
    guarantee: "A throttle lets as many triggers through as its limit, and says that it stopped the others.",
    ...stepped,
    async run(context) {
      const limit = { key: "limit", throttle: { limit: 1, window_s: 3600 } };
      const notification = await createNotification(context, [limit, sendMail]);
      const reasons: string[] = [];
      for (let n = 0; n < 2; n++) {
        const { run_id } = await context.data("POST", triggerPath, notification);
        const run = await readRun(context, run_id, ({ status }) => status === "completed" || status === "stopped");
        reasons.push(run.reason);
      }
      context.expect("reasons of the ends", reasons.join(), ",throttled");
    },
  },
  "delivery.quiet-hours": {
    guarantee: "Quiet hours follow the clocks of the subscriber's time zone.",
    async run(context) {
      const { subscriber, ...rest } = await createNotification(context);
      const berliner = { ...rest, subscriber: { ...subscriber, timezone: "Europe/Berlin" } };
      const { path } = await createSubscriber(context, berliner);
      const ranges = [{ days: ["fri", "mon"], start: "09:00", end: "10:00" }];
      await context.data("POST", `${path}/preferences`, { schedule: { ranges } });
      const reasonAt = async (at: string): Promise<string> => {
        const asked = { workflow_key: rest.workflow_key, channels: ["email"], at };
        const { channels } = await context.data("POST", `${path}/preferences:preview`, asked);
        return channels.find(({ channel }: Json) => channel === "email")?.reason_code ?? "";
      };
      context.expect("in winter", await reasonAt("2027-03-26T08:30:00Z"), "denied_quiet_hours");
      context.expect("in summer", await reasonAt("2027-03-29T07:30:00Z"), "denied_quiet_hours");
      context.expect("an hour later", await reasonAt("2027-03-29T08:30:00Z"), "allowed_default");
    },
  },
  "delivery.inbox-stream": {
    guarantee: "A follower of an inbox that reconnects gets every later message.",
    async run(context) {
      const in_app = { title: "Conformance", body: "{{payload.text}}" };
      const created = await createNotification(context, [], { in_app });
      const { path, notification } = await createSubscriber(context, created);
      const send = (text: string) =>
        context.data("POST", triggerPath, { ...notification, channels: ["in_app"], payload: { text } });
      const follow = async (count: number, headers: Record<string, string>): Promise<string> => {
        const isEnough = (text: string) => readEventIds(text).length >= count;
        return (await context.send("GET", `${path}/inbox:watch`, { headers, isEnough })).text;
      };
      await send("first");
      // A stream with an id that is unknown starts with a snapshot.
      const [id = ""] = readEventIds(await follow(1, { "last-event-id": "unknown" }));
      await send("second");
      await send("third");
      const later = await follow(2, { "last-event-id": id });
      const seen = ["first", "second", "third"].filter((text) => later.includes(`"body":"${text}"`));
      context.expect("messages after the first", seen.join(), "second,third");
    },
  },
};
