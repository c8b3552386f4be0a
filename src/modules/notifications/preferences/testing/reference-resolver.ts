import type { Channel } from "../../subscribers/index.ts";
import type { ReasonCode } from "../domain/resolution.ts";
import type { ResolveInput } from "../domain/resolver.ts";
import type { PreferenceSettings, QuietHours } from "../domain/settings.ts";

/** What a condition of the tests comes to, said in JavaScript: it throws where the condition fails. */
export type Meaning = (input: ResolveInput, channel: Channel) => boolean;

interface Voice {
  readonly layer: number;
  readonly row: PreferenceSettings;
  /** What came of the row's own condition. */
  readonly trust: "sound" | "failed";
}

/**
 * The rules once more, as plainly as they can be said and slowly, to hold the resolver against. It shares nothing with
 * it but types.
 */
export function referenceResolution(
  input: ResolveInput,
  channel: Channel,
  meanings: ReadonlyMap<string, Meaning>,
): { allowed: boolean; reasonCode: ReasonCode; winningLayer: number } {
  if (!input.subscriber.active) return denied("denied_subscriber_inactive", 0);
  if (input.channels !== undefined && !input.channels.includes(channel)) return denied("denied_not_requested", 0);

  const ask = (source: string): "holds" | "does not" | "fails" => {
    try {
      return meanings.get(source)!(input, channel) ? "holds" : "does not";
    } catch {
      return "fails";
    }
  };

  // Rows whose condition does not hold are as good as absent.
  const voices: Voice[] = [];
  for (const [layer, row] of present(input)) {
    const answer = row.condition === "" ? "holds" : ask(row.condition);
    if (answer !== "does not") voices.push({ layer, row, trust: answer === "fails" ? "failed" : "sound" });
  }

  let standing = { allowed: true, reasonCode: "allowed_default" as ReasonCode, winningLayer: 0, readOnly: false };
  for (const { layer, row, trust } of voices) {
    const own = row.channels[channel];
    const says = own?.enabled !== undefined ? own.enabled : row.all;
    const readOnly = row.readOnly || own?.readOnly === true;
    const needs = own === undefined ? "" : own.condition;
    const speaks = says !== undefined || readOnly || needs !== "";
    if (!speaks || standing.readOnly) continue;

    let verdict: ReasonCode;
    const wouldAllow = says === undefined ? standing.allowed : says;
    const answer = wouldAllow && needs !== "" ? ask(needs) : "holds";
    if (!wouldAllow) verdict = readOnly ? "denied_read_only" : "denied_by_layer";
    else if (answer === "fails") verdict = "denied_condition_error";
    else if (answer === "does not") verdict = "denied_channel_condition";
    else verdict = readOnly ? "allowed_read_only" : "allowed_by_layer";

    const allows = verdict === "allowed_read_only" || verdict === "allowed_by_layer";
    if (trust === "failed" && allows) continue;
    if (trust === "failed") verdict = "denied_condition_error";
    standing = { allowed: allows, reasonCode: verdict, winningLayer: layer, readOnly };
  }

  if (standing.allowed && !standing.readOnly) {
    const scheduled = voices.filter(({ row }) => row.schedule !== undefined).reverse();
    const strongest = scheduled.find(({ trust }) => trust === "sound");
    const counting = scheduled.filter((voice) => voice === strongest || voice.trust === "failed");
    const silencing = counting.find(({ row }) => isQuiet(row.schedule!, input));
    if (silencing !== undefined) return denied("denied_quiet_hours", silencing.layer);
  }
  const { allowed, reasonCode, winningLayer } = standing;
  return { allowed, reasonCode, winningLayer };
}

function denied(reasonCode: ReasonCode, winningLayer: number) {
  return { allowed: false, reasonCode, winningLayer };
}

/** The rows that are there, from the weakest layer to the strongest. */
function present({ workflow, layers, userId, topicKey, contextKeys }: ResolveInput): [number, PreferenceSettings][] {
  const rows: [number, PreferenceSettings][] = [];
  if (workflow?.preferences !== undefined) rows.push([1, workflow.preferences]);
  if (userId !== "" && layers.user !== undefined) rows.push([2, layers.user]);
  const asSet = (keys: readonly string[]) => JSON.stringify([...new Set(keys)].sort());
  for (const layer of [3, 4, 5] as const) {
    const found = layers.own.find((row) => {
      if (row.layer !== layer) return false;
      if (layer >= 4 && row.workflowKey !== layers.workflowKey) return false;
      return layer < 5 || (topicKey === row.topicKey && asSet(contextKeys) === asSet(row.contextKeys));
    });
    if (found !== undefined) rows.push([layer, found.settings]);
  }
  return rows;
}

/** Whether a schedule is quiet: by writing down every quiet stretch of this day and of the one before. */
function isQuiet({ timezone, ranges }: QuietHours, { subscriber, nowMs }: ResolveInput): boolean {
  const zone = [timezone, subscriber.timezone, "UTC"].find((name) => name !== "")!;
  // Such as 2026-03-29 03:00:00.
  const [date, time] = new Date(nowMs).toLocaleString("sv-SE", { timeZone: zone }).split(" ") as [string, string];
  const today = Date.parse(`${date}T00:00:00Z`);
  const now = Date.parse(`${date}T${time}Z`);
  const dayMs = 24 * 60 * 60 * 1000;
  return ranges.some(({ days, start, end }) =>
    [today - dayMs, today].some((midnight) => {
      const weekday = new Date(midnight).toUTCString().slice(0, 3).toLowerCase();
      if (!(days as string[]).includes(weekday)) return false;
      if (start === end) return midnight === today;
      const at = (hours: string) => midnight + Date.parse(`1970-01-01T${hours}:00Z`);
      return now >= at(start) && now < (end > start ? at(end) : at(end) + dayMs);
    }),
  );
}
