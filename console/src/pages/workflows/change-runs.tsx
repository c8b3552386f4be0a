import { type ChangeWorkflowRunsRequest, createWorkflowRunService } from "@client/gen/workflow-run";
import { transport } from "../../core/transport";
import { FormDialog } from "../../ui/form";
import { formatCount } from "../../ui/format";
import { toast } from "../../ui/toast";

const runs = createWorkflowRunService(transport);

const actions = [
  { value: "pause", label: "Pause runs in progress" },
  { value: "resume", label: "Resume paused runs" },
  { value: "cancel", label: "Cancel runs in progress" },
  { value: "signal", label: "Send an event to runs in progress" },
  { value: "replay", label: "Replay failed runs" },
];

interface Props {
  /** The filter of the list that the dialog belongs to. */
  readonly filter: Readonly<Record<string, string | undefined>>;
  readonly onClose: () => void;
  readonly refresh: () => void;
}

/** Changes all runs that match the filter of the list and some attributes. */
export function ChangeRunsDialog({ filter, onClose, refresh }: Props) {
  return (
    <FormDialog
      fields={[
        { name: "action", label: "What happens", kind: "choice", choices: actions, required: true },
        { name: "attributes", label: "Attributes", kind: "list", placeholder: "customer=acme" },
        { name: "event", label: "Event", placeholder: "contract.signed", hint: "Only to send an event." },
        { name: "reason", label: "Reason" },
      ]}
      onClose={onClose}
      onSubmit={async ({ action, event, ...values }) => {
        const signal = action === "signal" ? { signal: { event } } : {};
        const request = { ...filter, action, ...values, ...signal, max_items: 500 };
        const change = (after: string) => runs.change({ ...request, after } as ChangeWorkflowRunsRequest);
        let [changed, refused, after] = [0, 0, ""];
        do {
          const result = await change(after);
          changed += result.changed_count;
          refused += result.refused.length;
          after = result.next;
        } while (after !== "");
        refresh();
        toast(
          `${formatCount(changed)} runs were changed${refused > 0 ? `, ${formatCount(refused)} refused it` : ""}.`,
          refused > 0 ? "warn" : "ok",
        );
      }}
      submit="Change all that match"
      title="Change runs that match the filters"
    />
  );
}
