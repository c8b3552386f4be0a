/**
 * The resolver: decides on which channels a subscriber receives a workflow's notifications.
 *
 * There are five layers with at most one row each, from the weakest to the strongest: 1 the workflow's default, 2 the
 * workflow's setting for one user, 3 the subscriber's setting for everything, 4 the subscriber's setting for the
 * workflow, 5 the subscriber's setting for the workflow in a topic. Each channel is decided independently:
 *
 * - A channel without any setting is allowed.
 * - A row whose condition does not match is ignored.
 * - A row's setting for a channel is `enabled`, or else `all`. A row applies to a channel when it has such a setting,
 *   makes the channel read-only, or has a condition for it. Without `enabled` and `all` it confirms the decision so far.
 * - A channel's condition is evaluated only if the row would allow the channel. If it does not match or fails, the row
 *   denies.
 * - A row that applies overrides weaker rows, unless one of them that took effect set the channel read-only.
 * - A row whose own condition fails takes effect only if it denies.
 * - Quiet hours are those of the strongest row that has a schedule, plus those of rows whose condition failed. During
 *   quiet hours an allowed channel is denied, unless the winning layer set it read-only. If they hold messages, it is
 *   allowed again when they end.
 *
 * A failure therefore never widens what is delivered. Decisions and previews use the same code.
 */
import type { Channel, Subscriber } from "../../subscribers/index.ts";
import { Conditions } from "./condition.ts";
import { type Layers, layerRows, orderedKeys } from "./layers.ts";
import { isQuiet, quietEndMs } from "./quiet-hours.ts";
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
import { absentLayer, presentLayer, silencedLayer, skippedLayers } from "./trace.ts";
import type { NotificationWorkflow } from "./workflow.ts";

