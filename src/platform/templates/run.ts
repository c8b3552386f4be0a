import { escapers, type Markup } from "./formats/escape.ts";
import { limits } from "./limits.ts";
import { TemplateError } from "./template-error.ts";
import { Safe, textOf } from "./values.ts";

/** How a template is rendered. */
export interface RenderOptions {
  /** The markup that values are escaped for; `none` where the text is plain. */
  readonly escape: Markup | "none";
  /** The language of dates and numbers; English when it is absent or unknown. */
  readonly locale?: string | undefined;
  /** The time zone of dates; UTC when it is absent or unknown. */
  readonly timezone?: string | undefined;
  /** Texts that are put in as they are, by their name at the top. They are never evaluated. */
  readonly raw?: Readonly<Record<string, string>> | undefined;
  readonly bytesMax?: number | undefined;
  /** The work that is left to several renderings together; by default each has the most that one may do. */
  readonly work?: WorkBudget | undefined;
  /** Told of each path that names nothing, every time that it is written. */
  readonly onMissing?: ((path: string) => void) | undefined;
}

/** Work that may still be done, in steps. */
export interface WorkBudget {
  left: number;
}

/** As much work as one rendering may do. */
export function newWorkBudget(): WorkBudget {
  return { left: limits.workMax };
}

/** One rendering: what was written so far, and what it may still do. */
export class Run {
  /** Undefined where the text is plain. */
  readonly escape: ((text: string) => string) | undefined;
  readonly locale: string;
  readonly timezone: string;
  readonly bytesMax: number;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #raw: Readonly<Record<string, string>> | undefined;
  readonly #onMissing: ((path: string) => void) | undefined;
  #out = "";
  readonly #work: WorkBudget;

  constructor(values: Readonly<Record<string, unknown>>, options: RenderOptions) {
    this.escape = options.escape === "none" ? undefined : escapers[options.escape];
    this.#work = options.work ?? newWorkBudget();
    this.locale = options.locale ?? "";
    this.timezone = options.timezone ?? "";
    this.bytesMax = options.bytesMax ?? limits.bytesMax;
    this.#values = values;
    this.#raw = options.raw;
    this.#onMissing = options.onMissing;
  }

  /** Counts steps; throws when there were too many. */
  spend(steps: number): void {
    this.#work.left -= steps;
    // Not a number counts as too many: no arithmetic on values may switch the limit off.
    if (!(this.#work.left >= 0)) throw new TemplateError("limit_exceeded", "The template does too much work.");
  }

  /** Counts the steps to go through a text, or to make it, and answers with it. */
  passed(text: string): string {
    this.spend(1 + (text.length >> 4));
    if (text.length > this.bytesMax) throw tooLarge(this.bytesMax);
    return text;
  }

  /** Counts the steps to look for one text in another: at its worst, each is compared with all of the other. */
  sought(text: string, what: string): void {
    this.spend(1 + Math.ceil((text.length * what.length) / 128));
  }

  /** What the caller gave under a name. */
  top(name: string): unknown {
    if (this.#raw !== undefined && Object.hasOwn(this.#raw, name)) return new Safe(this.#raw[name]!);
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    return typeof value === "function" ? undefined : value;
  }

  /** Everything that the caller gave, but for the raw texts. */
  get values(): Readonly<Record<string, unknown>> {
    return this.#values;
  }

  missing(path: string): void {
    this.#onMissing?.(path);
  }

  /** Writes text of the template's own, or text that is known to be safe. */
  write(text: string): void {
    this.spend(1 + (text.length >> 6));
    this.#out += text;
    // A UTF-16 unit is a byte at least; the exact count follows at the end.
    if (this.#out.length > this.bytesMax) throw tooLarge(this.bytesMax);
  }

  /** Writes a value, escaped where the text is markup and the value is not known to be safe. */
  print(value: unknown, separator: string): void {
    const text = textOf(this, value, separator);
    const asIs = this.escape === undefined || value instanceof Safe;
    this.write(asIs ? text : this.escape(this.passed(text)));
  }

  /** What is written meanwhile, instead of writing it. */
  capture(body: () => void): string {
    const before = this.#out;
    this.#out = "";
    body();
    const captured = this.#out;
    this.#out = before;
    return this.passed(captured);
  }

  finish(): string {
    if (Buffer.byteLength(this.#out) > this.bytesMax) throw tooLarge(this.bytesMax);
    return this.#out;
  }
}

function tooLarge(bytesMax: number): TemplateError {
  return new TemplateError("too_large", `The template makes more than ${bytesMax} bytes.`);
}
