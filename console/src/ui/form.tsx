import { ApiError } from "@client/transport/errors";
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { messageOf } from "./format";
import { Notice } from "./text";
import { toast } from "./toast";

/** A field of a form. */
export interface Field {
  /** The name in the request; a dot leads into a nested object. */
  readonly name: string;
  readonly label: string;
  /** text by default. `list` is separated by commas; `json` is parsed. */
  readonly kind?: "text" | "number" | "flag" | "choice" | "long" | "list" | "json" | "password" | "time" | "code";
  readonly hint?: string;
  readonly required?: boolean;
  readonly choices?: readonly (string | { readonly value: string; readonly label: string })[];
  readonly placeholder?: string;
  /** Fields with the same row stand side by side. */
  readonly row?: string;
  /** Whether the field applies to what is entered so far; always by default. */
  readonly appliesTo?: (texts: Texts) => boolean;
  /** Another control in place of the usual one, such as an editor. */
  readonly control?: (props: { id: string; text: string; set: (text: string) => void }) => ComponentChildren;
}

/** What is entered, by the name of the field. */
export type Texts = Readonly<Record<string, string>>;

interface FormProps {
  readonly fields: readonly Field[];
  readonly initial?: Readonly<Record<string, unknown>>;
  readonly submit: string;
  readonly onSubmit: (values: Record<string, unknown>) => Promise<unknown>;
  readonly onCancel?: () => void;
  readonly children?: (texts: Texts) => ComponentChildren;
}

