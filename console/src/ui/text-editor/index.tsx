import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { type Completion, CompletionList, insert } from "./completion";

/** What is wrong at a place of a text. Lines and columns count from 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  readonly message?: string;
}

/** Texts to choose from, in place of what is written between `from` and the cursor. */
export interface Completions {
  readonly from: number;
  readonly options: readonly Completion[];
}

interface Props {
  readonly id: string;
  readonly label: string;
  readonly text: string;
  readonly onInput: (text: string) => void;
  /** The words of a line, each with its kind: the names of the groups of the expression. */
  readonly token: RegExp;
  readonly problems?: readonly Problem[];
  /** Whether it is a document: with the numbers of its lines, which are not wrapped. */
  readonly isDocument?: boolean;
  readonly isReadOnly?: boolean;
  readonly complete?: (text: string, at: number) => Completions | undefined;
}

/** An editor for code: plain text with highlighting behind it, so that the keyboard works as in every text field. */
export function TextEditor({ id, label, text, onInput, token, problems = [], isDocument, ...options }: Props) {
  const { isReadOnly = false, complete } = options;
  const [completions, setCompletions] = useState<Completions>();
  const [at, setAt] = useState(0);
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const offer = (isAsked: boolean) => {
    const { selectionStart, selectionEnd, value } = area.current!;
    const found = selectionStart === selectionEnd ? complete?.(value, selectionStart) : undefined;
    const isWanted = found !== undefined && found.options.length > 0 && (isAsked || found.from < selectionStart);
    setCompletions(isWanted ? found : undefined);
    setAt(0);
  };
  const choose = ({ text: chosen }: Completion) => {
    area.current!.setSelectionRange(completions!.from, area.current!.selectionStart);
    insert(area.current!, chosen);
    setCompletions(undefined);
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    const { key, ctrlKey } = event;
    if (key === " " && ctrlKey) offer(true);
    else if (completions !== undefined && key === "ArrowDown") setAt((at + 1) % completions.options.length);
    else if (completions !== undefined && key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (completions !== undefined && (key === "Enter" || key === "Tab")) choose(completions.options[at]!);
    else if (completions !== undefined && key === "Escape") setCompletions(undefined);
    else if (isDocument && key === "Enter") insert(event.currentTarget, `\n${indentation(event.currentTarget)}`);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const lines = text.split("\n");
  return (
    <div class={isDocument ? "editor document" : "editor"}>
      <div class="layers">
        <pre aria-hidden="true">
          {lines.map((line, index) => (
            <Line key={index} line={line} problem={problems.find((each) => each.line === index + 1)} token={token} />
          ))}
        </pre>
        <textarea
          aria-activedescendant={completions && `${listId}-${at}`}
          aria-autocomplete={complete && "list"}
          aria-controls={completions && listId}
          aria-invalid={problems.length > 0}
          aria-label={label}
          autocapitalize="off"
          autocomplete="off"
          id={id}
          onBlur={() => setCompletions(undefined)}
          onInput={(event) => {
            onInput(event.currentTarget.value);
            offer(false);
          }}
          onKeyDown={onKey}
          onPointerDown={() => setCompletions(undefined)}
          readOnly={isReadOnly}
          ref={area}
          spellcheck={false}
          value={text}
          wrap={isDocument ? "off" : "soft"}
        />
        {completions !== undefined && (
          <CompletionList
            at={at}
            choose={choose}
            id={listId}
            options={completions.options}
            place={placeOf(text, completions.from)}
          />
        )}
      </div>
    </div>
  );
}

interface LineProps {
  readonly line: string;
  readonly problem: Problem | undefined;
  readonly token: RegExp;
}

function Line({ line, problem, token }: LineProps) {
  const column = problem?.column;
  const content = useMemo(() => highlight(line, token, column), [line, token, column]);
  return (
    <span class="line" data-problem={problem?.message}>
      {content}
      {"\n"}
    </span>
  );
}

function highlight(line: string, token: RegExp, column: number | undefined): ComponentChildren {
  return [...line.matchAll(token)].map((match) => {
    const { groups, index } = match;
    const kind = Object.keys(groups!).find((name) => groups![name] !== undefined);
    const isWrong = column !== undefined && column > index && column <= index + match[0].length;
    const content = kind === "other" ? match[0] : <span class={`t-${kind}`}>{match[0]}</span>;
    return isWrong ? <mark key={index}>{content}</mark> : <span key={index}>{content}</span>;
  });
}

/** The line and the column of an offset, from 0. */
function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length - 1, column: lines.at(-1)!.length };
}

/** What a new line starts with: the spaces of its neighbour, and more after the start of a block or of an entry. */
function indentation({ value, selectionStart }: HTMLTextAreaElement): string {
  const line = value.slice(0, selectionStart).split("\n").at(-1)!;
  const [spaces = "", dash = ""] = /^( *)(- +)?/.exec(line)!.slice(1);
  const inner = spaces + " ".repeat(dash.length);
  return /[:{[]\s*$/.test(line) ? `${inner}  ` : inner;
}

/** Moves the cursor of an editor to a place, and shows it. */
export function goTo(id: string, { line, column }: Problem): void {
  const area = document.getElementById(id) as HTMLTextAreaElement;
  const before = area.value.split("\n").slice(0, line - 1);
  const offset = before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  area.focus();
  area.setSelectionRange(offset, offset);
  area.previousElementSibling?.children[line - 1]?.scrollIntoView({ block: "center" });
}
