const source: unique symbol = Symbol("source");
declare const valueType: unique symbol;

/** A CEL expression whose result has the type `Value`. */
export interface Expression<Value> {
  readonly [source]: string;
  readonly [valueType]?: Value;
}

/** An expression that reads a value of a run. Its members are expressions too: `input.customer.id`. */
export type Ref<Value> = Expression<Value> & Members<Value>;

type Members<Value> = Value extends readonly (infer Element)[]
  ? { readonly [index: number]: Ref<Element> }
  : Value extends object
    ? { readonly [Name in keyof Value]-?: Ref<NonNullable<Value[Name]>> }
    : unknown;

/** A value, or an expression for it or for any of its parts. */
export type Template<Value> =
  | Value
  | Expression<Value>
  | (Value extends object ? { readonly [Name in keyof Value]: Template<Value[Name]> } : never);

/** Creates an expression that reads the value at a path, such as `steps.score`. */
export function refTo<Value>(path: string): Ref<Value> {
  const members: ProxyHandler<object> = {
    get(_target, name) {
      if (name === source) return path;
      // A reference is not a promise, and has no behaviour of its own.
      if (typeof name === "symbol" || name === "then") return undefined;
      return refTo(path + memberOf(name));
    },
  };
  return new Proxy({}, members) as Ref<Value>;
}

function memberOf(name: string): string {
  if (/^\d+$/.test(name)) return `[${name}]`;
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/**
 * Writes a CEL expression. Values in it become literals, and expressions stay expressions, so nothing has to be escaped:
 * cel`${score.value} > ${limit} && ${input.country} == "de"`.
 */
export function cel<Value = unknown>(texts: TemplateStringsArray, ...values: readonly unknown[]): Expression<Value> {
  const parts = texts.map((text, at) => (at === 0 ? text : toCel(values[at - 1]) + text));
  return { [source]: parts.join("") };
}

/** Whether a value is an expression. */
export function isExpression(value: unknown): value is Expression<unknown> {
  return typeof value === "object" && value !== null && typeof (value as Expression<unknown>)[source] === "string";
}

/** The text of an expression. */
export function sourceOf(expression: Expression<unknown>): string {
  return expression[source];
}

function toCel(value: unknown): string {
  if (isExpression(value)) return /^[\w.[\]"]+$/.test(value[source]) ? value[source] : `(${value[source]})`;
  if (Array.isArray(value)) return `[${value.map(toCel).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${toCel(each)}`);
    return `{${members.join(", ")}}`;
  }
  return JSON.stringify(value ?? null);
}

/** Writes a value as a template of the workflow language: expressions with `=`, and texts that begin with `=` as texts. */
export function toTemplate(value: unknown): unknown {
  if (isExpression(value)) return `=${value[source]}`;
  if (typeof value === "string") return value.startsWith("=") ? `=${value}` : value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toTemplate);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(members.map(([name, each]) => [name, toTemplate(each)]));
}
