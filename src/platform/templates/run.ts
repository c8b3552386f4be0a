import { escapers, type Markup } from "./formats/escape.ts";
import { limits } from "./limits.ts";
import { TemplateError } from "./template-error.ts";
import { SafeText, textOf } from "./values.ts";

/** The options of a rendering. */
export interface RenderOptions {
  /** The markup that values are escaped for; `none` for plain text. */
  readonly escape: Markup | "none";
  /** The time that `now` means to the helpers for dates. */
  readonly nowMs: number;
  /** The language of dates and numbers; English if it is absent or unknown. */
  readonly locale?: string | undefined;
  /** The time zone of dates; UTC if it is absent or unknown. */
  readonly timezone?: string | undefined;
  /** Texts that are inserted unchanged and never evaluated, by their top-level name. */
  readonly raw?: Readonly<Record<string, string>> | undefined;
  readonly bytesMax?: number | undefined;
  /** Finds the source of a partial, in the language of the template. Without it, there are no partials. */
  readonly partials?: FindPartial | undefined;
  /** A work budget shared by several renderings; by default each rendering has its own. */
  readonly work?: WorkBudget | undefined;
  /** Receives the path of each missing value, every time it is written. */
  readonly onMissing?: ((path: string) => void) | undefined;
}

/** Finds the source of a partial by its name; undefined if there is none. */
export type FindPartial = (name: string) => string | undefined;

/** The remaining work, in steps. */
export interface WorkBudget {
  left: number;
}

/** Creates the work budget of one rendering. */
export function newWorkBudget(): WorkBudget {
  return { left: limits.workMax };
}

/** The state of one rendering: its output so far and its remaining work. */
export class Run {
  /** Undefined for plain text. */
  readonly escape: ((text: string) => string) | undefined;
  readonly locale: string;
  readonly timezone: string;
  readonly nowMs: number;
  readonly bytesMax: number;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #raw: Readonly<Record<string, string>> | undefined;
  readonly #onMissing: ((path: string) => void) | undefined;
  #out = "";
  readonly #work: WorkBudget;
  readonly #partials: FindPartial | undefined;
  #partialDepth = 0;

  constructor(values: Readonly<Record<string, unknown>>, options: RenderOptions) {
    this.escape = options.escape === "none" ? undefined : escapers[options.escape];
    this.#work = options.work ?? newWorkBudget();
    this.locale = options.locale ?? "";
    this.timezone = options.timezone ?? "";
    this.nowMs = options.nowMs;
    this.bytesMax = options.bytesMax ?? limits.bytesMax;
    this.#values = values;
    this.#raw = options.raw;
    this.#onMissing = options.onMissing;
    this.#partials = options.partials;
  }

  /** Charges steps; throws if the budget is exceeded. */
  spend(steps: number): void {
    this.#work.left -= steps;
    // The negated comparison also rejects NaN, so that arithmetic on values cannot disable the limit.
    if (!(this.#work.left >= 0))
      throw new TemplateError("limit_exceeded", "The template exceeds the work limit of one rendering.");
  }

  /** Charges for reading or creating a text, and returns it. */
  chargeText(text: string): string {
    this.spend(1 + (text.length >> 4));
    if (text.length > this.bytesMax) throw tooLarge(this.bytesMax);
    return text;
  }

  /** Charges for a text search, which in the worst case compares every pair of characters. */
  chargeSearch(text: string, what: string): void {
    this.spend(1 + Math.ceil((text.length * what.length) / 128));
  }

  /** The input value or raw text with a top-level name. */
  top(name: string): unknown {
    if (this.#raw !== undefined && Object.hasOwn(this.#raw, name)) return new SafeText(this.#raw[name]!);
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    return typeof value === "function" ? undefined : value;
  }

  /** All input values, without the raw texts. */
  get values(): Readonly<Record<string, unknown>> {
    return this.#values;
  }

  missing(path: string): void {
    this.#onMissing?.(path);
  }

  /** Writes a partial; throws if there is none, or if partials include each other without an end. */
  include(name: string, write: (source: string) => void): void {
    this.spend(5);
    const source = this.#partials?.(name);
    if (source === undefined) throw new TemplateError("partial_missing", `There is no partial named ${name}.`);
    if (++this.#partialDepth > limits.partialDepthMax) {
      const message = `Partials include each other more than ${limits.partialDepthMax} levels deep.`;
      throw new TemplateError("limit_exceeded", message);
    }
    write(source);
    this.#partialDepth--;
  }

  /** Writes literal text of the template, or text that is known to be safe. */
  write(text: string): void {
    this.spend(1 + (text.length >> 6));
    this.#out += text;
    // A UTF-16 unit takes at least one byte. The exact size is checked at the end.
    if (this.#out.length > this.bytesMax) throw tooLarge(this.bytesMax);
  }

  /** Writes a value; in markup it is escaped unless it is known to be safe. */
  print(value: unknown, separator: string): void {
    const text = textOf(this, value, separator);
    const asIs = this.escape === undefined || value instanceof SafeText;
    this.write(asIs ? text : this.escape(this.chargeText(text)));
  }

  /** Returns the output of a body instead of writing it. */
  capture(body: () => void): string {
    const before = this.#out;
    this.#out = "";
    body();
    const captured = this.#out;
    this.#out = before;
    return this.chargeText(captured);
  }

  finish(): string {
    if (Buffer.byteLength(this.#out) > this.bytesMax) throw tooLarge(this.bytesMax);
    return this.#out;
  }
}

function tooLarge(bytesMax: number): TemplateError {
  return new TemplateError("too_large", `The output of the template has more than ${bytesMax} bytes.`);
}
