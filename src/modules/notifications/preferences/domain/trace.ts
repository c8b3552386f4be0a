import type { Channel } from "../../subscribers/index.ts";
import type { ConditionResult, Effect, TraceItem } from "./resolution.ts";
import type { Layer, PreferenceSettings } from "./settings.ts";

const applied: ReadonlySet<Effect> = new Set(["allows", "denies", "affirms", "silences"]);

/** From the best to the worst. */
const results: readonly ConditionResult[] = ["none", "true", "false", "error"];

/** A layer without a row. */
export function absentLayer(layer: Layer): TraceItem {
  return {
    layer,
    present: false,
    applied: false,
    enabled: undefined,
    readOnly: false,
    condition: "none",
    effect: "absent",
  };
}

/** A layer with a row: what it did, and what came of its own condition and the channel's. */
export function presentLayer(
  layer: Layer,
  row: PreferenceSettings,
  channel: Channel,
  effect: Effect,
  held: ConditionResult,
  asked: ConditionResult,
): TraceItem {
  const said = row.channels[channel];
  return {
    layer,
    present: true,
    applied: applied.has(effect),
    enabled: said?.enabled ?? row.all,
    readOnly: row.readOnly || said?.readOnly === true,
    condition: results.indexOf(held) < results.indexOf(asked) ? asked : held,
    effect,
  };
}

/** A layer once its quiet hours have decided. */
export function silenced(item: TraceItem): TraceItem {
  return { ...item, applied: true, effect: "silences" };
}

/** The layers of a channel that was decided without them. */
export function unasked(rows: readonly (PreferenceSettings | undefined)[], channel: Channel): TraceItem[] {
  return rows.map((row, i) => {
    const layer = (i + 1) as Layer;
    return row === undefined ? absentLayer(layer) : presentLayer(layer, row, channel, "not_asked", "none", "none");
  });
}
