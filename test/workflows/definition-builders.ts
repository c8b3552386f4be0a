import type {
  Compensation,
  Definition,
  Json,
  Step,
  StepTimeout,
  Work,
} from "../../src/modules/workflows/definitions/domain/language/definition.ts";
import type { Attempt, Decision, Script } from "./reference-script.ts";

/** The optional parts of a step. */
type StepOptions = Partial<Pick<Step, "catch" | "retry" | "compensate">> & { readonly timeout?: Partial<StepTimeout> };

const noTimeout: StepTimeout = { attemptMs: undefined, totalMs: undefined, heartbeatMs: undefined };

/** A step of any kind. */
export function step(id: string, work: Work, { timeout, ...options }: StepOptions = {}): Step {
  return {
    id,
    work,
    retry: undefined,
    catch: [],
    compensate: undefined,
    ...options,
    timeout: { ...noTimeout, ...timeout },
  };
}

/** The work of a task. */
export function taskWork(input: Json = null, errors: readonly string[] = []) {
  return { kind: "task", queue: "q", type: "t", version: "", errors, with: input } as const;
}

/** The work of a route without optional parts. */
export function routeWork(pool = "sales") {
  const none = { type: undefined, key: undefined, attributes: undefined, requirements: undefined };
  return { kind: "route", pool, ...none, payload: undefined, priority: undefined } as const;
}

export function task(id: string, options: StepOptions & { readonly with?: Json } = {}): Step {
  const { with: input, ...rest } = options;
  return step(id, taskWork(input), rest);
}

export function transform(id: string, value: Json, options?: StepOptions): Step {
  return step(id, { kind: "transform", value }, options);
}

export function fails(id: string, code: string, options?: StepOptions): Step {
  return step(id, { kind: "fail", code, message: `failed at ${id}` }, options);
}

export function timer(id: string, forMs: number): Step {
  return step(id, { kind: "wait_timer", forMs, for: undefined, until: undefined });
}

export function compensation(input: Json, options: Partial<Compensation> = {}): Compensation {
  return { work: taskWork(input), retry: undefined, timeout: noTimeout, ...options };
}

export function define(steps: readonly Step[], options: Partial<Definition> = {}): Definition {
  return {
    dsl: "1",
    key: "test",
    name: "",
    description: "",
    timeoutMs: 30 * 86_400_000,
    inputSchema: undefined,
    retry: undefined,
    onFailure: "fail",
    output: undefined,
    ...options,
    steps,
  };
}

/** A script with attempts by step key. The last one of a list repeats. Keys without attempts succeed after a second. */
export function scriptOf(
  attempts: Readonly<Record<string, readonly Attempt[]>> = {},
  options: Partial<Script> & { readonly people?: Readonly<Record<string, readonly Decision[]>> } = {},
): Script {
  const { people = {}, ...rest } = options;
  return {
    input: null,
    run: { id: "run", key: "k", definition: "test", version: 1, environment: "live" },
    startedAtMs: Date.UTC(2026, 0, 1),
    attempt(stepKey, attempt) {
      const own = attempts[stepKey];
      return own === undefined ? { afterMs: 1000, output: stepKey } : own[Math.min(attempt, own.length) - 1];
    },
    decisions: (stepKey) => people[stepKey] ?? [],
    events: [],
    cancel: undefined,
    ...rest,
  };
}
