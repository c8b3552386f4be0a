import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import { createWorkflowRunService, type StartWorkflowRunRequest } from "@client/gen/workflow-run";
import { useQuery } from "../../core/query";
import { href, navigate, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { FormDialog } from "../../ui/form";
import { environmentFields, initialEnvironment } from "../shared/environment";

const definitions = createWorkflowDefinitionService(transport);
const runs = createWorkflowRunService(transport);

/** Starts a run of a published definition. */
export function StartRunButton({ definition }: { readonly definition?: string }) {
  const [isOpen, open] = useAddressedDialog("start", can("workflow_run:write"));
  const list = useQuery(isOpen ? "published definitions" : undefined, () =>
    definitions.list({ limit: 200, status: "STATUS_PUBLISHED" }).page(),
  );
  if (!can("workflow_run:write")) return null;
  return (
    <>
      <Button icon="plus" onClick={() => open(true)} tone="primary">
        Start run
      </Button>
      {isOpen && list.data && (
        <FormDialog
          done="The run was started."
          fields={[
            {
              name: "definition",
              label: "Workflow",
              kind: "choice",
              required: true,
              choices: list.data.items.map(({ key, name }) => ({ value: key, label: name || key })),
            },
            ...environmentFields(),
            { name: "input", label: "Input", kind: "json", placeholder: "{}" },
            {
              name: "run_key",
              label: "Run key",
              hint: "Your own id. Events can be sent to it, and it is unique among open runs.",
            },
          ]}
          initial={{ definition, input: {}, ...initialEnvironment() }}
          onClose={() => open(false)}
          onSubmit={async (values) => {
            const { run } = await runs.start(values as unknown as StartWorkflowRunRequest);
            navigate(href(`workflows/runs/${run!.id}`));
          }}
          submit="Start run"
          title="Start a run"
        />
      )}
    </>
  );
}
