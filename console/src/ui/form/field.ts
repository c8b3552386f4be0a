import type { ComponentChildren } from "preact";
import type { PickerSource } from "./picker";

export interface Field {
  /** The name in the request; a dot leads into a nested object. `data.*` is what the other fields of `data` do not name. */
  readonly name: string;
  readonly label: string;
  /**
   * text by default. `list` is separated by commas; `json` is parsed. `value` is a text, or JSON if it can be read as such.
   * `rows` is a list of objects. `duration` is a text such as "5 min" and a number of seconds.
   */
  readonly kind?:
    | "text"
    | "number"
    | "duration"
    | "flag"
    | "choice"
    | "long"
    | "list"
    | "json"
    | "value"
    | "rows"
    | "password"
    | "time"
    | "code";
  readonly hint?: string;
  readonly required?: boolean;
  readonly choices?: readonly (string | { readonly value: string; readonly label: string })[];
  readonly placeholder?: string;
  /** Records to choose from by their names; several in a `list`. */
  readonly from?: PickerSource;
  /** Fields with the same row stand side by side. */
  readonly row?: string;
  /** The fields of each object of `rows`. */
  readonly fields?: readonly Field[];
  /** What an emptied field sends, where leaving it out would not change it. Emptied texts and lists are always sent. */
  readonly cleared?: unknown;
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

/** Earlier values that somebody can start from. */
export interface Example {
  readonly label: string;
  readonly values: Values | (() => Promise<Values>);
}
