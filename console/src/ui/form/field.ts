import type { ComponentChildren } from "preact";
import type { PickerSource } from "./picker";

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
  /** Records to choose from by their names; several in a `list`. */
  readonly from?: PickerSource;
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
