import type { JsonObject } from "../../../../platform/document/index.ts";
import { manifestWith } from "./manifest-documents.ts";

const send = { action: "item.get", input: { id: "{message.to}" } };
const email = { send: [send] };
const hmac = { kind: "hmac", header: "x-signature" };
const callbacks = {
  verify: hmac,
  secret: "{credentials.api_key}",
  message_id: "item.id",
  event_id: "item.id",
  events: [{ when: "true", kind: "delivered" }],
};
const notifying = (members: JsonObject) => manifestWith({ notifications: { channels: { email }, ...members } });
const sending = (members: JsonObject) => notifying({ channels: { email: { send: [{ ...send, ...members }] } } });
const calling = (members: JsonObject) => notifying({ callbacks: { ...callbacks, ...members } });

/** One manifest for each rule of notifications. */
export const refusedMessages: readonly (readonly [string, JsonObject, string, string, RegExp])[] = [
  [
    "a message goes to a known channel",
    notifying({ channels: { mail: email } }),
    "notifications.channels.mail",
    "unknown_field",
    /channels are|did you mean/,
  ],
  [
    "a message is sent by an action of the manifest",
    sending({ action: "item.got" }),
    "notifications.channels.email.send[0].action",
    "reference",
    /did you mean item\.get\?/,
  ],
  [
    "a message has the inputs that the action requires",
    sending({ input: {} }),
    "notifications.channels.email.send[0].input.id",
    "required",
    /required by the action/,
  ],
  [
    "a message has no other inputs",
    sending({ input: { id: "{message.to}", expnd: true } }),
    "notifications.channels.email.send[0].input.expnd",
    "unknown_field",
    /did you mean expand\?/,
  ],
  [
    "a message has known members",
    sending({ input: { id: "{message.address}" } }),
    "notifications.channels.email.send[0].input.id",
    "placeholder",
    /is not declared/,
  ],
  [
    "a message is used only in notifications",
    manifestWith({ headers: { "x-to": "{message.to}" } }),
    'headers["x-to"]',
    "placeholder",
    /not available here/,
  ],
  [
    "a failure is limited",
    notifying({ failures: [{ as: "unavailable" }] }),
    "notifications.failures[0]",
    "required",
    /every refusal/,
  ],
  [
    "a failure has a known meaning",
    notifying({ failures: [{ class: ["not_found"], as: "gone" }] }),
    "notifications.failures[0].as",
    "choice",
    /must be "recipient_rejected"/,
  ],
  [
    "callbacks are verified",
    calling({ verify: { kind: "none", reason: "No signature." } }),
    "notifications.callbacks.verify",
    "choice",
    /must verify/,
  ],
  [
    "callbacks have a secret",
    notifying({ callbacks: { ...callbacks, secret: "{credentials.hook}" } }),
    "notifications.callbacks.secret",
    "placeholder",
    /is not declared/,
  ],
  [
    "an event has a known kind",
    calling({ events: [{ when: "true", kind: "arrived" }] }),
    "notifications.callbacks.events[0].kind",
    "choice",
    /must be "delivered"/,
  ],
  [
    "a signature in the body covers its timestamp",
    calling({ verify: { kind: "body_hmac", signature: "/s", over: ["/token"], timestamp: { pointer: "/t" } } }),
    "notifications.callbacks.verify.over",
    "required",
    /does not cover it/,
  ],
  [
    "a signed token has a private key",
    manifestWith({ auth: { signed_jwt: { fields: { team: { title: "Team" } }, issuer: "{credentials.team}" } } }),
    "auth.signed_jwt.fields",
    "required",
    /private_key/,
  ],
];
