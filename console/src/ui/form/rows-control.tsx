import { Button } from "../button";
import type { Field, Texts } from "./field";
import { FieldControl } from "./field-control";
import { parse, readRows, shownFields, toTexts } from "./form-values";

interface Props {
  readonly field: Field;
  /** The texts of the rows, as JSON. */
  readonly text: string;
  readonly set: (text: string) => void;
  /** Whether what is missing is marked. */
  readonly isInvalid: boolean;
}

/** A list of objects: each row has the same fields. */
export function RowsControl({ field: { label, fields = [] }, text, set, isInvalid }: Props) {
  const rows = readRows(text);
  const save = (next: readonly Texts[]) => set(next.length === 0 ? "" : JSON.stringify(next));
  return (
    <div class="stack">
      {rows.map((row, at) => {
        const shown = shownFields(fields, row);
        const invalid = isInvalid ? parse(shown, row).invalid : {};
        return (
          <fieldset class="form-rows" key={at}>
            <legend class="visually-hidden">{`${label}, ${at + 1}`}</legend>
            {shown.map((each) => (
              <FieldControl
                error={invalid[each.name]}
                field={each}
                key={each.name}
                set={(entered) => save(rows.with(at, { ...row, [each.name]: entered }))}
                text={row[each.name] ?? ""}
              />
            ))}
            <Button
              icon="close"
              label={`Remove ${label}, ${at + 1}`}
              onClick={() => save(rows.toSpliced(at, 1))}
              tone="quiet"
            />
          </fieldset>
        );
      })}
      <div>
        <Button icon="plus" onClick={() => save([...rows, toTexts(fields, {})])} small>
          Add
        </Button>
      </div>
    </div>
  );
}
