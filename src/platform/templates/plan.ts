import { limits } from "./limits.ts";
import type { RenderOptions } from "./run.ts";
import { type Position, TemplateError } from "./template-error.ts";

/** A compiled template. It can be rendered any number of times. */
export interface Template {
  /** The paths that it reads, such as `payload.order.id`, sorted. */
  readonly variables: readonly string[];
  /** Top-level names whose values it writes unchanged in a reachable place, which excludes comments and raw text. */
  readonly printed: ReadonlySet<string>;
  /** The names of the partials that it includes directly. */
  readonly partials: ReadonlySet<string>;
  /** Renders the template; throws a TemplateError if a work or size limit is exceeded. */
  render(values: Readonly<Record<string, unknown>>, options: RenderOptions): string;
}

/** Information about a template that is collected during compilation. */
export class Notes {
  /** The paths that the template reads. */
  readonly variables = new Set<string>();
  /** Top-level names whose values the template writes unchanged in a reachable place. */
  readonly printed = new Set<string>();
  /** The names of the partials that the template includes. */
  readonly partials = new Set<string>();
  #unreachable = 0;
  #depth = 0;

  get reachable(): boolean {
    return this.#unreachable === 0;
  }

  /** Compiles a branch, which is unreachable if a literal condition excludes it. */
  compileBranch<T>(reached: boolean, compile: () => T): T {
    if (reached) return compile();
    this.#unreachable++;
    const compiled = compile();
    this.#unreachable--;
    return compiled;
  }

  /** Compiles a nested part; throws if the nesting is too deep. */
  compileNested<T>(position: Position | undefined, compile: () => T): T {
    if (++this.#depth > limits.depthMax) {
      throw new TemplateError(
        "limit_exceeded",
        `The template is nested more than ${limits.depthMax} levels deep.`,
        position,
      );
    }
    const compiled = compile();
    this.#depth--;
    return compiled;
  }
}
