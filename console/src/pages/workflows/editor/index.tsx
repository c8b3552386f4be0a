import { createWorkflowDefinitionService, type WorkflowDefinition } from "@client/gen/workflow-definition";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useQuery } from "../../../core/query";
import { can } from "../../../core/session";
import { transport } from "../../../core/transport";
import { useTypedQuery } from "../../../core/typed-query";
import { Button } from "../../../ui/button";
import { Card, Loading } from "../../../ui/card";
import { messageOf } from "../../../ui/format";
import { Graph } from "../../../ui/graph";
import { Ready } from "../../../ui/page";
import { Notice } from "../../../ui/text";
import { TextEditor } from "../../../ui/text-editor";
import { toast } from "../../../ui/toast";
import { drawDefinition } from "../definition-graph";
import { isEdited, useDraftText } from "./draft-state";
import { ProblemList, problemsOf } from "./problems";
import { completionsAt, type Schema } from "./schema-completion";

const definitions = createWorkflowDefinitionService(transport);

/** Comments, names, texts, numbers and expressions of a line of YAML or JSON. */
const token =
  /(?<comment>(?:^|(?<=\s))#.*$)|(?<function>(?:"(?:[^"\\]|\\.)*"|[\w.$-]+)(?=\s*:(?:\s|$)))|(?<keyword>"=[^"]*"?|'=[^']*'?|(?<=[:,[{-]\s*)=[^=\s][^,}\]#]*|\b(?:true|false|null)\b)|(?<string>"(?:[^"\\]|\\.)*"?|'[^']*'?)|(?<number>\b\d+(?:\.\d+)?(?:ms|s|m|h|d)?\b)|(?<other>[\w.$]+|.)/g;

interface Props {
  /** Undefined for a new one. */
  readonly definition: WorkflowDefinition | undefined;
  /** The text to start with: the draft as it was written, if it was. */
  readonly stored: string;
  /** Called with the definition after it was saved or published. */
  readonly onSaved: (id: string) => void;
}

/** The draft of an existing definition, as it was written. */
export function DraftEditor({
  definition,
  onSaved,
}: Omit<Props, "stored"> & { readonly definition: WorkflowDefinition }) {
  const { id, record_version } = definition;
  // What somebody writes here stays, whoever changes the draft meanwhile. Saving it is refused then.
  const version = useRef(record_version);
  if (!isEdited(id)) version.current = record_version;
  const text = useQuery(`draft text ${id} ${version.current}`, async () =>
    (await definitions.export({ id, format: "yaml" })).text(),
  );
  return <Ready query={text}>{(stored) => <Editor definition={definition} onSaved={onSaved} stored={stored} />}</Ready>;
}

/** A workflow as YAML or JSON, checked and drawn while somebody types. */
export function Editor({ definition, stored, onSaved }: Props) {
  const id = useId();
  const draft = useDraftText(definition?.id ?? "new", stored, definition?.record_version);
  const [refusal, setRefusal] = useState("");
  const [isBusy, setBusy] = useState(false);
  const schema = useQuery("workflow schema", async () => (await (await definitions.getSchema()).json()) as Schema);
  const checked = useTypedQuery(draft.text, () => definitions.validate({ text: draft.text }));
  const problems = problemsOf(checked.data, checked.error);
  const document = useRef<Readonly<Record<string, unknown>>>(undefined);
  if (checked.data !== undefined) document.current = checked.data.document as Readonly<Record<string, unknown>>;
  const isFirstCheck = document.current === undefined && (checked.data ?? checked.error) === undefined;
  const mayWrite = can("workflow_definition:write") && definition?.status !== "STATUS_ARCHIVED";
  useEffect(() => setRefusal(""), [draft.text]);

  const save = async (thenPublish: boolean) => {
    setBusy(true);
    setRefusal("");
    try {
      if (definition === undefined) await requireNew(document.current?.key);
      const { workflow_definition } = await definitions.import({
        text: draft.text,
        ...(draft.version !== undefined && { record_version: draft.version }),
      });
      const { id: savedId, record_version } = workflow_definition!;
      draft.saved(draft.text, record_version);
      if (thenPublish) await publish(savedId, record_version);
      else toast("The draft was saved.");
      onSaved(savedId);
    } catch (error) {
      setRefusal(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  const drawn = drawDefinition(document.current);
  return (
    <div class="columns wide-first">
      <Card
        actions={
          mayWrite && (
            <>
              {draft.isChanged && <span class="soft">Not saved</span>}
              <Button disabled={isBusy} onClick={() => save(false)} small>
                Save draft
              </Button>
              <Button disabled={isBusy} onClick={() => save(true)} small tone="primary">
                Publish
              </Button>
            </>
          )
        }
        title="Document"
      >
        <div class="stack">
          <TextEditor
            complete={(text, at) => schema.data && completionsAt(schema.data, text, at)}
            id={id}
            isDocument
            isReadOnly={!mayWrite}
            label="Document of the draft"
            onInput={draft.change}
            problems={problems.map((problem) => ({
              ...problem,
              message: `${problem.path.split(".").at(-1)} ${problem.message}`.trim(),
            }))}
            text={draft.text}
            token={token}
          />
          <p class="soft">YAML or JSON. Comments are kept. Ctrl Space shows what can be written here.</p>
          {refusal !== "" && <Notice tone="bad">{refusal}</Notice>}
          {problems.length > 0 && <ProblemList editorId={id} problems={problems} />}
          {checked.data?.valid && (
            <Notice tone="ok">
              Valid. A run has at most {checked.data.worst_case_steps}{" "}
              {checked.data.worst_case_steps === 1 ? "step" : "steps"}.
            </Notice>
          )}
        </div>
      </Card>
      <Card flush={!isFirstCheck} title="Steps">
        {isFirstCheck ? <Loading /> : <Graph edges={drawn.edges} label="The steps of the draft" nodes={drawn.nodes} />}
      </Card>
    </div>
  );
}

async function publish(id: string, record_version: number): Promise<void> {
  const { version, unchanged } = await definitions.publish({ id, record_version });
  toast(unchanged ? "The draft is the active version already." : `Version ${version?.version} is active.`);
}

/** A new definition must not replace the draft of another one. */
async function requireNew(key: unknown): Promise<void> {
  if (typeof key !== "string") return;
  const { items } = await definitions.list({ key_prefix: key, limit: 1 }).page();
  if (items[0]?.key === key)
    throw new Error(`There is a definition with the key ${key}. Choose another key, or change it there.`);
}
