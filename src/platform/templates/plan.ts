import { limits } from "./limits.ts";
import type { RenderOptions } from "./run.ts";
import { type Position, TemplateError } from "./template-error.ts";

/** A template that can be rendered any number of times. */
export interface Template {
  /** Paths from the top that it reads, such as `payload.order.id`, in order. */
  readonly variables: readonly string[];
  /** Names at the top that it writes as they are, somewhere that can be reached: not in comments or raw text. */
  readonly printed: ReadonlySet<string>;
  /** What it says about some values; throws a TemplateError when that takes too much work or space. */
  render(values: Readonly<Record<string, unknown>>, options: RenderOptions): string;
}

/** What is noted about a template while it is compiled. */
export class Notes {
  /** Paths from the top that the template reads. */
  readonly variables = new Set<string>();
  /** Names at the top that the template writes as they are, in a place that can be reached. */
  readonly printed = new Set<string>();
  #unreachable = 0;
  #depth = 0;

  get reachable(): boolean {
    return this.#unreachable === 0;
  }

  /** Compiles what can never be rendered, since a literal decides against it. */
  within<T>(reached: boolean, compile: () => T): T {
    if (reached) return compile();
    this.#unreachable++;
    const compiled = compile();
    this.#unreachable--;
    return compiled;
  }

  /** Compiles what lies a level deeper. */
  deeper<T>(position: Position | undefined, compile: () => T): T {
    if (++this.#depth > limits.depthMax) {
      throw new TemplateError("limit_exceeded", `The template is nested more than ${limits.depthMax} deep.`, position);
    }
    const compiled = compile();
    this.#depth--;
    return compiled;
  }
}
