import { type Problem, TextEditor } from "./text-editor";

interface Props {
  readonly id: string;
  readonly label: string;
  readonly text: string;
  readonly onInput: (text: string) => void;
  /** Where an error starts, in UTF-16 units. */
  readonly errorAt?: number | undefined;
}

const token =
  /(?<string>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(?<number>\b\d+(?:\.\d+)?\b)|(?<keyword>\b(?:true|false|null|in|has)\b)|(?<function>\b[a-zA-Z_]\w*(?=\())|(?<other>[^"'\d\w]+|\w+)/g;

/** An editor for a CEL expression. */
export function CelEditor({ errorAt, ...editor }: Props) {
  const problems = errorAt === undefined ? [] : [problemAt(editor.text, errorAt)];
  return <TextEditor {...editor} problems={problems} token={token} />;
}

function problemAt(text: string, offset: number): Problem {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}
