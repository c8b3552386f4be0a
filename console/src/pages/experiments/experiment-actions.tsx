import { createExperimentService, type Experiment } from "@client/gen/experiment";
import { useState } from "preact/hooks";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { FormDialog } from "../../ui/form";
import { announce } from "../../ui/toast";
import { ExperimentForm } from "./experiment-form";

const experiments = createExperimentService(transport);

/** The calls that are possible in the state of the experiment. */
export function ExperimentActions({
  experiment,
  refresh,
}: {
  readonly experiment: Experiment;
  readonly refresh: () => void;
}) {
  const [isCompleting, complete] = useState(false);
  const [isChanging, change] = useState(false);
  if (!can("experiment:write")) return null;
  const id = { experiment_id: experiment.id };
  const { status } = experiment;
  const act = (call: Promise<unknown>, done: string) => announce(call, done, refresh);
  const stop = () =>
    confirm({
      title: `Stop ${experiment.name || experiment.key} without a decision?`,
      consequence: "Nobody gets a variant any more, and the results are frozen. It cannot be started again.",
      confirm: "Stop experiment",
      done: "The experiment was stopped.",
      act: () => experiments.stop({ ...id, reason: "stopped in the console" }).then(refresh),
    });
  const remove = () =>
    confirm({
      title: `Delete the draft ${experiment.key}?`,
      consequence: "The draft is deleted. This cannot be undone.",
      confirm: "Delete draft",
      done: "The draft was deleted.",
      act: () => experiments.delete(id).then(() => navigate(href("experiments"))),
    });
  return (
    <>
      {status === "draft" && (
        <Button onClick={remove} tone="danger-text">
          Delete
        </Button>
      )}
      {(status === "running" || status === "paused") && (
        <Button onClick={stop} tone="danger-text">
          Stop
        </Button>
      )}
      {experiment.possible_calls.includes("update") && <Button onClick={() => change(true)}>Change</Button>}
      {status === "running" && (
        <Button onClick={() => act(experiments.pause(id), "No new unit enters the experiment.")}>Pause</Button>
      )}
      {(status === "draft" || status === "paused") && (
        <Button onClick={() => act(experiments.start(id), "The experiment is running.")} tone="primary">
          {status === "draft" ? "Start" : "Continue"}
        </Button>
      )}
      {(status === "running" || status === "paused") && (
        <Button onClick={() => complete(true)} tone="primary">
          Decide
        </Button>
      )}
      {isChanging && <ExperimentForm experiment={experiment} onClose={() => change(false)} onSaved={refresh} />}
      {isCompleting && (
        <FormDialog
          done="The experiment is decided."
          fields={[
            {
              name: "variant",
              label: "Everybody gets",
              kind: "choice",
              required: true,
              choices: experiment.variants.map(({ key }) => key),
            },
            { name: "reason", label: "Reason", kind: "long", required: true },
          ]}
          onClose={() => complete(false)}
          onSubmit={async ({ variant, reason }) => {
            await experiments.complete({ ...id, variant: String(variant), reason: String(reason) });
            refresh();
          }}
          submit="Decide"
          title="Decide: results are frozen, and everybody gets this variant"
        />
      )}
    </>
  );
}
