import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../button";
import { Dialog } from "../dialog";
import { Notice } from "../text";
import { toast } from "../toast";
import type { Field, Texts, Values } from "./field";
import { FieldControl } from "./field-control";
import { parse, read, splitViolations, toText } from "./form-values";

export type { Field, Texts, Values };

interface FormProps {
  readonly fields: readonly Field[];
  readonly initial?: Readonly<Record<string, unknown>>;
  readonly submit: string;
  readonly onSubmit: (values: Record<string, unknown>) => Promise<unknown>;
  readonly onCancel?: () => void;
  /** Content derived from the entered values, shown below all fields. */
  readonly children?: (values: Values) => ComponentChildren;
}

/** A form made from the description of its fields. Violations that the service reports are shown at their fields. */
function Form({ fields, initial = {}, submit, onSubmit, onCancel, children }: FormProps) {
  const [texts, setTexts] = useState<Texts>(() =>
    Object.fromEntries(fields.map((field) => [field.name, toText(field, read(initial, field.name))])),
  );
  const [errors, setErrors] = useState<Texts>({});
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  useEffect(() => {
    form.current!.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errors]);
  const shown = fields.filter(({ appliesTo }) => appliesTo?.(texts) ?? true);
  const entered = parse(shown, texts).values;

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
          {groupRows(shown).map((group) => [
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
            </div>,
            ...group.map(({ below }) => below?.(entered)),
          ])}
          {children?.(entered)}
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

function groupRows(fields: readonly Field[]): Field[][] {
  const groups: Field[][] = [];
  for (const field of fields) {
    const last = groups.at(-1);
    if (field.row !== undefined && last?.[0]?.row === field.row) last.push(field);
    else groups.push([field]);
  }
  return groups;
}
