import { exitCodes } from "../exit-codes.ts";
import { printable } from "./printable.ts";
import type { OwnForm } from "./printed-form.ts";
import { tableText } from "./table.ts";

interface Advance {
  readonly at: string;
  readonly entries: readonly Readonly<Record<string, unknown>>[];
}

/** The form of the history of a run: a row for each entry, with its time, its kind, its step and everything else. */
export function runHistoryForm(advances: readonly Advance[]): OwnForm {
  return {
    exitCode: exitCodes.ok,
    text({ width }) {
      const rows = advances.flatMap(({ at, entries }) =>
        entries.map(({ kind = "", step = "", ...others }) => [
          ...[printable(at), printable(String(kind)), printable(String(step))],
          printable(detailOf(others)),
        ]),
      );
      // The time and the kind fit into every terminal.
      return rows.length === 0 ? "" : `${tableText(["time", "type", "step", "detail"], rows, Math.max(width, 60))}\n`;
    },
  };
}

function detailOf(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}
