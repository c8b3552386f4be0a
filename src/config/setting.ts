/** A setting: its type, default and description. The name of its environment variable is derived from its key. */
export interface Setting<T = unknown> {
  readonly type: "text" | "integer" | "boolean" | "list" | "map" | "choice";
  readonly default: T;
  readonly description: string;
  /** A secret's value is never shown in full. */
  readonly secret: boolean;
  readonly choices?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

type Options = { readonly secret?: boolean };

export function text(defaultValue: string, description: string, options: Options = {}): Setting<string> {
  return { type: "text", default: defaultValue, description, secret: options.secret ?? false };
}

export function integer(
  defaultValue: number,
  description: string,
  range: { minimum?: number; maximum?: number } = { minimum: 0 },
): Setting<number> {
  return { type: "integer", default: defaultValue, description, secret: false, ...range };
}

/** A whole number, or a word that stands for a number that the service determines. */
export function integerOr<const Word extends string>(
  word: Word,
  description: string,
  range: { minimum?: number; maximum?: number },
): Setting<number | Word> {
  return { type: "integer", default: word, description, secret: false, choices: [word], ...range };
}

export function flag(defaultValue: boolean, description: string): Setting<boolean> {
  return { type: "boolean", default: defaultValue, description, secret: false };
}

export function list(defaultValue: readonly string[], description: string): Setting<readonly string[]> {
  return { type: "list", default: defaultValue, description, secret: false };
}

export function map(description: string, options: Options = {}): Setting<Readonly<Record<string, string>>> {
  return { type: "map", default: {}, description, secret: options.secret ?? false };
}

export function choice<const C extends readonly string[]>(
  choices: C,
  defaultValue: NoInfer<C[number]>,
  description: string,
): Setting<C[number]> {
  return { type: "choice", default: defaultValue, description, secret: false, choices };
}

/** The environment variable that sets a key: `api.addr` is SERVICE_API_ADDR. */
export function environmentName(key: string): string {
  return `SERVICE_${key.toUpperCase().replaceAll(".", "_")}`;
}
