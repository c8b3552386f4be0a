import type { Channel } from "../../subscribers/index.ts";
import type { ReasonCode } from "../domain/resolution.ts";
import type { ResolveInput } from "../domain/resolver.ts";
import type { PreferenceSettings, QuietHours } from "../domain/settings.ts";

/** A test condition evaluated in JavaScript; throws where the condition fails. */
export type TestCondition = (input: ResolveInput, channel: Channel) => boolean;

interface ActiveRow {
  readonly layer: number;
  readonly row: PreferenceSettings;
  /** Whether the row's own condition failed. */
  readonly conditionStatus: "ok" | "failed";
}

/**
 * A second, simple and slow implementation of the rules, to compare the resolver with. It shares only types with the
 * resolver.
 */
export function referenceResolution(
  input: ResolveInput,
  channel: Channel,
  testConditions: ReadonlyMap<string, TestCondition>,
): { allowed: boolean; reasonCode: ReasonCode; winningLayer: number } {
  if (!input.subscriber.active) return denied("denied_subscriber_inactive", 0);
  if (input.channels !== undefined && !input.channels.includes(channel)) return denied("denied_not_requested", 0);

  const evaluate = (source: string): "holds" | "does not" | "fails" => {
    try {
      return testConditions.get(source)!(input, channel) ? "holds" : "does not";
    } catch {
      return "fails";
    }
  };

  // Rows whose condition does not match are ignored.
  const activeRows: ActiveRow[] = [];
  for (const [layer, row] of present(input)) {
    const result = row.condition === "" ? "holds" : evaluate(row.condition);
    if (result !== "does not") activeRows.push({ layer, row, conditionStatus: result === "fails" ? "failed" : "ok" });
  }

  let decision = { allowed: true, reasonCode: "allowed_default" as ReasonCode, winningLayer: 0, readOnly: false };
  for (const { layer, row, conditionStatus } of activeRows) {
    const own = row.channels[channel];
    const setting = own?.enabled !== undefined ? own.enabled : row.all;
    const readOnly = row.readOnly || own?.readOnly === true;
    const condition = own === undefined ? "" : own.condition;
    const applies = setting !== undefined || readOnly || condition !== "";
    if (!applies || decision.readOnly) continue;

    let reason: ReasonCode;
    const wouldAllow = setting === undefined ? decision.allowed : setting;
    const result = wouldAllow && condition !== "" ? evaluate(condition) : "holds";
    if (!wouldAllow) reason = readOnly ? "denied_read_only" : "denied_by_layer";
    else if (result === "fails") reason = "denied_condition_error";
    else if (result === "does not") reason = "denied_channel_condition";
    else reason = readOnly ? "allowed_read_only" : "allowed_by_layer";

    const allows = reason === "allowed_read_only" || reason === "allowed_by_layer";
    if (conditionStatus === "failed" && allows) continue;
    if (conditionStatus === "failed") reason = "denied_condition_error";
    decision = { allowed: allows, reasonCode: reason, winningLayer: layer, readOnly };
  }

  if (decision.allowed && !decision.readOnly) {
    const scheduled = activeRows.filter(({ row }) => row.schedule !== undefined).reverse();
    const strongest = scheduled.find(({ conditionStatus }) => conditionStatus === "ok");
    const counting = scheduled.filter((active) => active === strongest || active.conditionStatus === "failed");
    const quiet = counting.find(({ row }) => isQuiet(row.schedule!, input));
    if (quiet !== undefined) return denied("denied_quiet_hours", quiet.layer);
  }
  const { allowed, reasonCode, winningLayer } = decision;
  return { allowed, reasonCode, winningLayer };
}

function denied(reasonCode: ReasonCode, winningLayer: number) {
  return { allowed: false, reasonCode, winningLayer };
}

/** The existing rows, from the weakest layer to the strongest. */
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

/** Whether a schedule is quiet, by listing the quiet ranges of this day and the day before. */
function isQuiet({ timezone, ranges }: QuietHours, { subscriber, nowMs }: ResolveInput): boolean {
  const zone = [timezone, subscriber.timezone, "UTC"].find((name) => name !== "")!;
  // For example: 2026-03-29 03:00:00.
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
