/**
 * The resolver: on which channels a subscriber is to get what a workflow says.
 *
 * Five layers say something, each with one row at most, from the weakest to the strongest: 1 the workflow's default,
 * 2 the workflow's for one user, 3 the subscriber's for everything, 4 the subscriber's for the workflow, 5 the
 * subscriber's for the workflow in a topic. Every channel is decided by itself:
 *
 * - A channel that nobody says anything about is allowed.
 * - A row whose condition does not hold is as good as absent.
 * - A row says `enabled` of the channel, or else `all`. It speaks for the channel when it says one of them, or makes the
 *   channel read-only, or has a condition for it. With neither `enabled` nor `all` it affirms what stands so far.
 * - A channel's condition is asked where the row would allow: it denies unless it holds, and when it fails.
 * - A row that speaks takes the place of what weaker ones said, unless one that counted set the channel read-only.
 * - A row whose own condition fails counts where it comes to a denial, never where it comes to an allowance.
 * - Quiet hours are those of the strongest row that has any, and besides them those of rows whose condition failed.
 *   While they last, what is allowed is denied, unless the layer that won set the channel read-only.
 *
 * So whatever fails never widens what is delivered. What decides and what previews is the same code.
 */
import type { Channel, Subscriber } from "../../subscribers/index.ts";
import { Conditions } from "./condition.ts";
import { type Layers, orderedKeys, rowsOf } from "./layers.ts";
import { isSilent } from "./quiet-hours.ts";
import {
  type ConditionResult,
  type Effect,
  type ReasonCode,
  type Resolution,
  resolution,
  type TracedResolution,
  type TraceItem,
} from "./resolution.ts";
import { channels, type Layer, type PreferenceSettings } from "./settings.ts";
import { absentLayer, presentLayer, silenced, unasked } from "./trace.ts";
import type { NotificationWorkflow } from "./workflow.ts";

/** What a decision is made of. */
export interface ResolveInput {
  /** Undefined where there is none with the key: it has no layer 1 then. */
  readonly workflow: Pick<NotificationWorkflow, "preferences"> | undefined;
  readonly layers: Layers;
  readonly subscriber: Subscriber;
  /** Empty for none: there is no layer 2 then. */
  readonly userId: string;
  /** Empty for none: there is no layer 5 then. */
  readonly topicKey: string;
  readonly contextKeys: readonly string[];
  /** Undefined for all. */
  readonly channels: readonly Channel[] | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

type Rows = readonly (PreferenceSettings | undefined)[];
/** Where the trace of a channel goes; undefined when nobody wants it. */
type Trace = TraceItem[] | undefined;

/** Decides on every channel. */
export function resolve(input: ResolveInput): ReadonlyMap<Channel, Resolution> {
  return decide(input, () => undefined);
}

/** Decides in the very same way, and tells how. */
export function resolveWithTrace(input: ResolveInput): TracedResolution[] {
  const traces = new Map<Channel, TraceItem[]>(channels.map((channel) => [channel, []]));
  const decided = decide(input, (channel) => traces.get(channel));
  return [...decided].map(([channel, each]) => ({ ...each, channel, trace: traces.get(channel)! }));
}

function decide(input: ResolveInput, traceOf: (channel: Channel) => Trace): ReadonlyMap<Channel, Resolution> {
  const { workflow, layers, subscriber, userId, topicKey } = input;
  const contextKeys = orderedKeys(input.contextKeys);
  const second = userId === "" ? undefined : layers.user;
  const rows = rowsOf(workflow?.preferences, second, layers, topicKey, contextKeys);
  const facts = { subscriber, payload: input.payload, workflowKey: layers.workflowKey, topicKey, contextKeys, userId };
  const conditions = new Conditions(facts);
  const quiet = rows.some((row) => row?.schedule !== undefined);

  const decided = new Map<Channel, Resolution>();
  for (const channel of channels) {
    const trace = traceOf(channel);
    if (!subscriber.active || input.channels?.includes(channel) === false) {
      trace?.push(...unasked(rows, channel));
      const reason = subscriber.active ? "denied_not_requested" : "denied_subscriber_inactive";
      decided.set(channel, resolution(reason, 0));
      continue;
    }
    const { winner, reason, readOnly } = decideChannel(rows, channel, conditions, trace);
    const open = quiet && !readOnly && reason.startsWith("allowed");
    const silencing = open ? silencingLayer(rows, channel, conditions, input) : 0;
    if (trace !== undefined && silencing !== 0) trace[silencing - 1] = silenced(trace[silencing - 1]!);
    decided.set(channel, silencing === 0 ? resolution(reason, winner) : resolution("denied_quiet_hours", silencing));
  }
  return decided;
}

/** What the layers come to, apart from quiet hours. */
function decideChannel(rows: Rows, channel: Channel, conditions: Conditions, trace: Trace) {
  let allowed = true;
  let winner: Layer | 0 = 0;
  let reason: ReasonCode = "allowed_default";
  /** Whether the winner keeps stronger layers out. */
  let readOnly = false;

  for (let layer = 1; layer <= 5; layer++) {
    const row = rows[layer - 1];
    if (row === undefined) {
      trace?.push(absentLayer(layer as Layer));
      continue;
    }
    const said = row.channels[channel];
    const enabled = said?.enabled ?? row.all;
    const locks = row.readOnly || said?.readOnly === true;
    const hasCondition = said !== undefined && said.condition !== "";
    const held = conditions.ask(row.condition, channel);
    let asked: ConditionResult = "none";
    let effect: Effect;
    if (held === "false") effect = "ignored";
    else if (enabled === undefined && !locks && !hasCondition) effect = "silent_on_channel";
    else if (readOnly) effect = "locked";
    else {
      const would: boolean = enabled ?? allowed;
      if (would && hasCondition) asked = conditions.ask(said.condition, channel);
      const allows: boolean = would && (asked === "none" || asked === "true");
      if (allows && held === "error") effect = "not_counted";
      else {
        const affirms = enabled === undefined && allows === allowed && held !== "error";
        effect = affirms ? "affirms" : allows ? "allows" : "denies";
        reason = reasonOf(allows, held, asked, locks);
        allowed = allows;
        winner = layer as Layer;
        readOnly = locks;
      }
    }
    trace?.push(presentLayer(layer as Layer, row, channel, effect, held, asked));
  }
  return { winner, reason, readOnly };
}

/** Why a row that counts comes to what it does: what failed is told before what locks. */
function reasonOf(allows: boolean, held: ConditionResult, asked: ConditionResult, locks: boolean): ReasonCode {
  if (allows) return locks ? "allowed_read_only" : "allowed_by_layer";
  if (held === "error" || asked === "error") return "denied_condition_error";
  if (asked === "false") return "denied_channel_condition";
  return locks ? "denied_read_only" : "denied_by_layer";
}

/** The strongest layer whose quiet hours count and hold now; 0 for none. */
function silencingLayer(
  rows: Rows,
  channel: Channel,
  conditions: Conditions,
  { subscriber, nowMs }: ResolveInput,
): Layer | 0 {
  /** Whether a row has spoken that is beyond doubt: weaker ones count only where their condition failed. */
  let settled = false;
  for (let layer = 5; layer >= 1; layer--) {
    const row = rows[layer - 1];
    if (row?.schedule === undefined) continue;
    const held = conditions.ask(row.condition, channel);
    if (held === "false" || (settled && held !== "error")) continue;
    if (isSilent(row.schedule, subscriber.timezone, nowMs)) return layer as Layer;
    settled ||= held !== "error";
  }
  return 0;
}
