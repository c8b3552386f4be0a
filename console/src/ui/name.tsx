import type { ResolvedName } from "@client/gen/discovery";
import { nameOf } from "../core/names";
import { placeOf } from "../core/places";
import { formatMinute, words } from "./format";
import type { Column } from "./table";
import { CopyIdButton } from "./text";

interface Props {
  readonly id: string | undefined;
  /** Such as `recipient`; without one, the service finds it out, which takes longer. */
  readonly kind?: string | undefined;
  /** Whether it stands in a link or a button, so that it cannot be one itself. */
  readonly plain?: boolean | undefined;
  /** What is shown when the service shows no such record; its kind by default. */
  readonly otherwise?: string;
}

/** A record by its name, as a link to its page. Its id is its title, and can be copied. */
export function Name({ id, kind, plain = false, otherwise }: Props) {
  if (id === undefined || id === "") return <span class="faint">–</span>;
  const found = nameOf(id, kind);
  const text = found === null && otherwise !== undefined ? otherwise : textOf(found, id, kind);
  if (!found || plain) {
    return (
      <span aria-busy={found === undefined || undefined} class={found ? undefined : "faint"} title={id}>
        {text}
      </span>
    );
  }
  const place = placeOf(found);
  return (
    <span class="name">
      {place === undefined ? (
        <span title={id}>{text}</span>
      ) : (
        <a class="link" href={place} title={id}>
          {text}
        </a>
      )}
      <CopyIdButton id={found.record_id} name={text} />
    </span>
  );
}

/** A column that shows a record by its name, and sorts by it. */
export function nameColumn<Row>({
  id,
  kind,
  plain,
  ...column
}: Pick<Column<Row>, "title" | "width"> & Omit<Props, "id"> & { readonly id: (row: Row) => string }): Column<Row> {
  return {
    ...column,
    value: (row) => (id(row) === "" ? "" : textOf(nameOf(id(row), kind), id(row), kind)),
    render: (row) => <Name id={id(row)} kind={kind} plain={plain} />,
  };
}

/** A call of the API, or the id of a record, perhaps after what it is called where it acts. */
const callOrId = /((?:GET|POST|PUT|PATCH|DELETE) \/api\S*[^\s.,])|\b((?:[a-z_]+:)?[0-7][0-9A-HJKMNP-TV-Z]{25})\b/;

/** A text of the service: its calls as code, and the records that it speaks of by their names. */
export function Prose({ text }: { readonly text: string }) {
  const parts = text.split(callOrId);
  return (
    <>
      {parts.map((part, index) => {
        if (index % 3 === 0) return part;
        if (part === undefined) return null;
        return index % 3 === 1 ? <code key={part}>{part}</code> : <Name id={part} key={part} />;
      })}
    </>
  );
}

/** A column with texts of the service. */
export function proseColumn<Row>(title: string, text: (row: Row) => string | undefined): Column<Row> {
  const render = (row: Row) => (
    <span title={text(row)}>
      <Prose text={text(row) ?? "–"} />
    </span>
  );
  return { title, value: text, render };
}

/** The name of a record in a sentence; its kind until it is known, and if the service shows no such record. */
export function nameText(id: string, kind: string): string {
  return textOf(nameOf(id, kind), id, kind);
}

function textOf(found: ResolvedName | null | undefined, id: string, kind = ""): string {
  if (found === undefined) return "…";
  // A record that is gone, or that the person may not read. Callers without a record, such as service:workflow, speak for themselves.
  if (found === null) return kind === "" && !ulid.test(id) ? id : words(kind || "record");
  return found.created_at === undefined ? found.name : `${found.name} · ${formatMinute(found.created_at)}`;
}

const ulid = /[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