/** A form made from the description of its fields. Violations that the service reports are shown at their fields. */
export function Form({ fields, initial = {}, submit, onSubmit, onCancel, children }: FormProps) {
  const [texts, setTexts] = useState<Texts>(() =>
    Object.fromEntries(fields.map((field) => [field.name, toText(field, read(initial, field.name))])),
  );
  const [errors, setErrors] = useState<Texts>({});
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  const shown = fields.filter(({ appliesTo }) => appliesTo?.(texts) ?? true);

  const run = async (event: Event) => {
    event.preventDefault();
    const { values, invalid } = parse(shown, texts);
    setErrors(invalid);
    setProblem(undefined);
    if (Object.keys(invalid).length > 0) return;
    setBusy(true);
    try {
      await onSubmit(values);
    } catch (failure) {
      const { found, rest } = splitViolations(failure, shown);
      setErrors(found);
      setProblem(rest);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form noValidate onSubmit={run} ref={form}>
      <div class="dialog-body">
        <div class="form">
          {groupRows(shown).map((group) => (
            <div class={group.length > 1 ? "form-row" : undefined} key={group[0]!.name}>
              {group.map((field) => (
                <FieldControl
                  error={errors[field.name]}
                  field={field}
                  key={field.name}
                  set={(text) => setTexts((before) => ({ ...before, [field.name]: text }))}
                  text={texts[field.name] ?? ""}
                />
              ))}
            </div>
          ))}
          {children?.(texts)}
          {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
        </div>
      </div>
      <div class="dialog-foot">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button disabled={isBusy} tone="primary" type="submit">
          {submit}
        </Button>
      </div>
    </form>
  );
}

interface FormDialogProps extends Omit<FormProps, "onCancel"> {
  readonly title: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  /** The message after success. */
  readonly done?: string;
}

/** A form in a dialog that closes after success. */
export function FormDialog({ title, wide, onClose, done, onSubmit, ...form }: FormDialogProps) {
  const submit = async (values: Record<string, unknown>) => {
    await onSubmit(values);
    if (done !== undefined) toast(done);
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={title} wide={wide}>
      <Form {...form} onCancel={onClose} onSubmit={submit} />
    </Dialog>
  );
}

interface ControlProps {
  readonly field: Field;
  readonly text: string;
  readonly error: string | undefined;
  readonly set: (text: string) => void;
}

function FieldControl({ field, text, error, set }: ControlProps) {
  const id = useId();
  const { label, hint, required, kind = "text" } = field;
  const noteId = `${id}-note`;
  const described = error !== undefined || hint !== undefined ? noteId : undefined;
  const note =
    error === undefined ? (
      hint && (
        <span class="hint" id={noteId}>
          {hint}
        </span>
      )
    ) : (
      <span class="error" id={noteId} role="alert">
        {error}
      </span>
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
  return (
    <div class="field">
      <label for={id}>
        {label}
        {!required && <span class="faint"> · optional</span>}
      </label>
      {field.control?.({ id, text, set }) ?? (
        <Input described={described} field={field} id={id} isInvalid={error !== undefined} set={set} text={text} />
      )}
      {note}
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
        rows={kind === "long" ? 3 : 6}
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
      placeholder={placeholder}
      step="any"
      type={inputTypes[kind as keyof typeof inputTypes] ?? "text"}
      value={text}
    />
  );
}

function groupRows(fields: readonly Field[]): Field[][] {
  const groups: Field[][] = [];
  for (const field of fields) {
    const last = groups.at(-1);
    if (field.row !== undefined && last?.[0]?.row === field.row) last.push(field);
    else groups.push([field]);
  }
  return groups;
}

function read(values: Readonly<Record<string, unknown>>, name: string): unknown {
  return name
    .split(".")
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], values);
}

function toText({ kind, choices, required }: Field, value: unknown): string {
  if (value === undefined || value === null) {
    if (kind === "choice" && required) return choiceValue(choices?.[0]);
    return "";
  }
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (kind === "list") return (value as readonly string[]).join(", ");
  if (kind === "time") return String(value).slice(0, 16);
  return String(value);
}

function choiceValue(choice: NonNullable<Field["choices"]>[number] | undefined): string {
  return typeof choice === "string" ? choice : (choice?.value ?? "");
}

/** Converts the texts of a form to the values of a request. Empty fields are left out. */
export function parse(fields: readonly Field[], texts: Texts): { values: Record<string, unknown>; invalid: Texts } {
  const values: Record<string, unknown> = {};
  const invalid: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? "";
    if (text === "" && field.kind !== "flag") {
      if (field.required) invalid[field.name] = "This field is required.";
      continue;
    }
    try {
      write(values, field.name, toValue(field, text));
    } catch {
      invalid[field.name] = field.kind === "json" ? "This is not valid JSON." : "This is not a number.";
    }
  }
  return { values, invalid };
}

function toValue({ kind }: Field, text: string): unknown {
  switch (kind) {
    case "number": {
      const value = Number(text);
      if (Number.isNaN(value)) throw new TypeError("not a number");
      return value;
    }
    case "flag":
      return text === "true";
    case "list":
      return text
        .split(/[,\n]/)
        .map((part) => part.trim())
        .filter(Boolean);
    case "json":
      return JSON.parse(text);
    case "time":
      return new Date(text).toISOString();
    default:
      return text;
  }
}

function write(target: Record<string, unknown>, name: string, value: unknown): void {
  const parts = name.split(".");
  let object = target;
  for (const part of parts.slice(0, -1)) {
    object[part] ??= {};
    object = object[part] as Record<string, unknown>;
  }
  object[parts.at(-1)!] = value;
}

/** Divides the violations of an error between the fields and a general message. */
function splitViolations(failure: unknown, fields: readonly Field[]): { found: Texts; rest: string | undefined } {
  const violations = failure instanceof ApiError ? failure.violations : [];
  const found: Record<string, string> = {};
  const others: string[] = [];
  for (const { field, message } of violations) {
    const owner = fields.find(
      ({ name }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
    );
    if (owner === undefined) others.push(`${field} ${message}`);
    else found[owner.name] = message;
  }
  if (violations.length === 0) return { found, rest: messageOf(failure) };
  return { found, rest: others.length === 0 ? undefined : others.join(" ") };
}
