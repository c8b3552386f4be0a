import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import { createWorkflowRunService, type StartWorkflowRunRequest, type WorkflowRun } from "@client/gen/workflow-run";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href, navigate, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { type Example, FormDialog, type Texts } from "../../ui/form";
import { type Schema, schemaFields } from "../../ui/form/schema-fields";
import { formatAgo, formatClock, words } from "../../ui/format";
import { environmentFields, initialEnvironment } from "../shared/environment";

const definitions = createWorkflowDefinitionService(transport);
const runs = createWorkflowRunService(transport);
const examplesMax = 20;

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
        <StartRunDialog
          choices={list.data.items.map(({ key, name }) => ({ value: key, label: name || key }))}
          definition={definition}
          onClose={() => open(false)}
        />
      )}
    </>
  );
}

interface Props {
  readonly definition: string | undefined;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly onClose: () => void;
}

/** Asks for the input that the definition describes, or that its last runs had. */
function StartRunDialog({ definition, choices, onClose }: Props) {
  const [texts, enter] = useState<Texts>({});
  const chosen = texts.definition || definition || choices[0]?.value;
  const known = useQuery(chosen && `input of ${chosen}`, () => readKnown(chosen!));
  return (
    <FormDialog
      done="The run was started."
      examples={known.data?.runs.map(exampleOf)}
      fields={[
        { name: "definition", label: "Workflow", kind: "choice", required: true, choices },
        ...environmentFields(),
        ...schemaFields("input", "Input", known.data?.schema),
        {
          name: "run_key",
          label: "Run key",
          hint: "Your own id. Events can be sent to it, and it is unique among open runs.",
        },
      ]}
      initial={{ definition, ...initialEnvironment() }}
      onClose={onClose}
      onEnter={enter}
      onSubmit={async (values) => {
        const { run } = await runs.start({ input: {}, ...values } as unknown as StartWorkflowRunRequest);
        navigate(href(`workflows/runs/${run!.id}`));
      }}
      submit="Start run"
      title="Start a run"
      wide
    />
  );
}

interface Known {
  readonly schema: Schema | undefined;
  readonly runs: readonly WorkflowRun[];
}

/** The schema of the input, and the last runs. Lists of runs leave the inputs out. */
async function readKnown(key: string): Promise<Known> {
  const [version, last] = await Promise.all([
    definitions.getVersion({ id: key, version: "active" }),
    runs.list({ definition_id: key, limit: examplesMax }).page(),
  ]);
  return { schema: version.document?.input_schema as Schema | undefined, runs: last.items };
}

function exampleOf({ id: run_id, run_key, status, created_at }: WorkflowRun): Example {
  const when = `${formatAgo(created_at, Date.now())} (${formatClock(created_at)})`;
  const label = [run_key, words(status), when].filter(Boolean).join(", ");
  return {
    label,
    async values() {
      const { input } = await runs.get({ run_id });
      return { input: isObject(input) ? input : {} };
    },
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
