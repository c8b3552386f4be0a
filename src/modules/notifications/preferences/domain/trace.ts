import type { Channel } from "../../subscribers/index.ts";
import type { ConditionResult, Effect, TraceItem } from "./resolution.ts";
import type { Layer, PreferenceSettings } from "./settings.ts";

const applied: ReadonlySet<Effect> = new Set(["allows", "denies", "affirms", "silences"]);

/** Condition results from the best to the worst. */
const results: readonly ConditionResult[] = ["none", "true", "false", "error"];

/** The trace of a layer without a row. */
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

/** The trace of a layer with a row: its effect and the results of its conditions. */
export function presentLayer(
  layer: Layer,
  row: PreferenceSettings,
  channel: Channel,
  effect: Effect,
  rowResult: ConditionResult,
  channelResult: ConditionResult,
): TraceItem {
  const preference = row.channels[channel];
  return {
    layer,
    present: true,
    applied: applied.has(effect),
    enabled: preference?.enabled ?? row.all,
    readOnly: row.readOnly || preference?.readOnly === true,
    condition: results.indexOf(rowResult) < results.indexOf(channelResult) ? channelResult : rowResult,
    effect,
  };
}

/** The trace of a layer whose quiet hours decided. */
export function silencedLayer(item: TraceItem): TraceItem {
  return { ...item, applied: true, effect: "silences" };
}

/** The traces of a channel that was decided without evaluating its layers. */
export function skippedLayers(rows: readonly (PreferenceSettings | undefined)[], channel: Channel): TraceItem[] {
  return rows.map((row, i) => {
    const layer = (i + 1) as Layer;
    return row === undefined ? absentLayer(layer) : presentLayer(layer, row, channel, "not_asked", "none", "none");
  });
}
