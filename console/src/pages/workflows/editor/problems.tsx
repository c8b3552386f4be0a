import type { ValidateWorkflowDefinitionResponse } from "@client/gen/workflow-definition";
import { ApiError } from "@client/transport/errors";
import { messageOf } from "../../../ui/format";
import { Notice } from "../../../ui/text";
import { goTo, type Problem } from "../../../ui/text-editor";

/** Something that a document must have changed before it can be published. */
export interface DocumentProblem extends Problem {
  readonly path: string;
  readonly message: string;
}

/** What is wrong with a text: what the check found, or where the text ends to be YAML. */
export function problemsOf(
  checked: ValidateWorkflowDefinitionResponse | undefined,
  error: unknown,
): readonly DocumentProblem[] {
  if (error instanceof ApiError) {
    const { line = 1, column = 1 } = (error.problem.position ?? {}) as Partial<Problem>;
    const message = messageOf(error).replace(/^text: (line \d+, column \d+: )?/, "");
    return [{ path: "", line, column, message }];
  }
  return (checked?.violations ?? []).map(({ path, message, text_position }) => ({
    path,
    message,
    line: text_position?.line ?? 1,
    column: text_position?.column ?? 1,
  }));
}

const shownMax = 50;

interface Props {
  readonly editorId: string;
  readonly problems: readonly DocumentProblem[];
}

/** The problems as a list. Each one leads to its line. */
export function ProblemList({ editorId, problems }: Props) {
  return (
    <Notice tone="bad">
      <ol aria-label="Problems" class="problems">
        {problems.slice(0, shownMax).map((problem) => (
          <li key={`${problem.line} ${problem.path} ${problem.message}`}>
            <button class="text-button" onClick={() => goTo(editorId, problem)} type="button">
              Line {problem.line}
            </button>{" "}
            {problem.path !== "" && <code>{problem.path}</code>} {problem.message}
          </li>
        ))}
      </ol>
    </Notice>
  );
}
