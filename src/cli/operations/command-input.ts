import type { FieldOption, PathArgument } from "./operation-options.ts";

/** A request's fields as JSON, by their names in the definition. */
export type RequestJson = Record<string, unknown>;

/** The parsed arguments and options of an operation's command. */
export interface CommandInput {
  readonly path: readonly PathArgument[];
  readonly pathTexts: readonly string[];
  readonly fields: readonly FieldOption[];
  /** The parsed options, by name. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The options of the call, before and after the command, by name. */
  readonly callOptions: Readonly<Record<string, unknown>>;
  /** The value of --data. Options override its fields. */
  readonly data: string | undefined;
  /** The words of the command: `pool create`. */
  readonly command: string;
}
