export type { CallbackSpec, MessageEventKind, MessageEventSpec, SnsVerifySpec } from "./language/messages/callbacks.ts";
export type {
  ChannelSpec,
  FailureRule,
  MessageChannel,
  MessageFailure,
  MessageSpec,
  SendSpec,
} from "./language/messages/messages.ts";
