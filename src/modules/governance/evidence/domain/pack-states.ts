import { fail } from "../../../../errors/index.ts";

/** A pack's status. Attached: its artifacts and demands are pinned for a promotion. */
export type PackStatus = "open" | "attached" | "archived";

/** The calls that each status allows. */
const callsByStatus = {
  open: ["update", "add_artifact", "add_receipt", "start_run", "evaluate", "explain", "export", "attach", "archive"],
  attached: ["add_receipt", "start_run", "evaluate", "explain", "export", "attach", "archive"],
  archived: ["evaluate", "explain", "export"],
} as const satisfies Readonly<Record<PackStatus, readonly string[]>>;

/** The calls that depend on the status. */
export type PackCall = (typeof callsByStatus)["open"][number];

const descriptions: Readonly<Record<PackStatus, string>> = {
  open: "open",
  attached: "attached to a promotion",
  archived: "archived",
};

export function possiblePackCalls(status: PackStatus): readonly PackCall[] {
  return callsByStatus[status];
}

/** Throws FAILED_PRECONDITION, with what is possible, if the status does not allow a call. */
export function requirePackCall(status: PackStatus, call: PackCall): void {
  const possible = possiblePackCalls(status);
  if (possible.includes(call)) return;
  throw fail("FAILED_PRECONDITION", {
    public: `The pack is ${descriptions[status]}, which does not allow ${call}. Possible: ${possible.join(", ")}.`,
    extra: { current_status: status, possible_calls: possible },
  });
}
