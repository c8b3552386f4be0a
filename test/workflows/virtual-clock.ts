/** What ends together: a cancelled scope and all scopes inside it do nothing any more. */
export class Scope {
  readonly #parent: Scope | undefined;
  #isCancelled = false;

  constructor(parent?: Scope) {
    this.#parent = parent;
  }

  get isCancelled(): boolean {
    return this.#isCancelled || this.#parent?.isCancelled === true;
  }

  cancel(): void {
    this.#isCancelled = true;
  }
}

interface Due {
  readonly atMs: number;
  readonly scope: Scope;
  readonly action: () => void;
  /** Whether its order among others of the same time is that of its scheduling, as for events that are sent to a run. */
  readonly isOrdered: boolean;
}

/** A clock that jumps from one due action to the next. */
export class VirtualClock {
  nowMs = 0;
  /**
   * Whether two actions without a defined order were ever due in the same millisecond. They ran in the order in which they were scheduled, which
   * is not a rule of the language.
   */
  hadTie = false;
  #due: Due[] = [];

  /** Runs an action at a time, unless its scope is cancelled before. Infinity is never. */
  at(atMs: number, scope: Scope, action: () => void, isOrdered = false): void {
    if (atMs < Number.POSITIVE_INFINITY) this.#due.push({ atMs, scope, action, isOrdered });
  }

  /** Runs until nothing is due. */
  run(): void {
    for (;;) {
      this.#due = this.#due.filter(({ scope }) => !scope.isCancelled);
      const nextMs = Math.min(...this.#due.map(({ atMs }) => atMs));
      const [next, ...others] = this.#due.filter(({ atMs }) => atMs === nextMs);
      if (next === undefined) return;
      this.hadTie ||= others.some(({ isOrdered }) => !(isOrdered && next.isOrdered));
      this.nowMs = next.atMs;
      this.#due.splice(this.#due.indexOf(next), 1);
      next.action();
    }
  }
}

/** Waits for something: calls `resume` with its result, at once or later. */
type Wait<T> = (resume: (value: T) => void) => void;

/** Sequential code that can wait. */
export type Process<T> = Generator<Wait<unknown>, T, unknown>;

/** Waits inside a process. */
export function* wait<T>(subscribe: Wait<T>): Process<T> {
  return (yield subscribe as Wait<unknown>) as T;
}

/** Starts a process. It runs at once until it first waits. Nothing is reported after its scope is cancelled. */
export function start<T>(
  process: Process<T>,
  scope: Scope,
  onResult: (value: T) => void,
  onError: (error: unknown) => void,
): void {
  const proceed = (value?: unknown): void => {
    if (scope.isCancelled) return;
    let next: IteratorResult<Wait<unknown>, T>;
    try {
      next = process.next(value);
    } catch (error) {
      if (!scope.isCancelled) onError(error);
      return;
    }
    if (next.done !== true) next.value(proceed);
    else if (!scope.isCancelled) onResult(next.value);
  };
  proceed();
}
