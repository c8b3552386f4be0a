import { useRef } from "preact/hooks";

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

/** An editor for a CEL expression: plain text with highlighting behind it, so that the keyboard works as in every text field. */
export function CelEditor({ id, label, text, onInput, errorAt }: Props) {
  const behind = useRef<HTMLPreElement>(null);
  return (
    <div class="editor">
      <pre aria-hidden="true" ref={behind}>
        {highlight(text, errorAt)}{" "}
      </pre>
      <textarea
        aria-label={label}
        autocapitalize="off"
        autocomplete="off"
        id={id}
        onInput={(event) => onInput(event.currentTarget.value)}
        onScroll={(event) => {
          behind.current!.scrollTop = event.currentTarget.scrollTop;
        }}
        rows={3}
        spellcheck={false}
        value={text}
      />
    </div>
  );
}

function highlight(text: string, errorAt: number | undefined) {
  return [...text.matchAll(token)].map((match) => {
    const { groups, index } = match;
    const kind = Object.keys(groups!).find((name) => groups![name] !== undefined);
    const isWrong = errorAt !== undefined && errorAt >= index && errorAt < index + match[0].length;
    const content = kind === "other" ? match[0] : <span class={`t-${kind}`}>{match[0]}</span>;
    return isWrong ? <mark key={index}>{content}</mark> : <span key={index}>{content}</span>;
  });
}
