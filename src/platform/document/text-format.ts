/** A text format: its pattern and a human-readable description. */
export interface TextFormat {
  readonly source: string;
  readonly pattern: RegExp;
  readonly lengthMax: number;
  /** Allowed values, with an example. */
  readonly description: string;
}

/** Creates a format. The source must also be valid in a JSON Schema. */
export function textFormat(source: string, lengthMax: number, description: string): TextFormat {
  return { source, pattern: new RegExp(source, "u"), lengthMax, description };
}
