import {
  createWorkflowDefinitionService,
  type ValidateWorkflowDefinitionResponse,
  type WorkflowDefinition,
} from "@client/gen/workflow-definition";
import { useEffect, useId, useState } from "preact/hooks";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { messageOf } from "../../ui/format";
import { Graph } from "../../ui/graph";
import { Notice } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";
import { drawDefinition } from "./definition-graph";

const definitions = createWorkflowDefinitionService(transport);
const delayMs = 350;

/** The draft as JSON. It is validated and drawn while somebody types. */
export function Draft({
  definition,
  refresh,
}: {
  readonly definition: WorkflowDefinition;
  readonly refresh: () => void;
}) {
  const [text, setText] = useState(() => JSON.stringify(definition.draft, null, 2));
  const [verdict, setVerdict] = useState<ValidateWorkflowDefinitionResponse | string>();
  const id = useId();
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(async () => {
      const next = await definitions.validate({ text, format: "json" }).catch(messageOf);
      if (!isOld) setVerdict(next);
    }, delayMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);
  const document = parsed(text);
  const save = () =>
    definitions
      .updateDraft({ id: definition.id, document: document as object, record_version: definition.record_version })
      .then(() => {
        toast("The draft was saved.");
        refresh();
      }, toastError);
  const drawn = drawDefinition(document);
  return (
    <div class="columns">
      <Card
        actions={
          can("workflow_definition:write") && (
            <Button disabled={document === undefined} onClick={save} small tone="primary">
              Save draft
            </Button>
          )
        }
        title="Document"
      >
        <div class="stack">
          <label class="visually-hidden" for={id}>
            Document of the draft
          </label>
          <textarea
            class="textarea code"
            id={id}
            onInput={(event) => setText(event.currentTarget.value)}
            readOnly={!can("workflow_definition:write")}
            rows={26}
            spellcheck={false}
            value={text}
          />
          <Violations verdict={verdict} />
        </div>
      </Card>
      <Card flush title="Steps">
        <Graph edges={drawn.edges} label="The steps of the draft" nodes={drawn.nodes} />
      </Card>
    </div>
  );
}

function Violations({ verdict }: { readonly verdict: ValidateWorkflowDefinitionResponse | string | undefined }) {
  if (verdict === undefined) return null;
  if (typeof verdict === "string") return <Notice tone="bad">{verdict}</Notice>;
  if (verdict.valid) return <Notice tone="ok">Valid. A run has at most {verdict.worst_case_steps} steps.</Notice>;
  return (
    <Notice tone="bad">
      <ul>
        {verdict.violations.slice(0, 10).map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{path}</code> {message}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
