import {
  type ApplyWorkflowRunUpdateRequest,
  type ApplyWorkflowRunUpdateResponse,
  type CompensateWorkflowRunRequest,
  createWorkflowRunService,
  type ReplayWorkflowRunRequest,
  type SignalWorkflowRunRequest,
  type WorkflowRun,
} from "@client/gen/workflow-run";
import { useState } from "preact/hooks";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { FormDialog } from "../../ui/form";
import { JsonView } from "../../ui/json-view";
import { announce } from "../../ui/toast";
import { useStepStates } from "./step-states";

const runs = createWorkflowRunService(transport);
const ended = new Set(["succeeded", "failed", "cancelled", "timed_out"]);

export function RunActions({ run, refresh }: { readonly run: WorkflowRun; readonly refresh: () => void }) {
  const [dialog, open] = useState<"signal" | "update" | "replay" | "compensate">();
  const close = () => open(undefined);
  if (!can("workflow_run:write")) return null;
  const id = { run_id: run.id };
  const isPaused = run.status === "paused";
  const toggle = () =>
    announce(
      isPaused ? runs.resume(id) : runs.pause({ ...id, reason: "paused in the console" }),
      isPaused ? "The run continues." : "The run is paused. Tasks that workers have can still end.",
      refresh,
    );
  const cancel = () =>
    confirm({
      title: "Cancel this run?",
      consequence:
        "No further step starts, and the run ends as cancelled. Completed steps are undone if they have a compensation.",
      confirm: "Cancel run",
      done: "The run was cancelled.",
      act: () => runs.cancel({ ...id, reason: "cancelled in the console", compensate: true }).then(refresh),
    });
  return (
    <>
      {ended.has(run.status) ? (
        <>
          {run.failed_compensations.length > 0 && (
            <Button onClick={() => open("compensate")}>Retry compensations</Button>
          )}
          <Button onClick={() => open("replay")} tone="primary">
            Replay
          </Button>
        </>
      ) : (
        <>
          {run.active_steps.some(({ activity }) => activity === "approval") && (
            <a class="button primary" href={href("workflows", { tab: "approvals", workflow: run.definition_key })}>
              Open the approval
            </a>
          )}
          <Button onClick={() => open("signal")}>Send event</Button>
          <Button onClick={() => open("update")}>Update</Button>
          <Button onClick={toggle}>{isPaused ? "Resume" : "Pause"}</Button>
          <Button onClick={cancel} tone="danger-text">
            Cancel run
          </Button>
        </>
      )}
      {dialog === "signal" && (
        <FormDialog
          done="The event was sent to the run."
          fields={[
            { name: "event", label: "Event", required: true, placeholder: "contract.signed" },
            { name: "scope", label: "Scope" },
            { name: "payload", label: "Payload", kind: "json" },
          ]}
          onClose={close}
          onSubmit={async (values) => {
            await runs.signal({ ...values, ...id } as unknown as SignalWorkflowRunRequest);
            refresh();
          }}
          submit="Send event"
          title="Send an event to the run"
        />
      )}
      {dialog === "update" && (
        <FormDialog
          answer={({ answer }: ApplyWorkflowRunUpdateResponse) => (
            <JsonView label="Answer of the run" value={answer ?? null} />
          )}
          fields={[
            { name: "name", label: "Update", required: true, placeholder: "address" },
            { name: "scope", label: "Scope" },
            { name: "payload", label: "Payload", kind: "json" },
          ]}
          onClose={close}
          onSubmit={async (values) => {
            const request = { ...values, ...id, wait_s: 10 } as unknown as ApplyWorkflowRunUpdateRequest;
            const applied = await runs.applyUpdate(request);
            refresh();
            return applied;
          }}
          submit="Update"
          title="Update the run"
        />
      )}
      {dialog === "compensate" && (
        <FormDialog
          done="The compensations are retried."
          fields={[
            {
              name: "step",
              label: "Step",
              kind: "choice",
              choices: run.failed_compensations,
              hint: "The step to undo. All whose compensation has failed when empty.",
            },
            { name: "reason", label: "Reason" },
          ]}
          onClose={close}
          onSubmit={async ({ step, reason }) => {
            await runs.compensate({
              ...id,
              reason,
              ...(step ? { steps: [step] } : {}),
            } as CompensateWorkflowRunRequest);
            refresh();
          }}
          submit="Retry"
          title="Retry failed compensations"
        />
      )}
      {dialog === "replay" && <ReplayDialog onClose={close} run={run} />}
    </>
  );
}

function ReplayDialog({ run, onClose }: { readonly run: WorkflowRun; readonly onClose: () => void }) {
  const states = useStepStates(run);
  return (
    <FormDialog
      done="The run was replayed."
      fields={[
        {
          name: "from_step",
          label: "From step",
          kind: "choice",
          choices: [...states.keys()],
          hint: "The outputs of the steps before it are kept. From the start when empty.",
        },
        { name: "input", label: "Another input", kind: "json", hint: "Only from the start." },
        { name: "reason", label: "Reason" },
      ]}
      initial={{ from_step: run.error?.step || undefined }}
      onClose={onClose}
      onSubmit={async (values) => {
        const { run: replay } = await runs.replay({ ...values, run_id: run.id } as unknown as ReplayWorkflowRunRequest);
        navigate(href(`workflows/runs/${replay!.id}`));
      }}
      submit="Replay"
      title="Replay as a new run"
    />
  );
}
