import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Button } from "../button";
import { Dialog } from "../dialog";
import { Notice } from "../text";
import { toast, toastError } from "../toast";
import type { Example, Field, Texts, Values } from "./field";
import { FieldControl } from "./field-control";
import { parse, shownFields, splitViolations, toTexts } from "./form-values";

export type { Example, Field, Texts, Values };

interface FormProps {
  readonly fields: readonly Field[];
  readonly initial?: Values;
  readonly submit: string;
  readonly onSubmit: (values: Record<string, unknown>) => Promise<unknown>;
  readonly onCancel?: () => void;
  /** Called with what is entered, for fields that depend on it. */
  readonly onEnter?: (texts: Texts) => void;
  /** Earlier values that somebody can start from. */
  readonly examples?: readonly Example[] | undefined;
  /** Content derived from the entered values, shown below all fields; `set` enters a text. */
  readonly children?: (values: Values, set: (name: string, text: string) => void) => ComponentChildren;
}

/** A form made from the description of its fields. Violations that the service reports are shown at their fields. */
function Form({ fields, initial = {}, submit, onSubmit, onCancel, onEnter, examples = [], children }: FormProps) {
  const [entered, setEntered] = useState<Texts>({});
  const [filled, setFilled] = useState<Values>({});
  const [errors, setErrors] = useState<Texts>({});
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const before = toTexts(fields, initial);
  // What was filled in also appears in fields that are shown later.
  const ofFilled = fields.filter(({ name }) => ownerOf(name) in filled);
  const texts = { ...before, ...toTexts(fields, filled, ofFilled), ...entered };

  useEffect(() => {
    form.current!.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errors]);
  useEffect(() => onEnter?.(texts), [entered, filled]);
  const shown = shownFields(fields, texts);
  const fill = (example: Values) => {
    setFilled({ ...filled, ...example });
    setEntered(Object.fromEntries(Object.entries(entered).filter(([name]) => !(ownerOf(name) in example))));
  };
  const { values, invalid } = parse(shown, texts, before);

  const set = (name: string, text: string) => setEntered((others) => ({ ...others, [name]: text }));

  const run = async (event: Event) => {
    event.preventDefault();
    setErrors(invalid);
    setProblem(undefined);
    if (Object.keys(invalid).length > 0) return;
    setBusy(true);
    try {
      await onSubmit(values);
    } catch (failure) {
      const { found, rest } = splitViolations(failure, shown, texts);
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
          {examples.length > 0 && <Examples examples={examples} fill={fill} />}
          {groupRows(shown).map((group) => [
            <div class={group.length > 1 ? "form-row" : undefined} key={group[0]!.name}>
              {group.map((field) => (
                <FieldControl
                  error={errors[field.name]}
                  field={field}
                  key={field.name}
                  set={(text) => set(field.name, text)}
                  text={texts[field.name] ?? ""}
                />
              ))}
            </div>,
            ...group.map(({ below }) => below?.(values)),
          ])}
          {children?.(values, set)}
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

/** The name of the value that a field is a part of. */
function ownerOf(name: string): string {
  return name.split(".")[0]!;
}

/** Fills the form in from earlier values. */
function Examples({ examples, fill }: { readonly examples: readonly Example[]; readonly fill: (of: Values) => void }) {
  const id = useId();
  const choose = async ({ values }: Example) => {
    try {
      fill(typeof values === "function" ? await values() : values);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <div class="field">
      <label for={id}>Fill in from</label>
      <select class="select" id={id} onChange={({ currentTarget }) => choose(examples[Number(currentTarget.value)]!)}>
        <option disabled selected value="">
          Choose an earlier one
        </option>
        {examples.map(({ label }, at) => (
          <option key={at} value={at}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

interface FormDialogProps<Result> extends Omit<FormProps, "onCancel" | "onSubmit"> {
  readonly title: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly onSubmit: (values: Record<string, unknown>) => Promise<Result>;
  /** The message after success. */
  readonly done?: string;
  /** What came of it, in place of the form. Without it the dialog closes. */
  readonly answer?: (result: Result) => ComponentChildren;
}

/** A form in a dialog that closes, or shows what came of it, after success. */
export function FormDialog<Result>({ title, wide, onClose, done, onSubmit, answer, ...form }: FormDialogProps<Result>) {
  const [shown, show] = useState<ComponentChildren>();
  const submit = async (values: Record<string, unknown>) => {
    const result = await onSubmit(values);
    if (done !== undefined) toast(done);
    if (answer === undefined) onClose();
    else show(answer(result));
  };
  return (
    <Dialog onClose={onClose} title={title} wide={wide}>
      {shown === undefined ? (
        <Form {...form} onCancel={onClose} onSubmit={submit} />
      ) : (
        <>
          <div class="dialog-body" role="status">
            {shown}
          </div>
          <div class="dialog-foot">
            <Button onClick={() => show(undefined)}>Another one</Button>
            <Button onClick={onClose} tone="primary">
              Close
            </Button>
          </div>
        </>
      )}
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
