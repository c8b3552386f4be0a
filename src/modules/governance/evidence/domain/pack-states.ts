import { fail } from "../../../../errors/index.ts";

/** A pack's status. Attached: its artifacts and demands are pinned for a promotion. */
export type PackStatus = "open" | "attached" | "archived";

/** The calls that depend on the status. */
export type PackCall =
  | "update"
  | "add_artifact"
  | "add_receipt"
  | "start_run"
  | "evaluate"
  | "explain"
  | "export"
  | "attach"
  | "archive";

/** The next status by status and call. A call that is not listed is refused. */
const transitions: Readonly<Record<PackStatus, Readonly<Partial<Record<PackCall, PackStatus>>>>> = {
  open: {
    update: "open",
    add_artifact: "open",
    add_receipt: "open",
    start_run: "open",
    evaluate: "open",
    explain: "open",
    export: "open",
    attach: "attached",
    archive: "archived",
  },
  attached: {
    add_receipt: "attached",
    start_run: "attached",
    evaluate: "attached",
    explain: "attached",
    export: "attached",
    attach: "attached",
    archive: "archived",
  },
  archived: { evaluate: "archived", explain: "archived", export: "archived" },
};

const descriptions: Readonly<Record<PackStatus, string>> = {
  open: "open",
  attached: "attached to a promotion",
  archived: "archived",
};

export function possiblePackCalls(status: PackStatus): readonly PackCall[] {
  return Object.keys(transitions[status]) as PackCall[];
}

/** The status after a call. Throws FAILED_PRECONDITION, with what is possible, if the status does not allow it. */
export function nextPackStatus(status: PackStatus, call: PackCall): PackStatus {
  const next = transitions[status][call];
  if (next !== undefined) return next;
  const possible = possiblePackCalls(status);
  throw fail("FAILED_PRECONDITION", {
    public: `The pack is ${descriptions[status]}, which does not allow ${call}. Possible: ${possible.join(", ")}.`,
    extra: { current_status: status, possible_calls: possible },
  });
}
