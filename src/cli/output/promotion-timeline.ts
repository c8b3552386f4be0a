import { styleText } from "node:util";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "./printable.ts";
import type { OwnForm } from "./printed-form.ts";

interface Entry {
  readonly at: string;
  readonly call: string;
  readonly state: string;
  readonly actor: string;
  readonly summary: string;
}

const badStates = new Set(["preflight_blocked", "guardrails_failed", "aborted", "rolled_back"]);

/** The form of the timeline of a promotion: a mark, the time, the call and who made it, with what came of it below. */
export function promotionTimelineForm(entries: readonly Entry[]): OwnForm {
  return {
    exitCode: exitCodes.ok,
    text({ isColoured }) {
      const paint = (style: Parameters<typeof styleText>[0], text: string) =>
        isColoured ? styleText(style, text, { validateStream: false }) : text;
      const lines = entries.flatMap(({ at, call, state, actor, summary }, position) => {
        const colour = badStates.has(state) ? "red" : state === "promoted" ? "green" : "cyan";
        const bar = position === entries.length - 1 ? " " : "│";
        const time = printable(at).slice(0, 19).replace("T", " ");
        return [
          `${paint(colour, "●")} ${time}  ${paint("bold", words(call))}, now ${paint(colour, words(state))}`,
          `${bar} ${printable(summary)}`,
          `${bar} by ${printable(actor)}`,
        ];
      });
      return lines.length === 0 ? "" : `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
    },
  };
}

function words(name: string): string {
  return printable(name).replaceAll("_", " ");
}
