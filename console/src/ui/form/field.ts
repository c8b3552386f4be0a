import type { ComponentChildren } from "preact";

export interface Field {
  /** The name in the request; a dot leads into a nested object. */
  readonly name: string;
  readonly label: string;
  /** text by default. `list` is separated by commas; `json` is parsed; `duration` is a text such as "5 min" and a number of seconds. */
  readonly kind?:
    | "text"
    | "number"
    | "duration"
    | "flag"
    | "choice"
    | "long"
    | "list"
    | "json"
    | "password"
    | "time"
    | "code";
  readonly hint?: string;
  readonly required?: boolean;
  readonly choices?: readonly (string | { readonly value: string; readonly label: string })[];
  readonly placeholder?: string;
  /** Fields with the same row stand side by side. */
  readonly row?: string;
  /** Whether the field applies to the values entered so far; always by default. */
  readonly appliesTo?: (texts: Texts) => boolean;
  /** Another control in place of the usual one, such as an editor. */
  readonly control?: (props: { id: string; text: string; set: (text: string) => void }) => ComponentChildren;
  /** Content derived from the entered values, shown below the row of the field. */
  readonly below?: (values: Values) => ComponentChildren;
}

/** Valid entered values, in the form of the request. */
export type Values = Readonly<Record<string, unknown>>;

/** Entered texts by field name. */
export type Texts = Readonly<Record<string, string>>;
