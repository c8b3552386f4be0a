import type { Clock } from "../../../platform/clock/clock.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
import type { PerformAction } from "../actions/index.ts";
import type { OpenConnection } from "../connections/index.ts";
import {
  encodeMimeWords,
  type MessageSpec,
  placeholdersIn,
  RenderError,
  renderValue,
  type SendSpec,
  valueAt,
} from "../manifests/index.ts";
import { secretOf } from "./callback-secret.ts";
import type { ChannelMessage, MessageOutcome } from "./domain/message.ts";
import { holds, outcomeOf } from "./domain/refusal.ts";
import type { FindProvider } from "./pinned-provider.ts";

interface Dependencies {
  readonly clock: Clock;
  readonly findProvider: FindProvider;
  readonly perform: PerformAction;
}

/** Sends a message as the manifest of the connection's provider describes. */
export type SendMessage = (
  connection: OpenConnection,
  message: ChannelMessage,
  signal: AbortSignal,
) => Promise<MessageOutcome>;

/** The longest time of one request. A caller may be waiting for it. */
const timeoutMsMax = 20_000;

export function createMessageSender({ clock, findProvider, perform }: Dependencies): SendMessage {
  return async (connection, message, signal) => {
    const provider = await findProvider(connection);
    const spec = provider?.messages;
    const channel = spec?.channels.get(message.channel);
    if (provider === undefined || spec === undefined || channel === undefined) return unsendable(noChannel);
    const facts = factsOf(message);
    const send = channel.send.find(({ when }) => holds(when, { message: facts }));
    const action = send && provider.actions.get(send.action);
    if (send === undefined || action === undefined) return unsendable("no way to send matches the message");
    if (message.attachments.length > 0 && !takesAttachments(send)) return unsendable("it takes no attachments");
    const input = renderInput(send, connection, facts, clock.now());
    if (typeof input === "string") return unsendable(input);
    const result = await perform({
      ...{ provider, action, input, connection, signal },
      idempotencyKey: message.key,
      timeoutMs: Math.min(action.timeoutMs, timeoutMsMax),
    });
    switch (result.kind) {
      case "succeeded":
        return accepted(send, spec, connection, message, result.output);
      case "unsendable":
        return unsendable(result.message);
      case "refused":
        return outcomeOf(spec, result, clock.now());
    }
  };
}

const noChannel = "the provider does not serve the channel";

function unsendable(reason: string): MessageOutcome {
  return { kind: "unsendable", detail: `The message does not fit the provider: ${reason}.` };
}

function accepted(
  { messageId }: SendSpec,
  spec: MessageSpec,
  connection: OpenConnection,
  { deliveryId }: ChannelMessage,
  output: Json,
): MessageOutcome {
  const isObserved = spec.callbacks !== undefined && secretOf(spec.callbacks, connection) !== undefined;
  if (messageId === undefined) return { kind: "accepted", messageId: deliveryId, isObserved };
  const found = valueAt(output, messageId);
  const id = typeof found === "number" ? String(found) : found;
  if (typeof id === "string" && /^[\x21-\x7e]{1,256}$/.test(id)) return { kind: "accepted", messageId: id, isObserved };
  const detail = "The provider accepted the message without returning its id.";
  return { kind: "unknown", isRepeatable: false, detail };
}

/** The message as manifests see it. A text that is empty on one channel falls back to the one of another. */
function factsOf({ headers, attachments, ...message }: ChannelMessage): JsonObject {
  const { deliveryId, channel, to, subject, title, text, html, data } = message;
  const encoded = Object.entries(headers).map(([name, value]) => [name, encodeMimeWords(value)] as const);
  return {
    ...{ delivery_id: deliveryId, channel, to: to.identity, to_data: to.metadata as JsonObject },
    ...{ subject, title: title || subject, text: text || title || subject, html, data: data as JsonObject },
    ...(encoded.length > 0 && { headers: Object.fromEntries(encoded) }),
    ...(attachments.length > 0 && {
      attachments: attachments.map(({ contentType, ...file }) => ({ ...file, content_type: contentType })),
    }),
  };
}

function takesAttachments({ input }: SendSpec): boolean {
  return placeholdersIn(input).some(({ root, path }) => root === "message" && path[0] === "attachments");
}

/** The input of the action, or why there is none. */
function renderInput(
  { input }: SendSpec,
  account: OpenConnection,
  facts: JsonObject,
  nowMs: number,
): JsonObject | string {
  // An empty text is absent, so that it drops the member that holds it.
  const message = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== ""));
  try {
    return renderValue(input, { input: {}, account, message, nowMs }) as JsonObject;
  } catch (error) {
    if (error instanceof RenderError) return `${error.fault.place} ${error.fault.message}`;
    throw error;
  }
}
