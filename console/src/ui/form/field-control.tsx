import { useId } from "preact/hooks";
import type { Field } from "./field";
import { ManyPicker, Picker } from "./picker";
import { RowsControl } from "./rows-control";

interface ControlProps {
  readonly field: Field;
  readonly text: string;
  readonly error: string | undefined;
  readonly set: (text: string) => void;
}

/** A field with its label, its hint and its error. */
export function FieldControl({ field, text, error, set }: ControlProps) {
  const id = useId();
  const { label, hint, required, kind = "text" } = field;
  const ids = { error: error && `${id}-error`, hint: hint && `${id}-hint` };
  const described = [ids.error, ids.hint].filter(Boolean).join(" ") || undefined;
  const note = (
    <>
      {error !== undefined && (
        <span class="error" id={ids.error} role="alert">
          {error}
        </span>
      )}
      {hint && (
        <span class="hint" id={ids.hint}>
          {hint}
        </span>
      )}
    </>
  );
  if (kind === "flag") {
    return (
      <div class="field inline">
        <input
          aria-describedby={described}
          checked={text === "true"}
          id={id}
          onChange={(event) => set(String(event.currentTarget.checked))}
          type="checkbox"
        />
        <label for={id}>{label}</label>
        {note}
      </div>
    );
  }
  if (kind === "rows") {
    return (
      <fieldset aria-describedby={described} class="field">
        <legend class="label">{label}</legend>
        <RowsControl field={field} isInvalid={error !== undefined} set={set} text={text} />
        {note}
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id}>
        {label}
        {!required && <span class="faint"> · optional</span>}
      </label>
      {/* Editors are long, so their notes come first. */}
      {field.control !== undefined && note}
      {field.control?.({ id, text, set }) ?? (
        <Input described={described} field={field} id={id} isInvalid={error !== undefined} set={set} text={text} />
      )}
      {field.control === undefined && note}
    </div>
  );
}

interface InputProps {
  readonly field: Field;
  readonly id: string;
  readonly text: string;
  readonly set: (text: string) => void;
  readonly described: string | undefined;
  readonly isInvalid: boolean;
}

const inputTypes = { number: "number", password: "password", time: "datetime-local" } as const;

function Input({ field, id, text, set, described, isInvalid }: InputProps) {
  const { kind = "text", choices = [], placeholder, required } = field;
  const common = { id, "aria-describedby": described, "aria-invalid": isInvalid, "aria-required": required };
  if (field.from !== undefined) {
    const Control = kind === "list" ? ManyPicker : Picker;
    return <Control attributes={common} from={field.from} set={set} value={text} />;
  }
  if (kind === "choice") {
    return (
      <select {...common} class="select" onChange={(event) => set(event.currentTarget.value)} value={text}>
        {!required && <option value="">–</option>}
        {choices.map((choice) => {
          const { value, label } = typeof choice === "string" ? { value: choice, label: choice } : choice;
          return (
            <option key={value} selected={value === text} value={value}>
              {label}
            </option>
          );
        })}
      </select>
    );
  }
  if (kind === "long" || kind === "json" || kind === "code") {
    return (
      <textarea
        {...common}
        class={kind === "long" ? "textarea" : "textarea code"}
        onInput={(event) => set(event.currentTarget.value)}
        placeholder={placeholder}
        rows={kind === "long" || field.name.endsWith("*") ? 3 : 6}
        spellcheck={kind === "long"}
        value={text}
      />
    );
  }
  return (
    <input
      {...common}
      autocomplete="off"
      class="input"
      onInput={(event) => set(event.currentTarget.value)}
      placeholder={placeholder ?? (kind === "duration" ? "5 min" : undefined)}
      step="any"
      type={inputTypes[kind as keyof typeof inputTypes] ?? "text"}
      value={text}
    />
  );
}