/** The input of a decision. */
export interface ResolveInput {
  /** Undefined when no workflow has the key; there is no layer 1 then. */
  readonly workflow: Pick<NotificationWorkflow, "preferences"> | undefined;
  readonly layers: Layers;
  readonly subscriber: Subscriber;
  /** Empty for no user; there is no layer 2 then. */
  readonly userId: string;
  /** Empty for no topic; there is no layer 5 then. */
  readonly topicKey: string;
  readonly contextKeys: readonly string[];
  readonly channels: readonly Channel[] | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

type Rows = readonly (PreferenceSettings | undefined)[];
/** Collects the trace of a channel; undefined when no trace is wanted. */
type Trace = TraceItem[] | undefined;

/** Decides every channel. */
export function resolve(input: ResolveInput): ReadonlyMap<Channel, Resolution> {
  return decide(input, () => undefined);
}

/** Decides every channel like `resolve` and returns the trace of each decision. */
export function resolveWithTrace(input: ResolveInput): TracedResolution[] {
  const traces = new Map<Channel, TraceItem[]>(channels.map((channel) => [channel, []]));
  const decided = decide(input, (channel) => traces.get(channel));
  return [...decided].map(([channel, each]) => ({ ...each, channel, trace: traces.get(channel)! }));
}

function decide(input: ResolveInput, traceOf: (channel: Channel) => Trace): ReadonlyMap<Channel, Resolution> {
  const { workflow, layers, subscriber, userId, topicKey } = input;
  const contextKeys = orderedKeys(input.contextKeys);
  const second = userId === "" ? undefined : layers.user;
  const rows = layerRows(workflow?.preferences, second, layers, topicKey, contextKeys);
  const facts = { subscriber, payload: input.payload, workflowKey: layers.workflowKey, topicKey, contextKeys, userId };
  const conditions = new Conditions(facts);
  const hasSchedules = rows.some((row) => row?.schedule !== undefined);

  const decided = new Map<Channel, Resolution>();
  for (const channel of channels) {
    const trace = traceOf(channel);
    if (!subscriber.active || input.channels?.includes(channel) === false) {
      trace?.push(...skippedLayers(rows, channel));
      const reason = subscriber.active ? "denied_not_requested" : "denied_subscriber_inactive";
      decided.set(channel, resolution(reason, 0));
      continue;
    }
    const { winner, reason, readOnly } = decideChannel(rows, channel, conditions, trace);
    const mayBeQuiet = hasSchedules && !readOnly && reason.startsWith("allowed");
    const quietLayer = mayBeQuiet ? findQuietLayer(rows, channel, conditions, input) : 0;
    if (trace !== undefined && quietLayer !== 0) trace[quietLayer - 1] = silencedLayer(trace[quietLayer - 1]!);
    decided.set(channel, quietLayer === 0 ? resolution(reason, winner) : silenced(rows, quietLayer, input));
  }
  return decided;
}

/** The decision of quiet hours. Those that never end cannot hold anything. */
function silenced(rows: Rows, layer: Layer, { subscriber, nowMs }: ResolveInput): Resolution {
  const schedule = rows[layer - 1]!.schedule!;
  const heldUntilMs = schedule.mode === "hold" ? quietEndMs(schedule, subscriber.timezone, nowMs) : undefined;
  if (heldUntilMs === undefined) return resolution("denied_quiet_hours", layer);
  return { ...resolution("held_quiet_hours", layer), heldUntilMs };
}

/** Decides one channel, without quiet hours. */
function decideChannel(rows: Rows, channel: Channel, conditions: Conditions, trace: Trace) {
  let allowed = true;
  let winner: Layer | 0 = 0;
  let reason: ReasonCode = "allowed_default";
  /** Whether the winning layer locks the channel against stronger layers. */
  let readOnly = false;

  for (let layer = 1; layer <= 5; layer++) {
    const row = rows[layer - 1];
    if (row === undefined) {
      trace?.push(absentLayer(layer as Layer));
      continue;
    }
    const preference = row.channels[channel];
    const enabled = preference?.enabled ?? row.all;
    const locks = row.readOnly || preference?.readOnly === true;
    const hasCondition = preference !== undefined && preference.condition !== "";
    const rowResult = conditions.evaluate(row.condition, channel);
    let channelResult: ConditionResult = "none";
    let effect: Effect;
    if (rowResult === "false") effect = "ignored";
    else if (enabled === undefined && !locks && !hasCondition) effect = "silent_on_channel";
    else if (readOnly) effect = "locked";
    else {
      const wouldAllow: boolean = enabled ?? allowed;
      if (wouldAllow && hasCondition) channelResult = conditions.evaluate(preference.condition, channel);
      const allows: boolean = wouldAllow && (channelResult === "none" || channelResult === "true");
      if (allows && rowResult === "error") effect = "not_counted";
      else {
        const affirms = enabled === undefined && allows === allowed && rowResult !== "error";
        effect = affirms ? "affirms" : allows ? "allows" : "denies";
        reason = reasonOf(allows, rowResult, channelResult, locks);
        allowed = allows;
        winner = layer as Layer;
        readOnly = locks;
      }
    }
    trace?.push(presentLayer(layer as Layer, row, channel, effect, rowResult, channelResult));
  }
  return { winner, reason, readOnly };
}

/** The reason of a row's decision. Condition errors take precedence over read-only. */
function reasonOf(
  allows: boolean,
  rowResult: ConditionResult,
  channelResult: ConditionResult,
  locks: boolean,
): ReasonCode {
  if (allows) return locks ? "allowed_read_only" : "allowed_by_layer";
  if (rowResult === "error" || channelResult === "error") return "denied_condition_error";
  if (channelResult === "false") return "denied_channel_condition";
  return locks ? "denied_read_only" : "denied_by_layer";
}

/** The strongest layer whose quiet hours apply now; 0 for none. */
function findQuietLayer(
  rows: Rows,
  channel: Channel,
  conditions: Conditions,
  { subscriber, nowMs }: ResolveInput,
): Layer | 0 {
  /** Whether a stronger row without a failed condition has a schedule. Weaker rows then count only if theirs failed. */
  let hasCertainRow = false;
  for (let layer = 5; layer >= 1; layer--) {
    const row = rows[layer - 1];
    if (row?.schedule === undefined) continue;
    const rowResult = conditions.evaluate(row.condition, channel);
    if (rowResult === "false" || (hasCertainRow && rowResult !== "error")) continue;
    if (isQuiet(row.schedule, subscriber.timezone, nowMs)) return layer as Layer;
    hasCertainRow ||= rowResult !== "error";
  }
  return 0;
}
