import type {
  Compensation,
  Definition,
  Json,
  RetryPolicy,
  Step,
  StepTimeout,
  StreamAppendWork,
  StreamReadWork,
  Work,
} from "../../src/modules/workflows/definitions/domain/language/definition.ts";
import { fc } from "../harness/random.ts";
import type { Attempt, Decision, Script, ScriptedEvent } from "./reference-script.ts";

/** A valid definition with a script for one run of it. */
export interface Scenario {
  readonly definition: Definition;
  readonly script: Script;
  /** The script's data, to print and to repeat a scenario. */
  readonly described: { readonly attempts: Scripted<Attempt>; readonly decisions: Scripted<readonly Decision[]> };
}

/** Scripted values by step id (compensations: `~` and the id). Repetitions in maps and retries take turns. */
type Scripted<T> = Readonly<Record<string, readonly T[]>>;

/**
 * Random definitions of at most about a dozen steps. Each choice takes a number from a list, and 0 is the simplest
 * choice, so that fast-check shrinks a definition by shrinking the list.
 *
 * Left out, because the language document does not define it exactly: failures that are not retryable under a policy
 * with `on`, codes that a task does not declare, limits of blocks and waits, and messages of the service.
 */
export const scenarios: fc.Arbitrary<Scenario> = fc
  .array(fc.nat({ max: 999_999 }), { minLength: 120, maxLength: 300, size: "max" })
  .map((numbers) => buildScenario(new Choices(numbers)));

class Choices {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** A number below a limit; 0 when the list is used up. */
  below(limit: number): number {
    return (this.#numbers[this.#next++] ?? 0) % limit;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** True in one of n cases, and never when the list is used up. */
  oneIn(n: number): boolean {
    return this.below(n) === n - 1;
  }

  /** A duration without a common factor with others, so that few things happen in the same millisecond. */
  ms(max: number): number {
    return 1 + this.below(max);
  }
}

/** What expressions at a place may use. */
interface Place {
  readonly stepIds: readonly string[];
  readonly isInMap: boolean;
  readonly isInCatch: boolean;
  readonly depth: number;
}

const effectKinds = [...["task", "route", "notify", "action", "subworkflow", "stream_append", "stream_read"]] as const;

type EffectWork = Compensation["work"] | StreamAppendWork | StreamReadWork;

const stepsMax = 12;
const depthMax = 3;
const taskErrors = ["quota", "busy"];
const failCodes = ["stopped", "unsigned"];
const eventNames = ["signed", "declined"];
const noTimeout: StepTimeout = { attemptMs: undefined, totalMs: undefined, heartbeatMs: undefined };

function buildScenario(choices: Choices): Scenario {
  const builder = new ScenarioBuilder(choices);
  const top: Place = { stepIds: [], isInMap: false, isInCatch: false, depth: 0 };
  const steps = builder.list(top, 1 + choices.below(4));
  const atEnd = { ...top, stepIds: steps.map(({ id }) => id) };
  const definition: Definition = {
    dsl: "1",
    key: "random",
    name: "",
    description: "",
    timeoutMs: choices.oneIn(5) ? 1 + choices.ms(60_000) : 30 * 86_400_000,
    inputSchema: undefined,
    retry: choices.oneIn(3) ? builder.retryPolicy([]) : undefined,
    onFailure: choices.of(["fail", "compensate"] as const),
    steps,
    output: choices.oneIn(3) ? builder.template(atEnd) : undefined,
  };
  return { definition, ...builder.script() };
}

class ScenarioBuilder {
  readonly #choices: Choices;
  readonly #attempts: Record<string, readonly Attempt[]> = {};
  readonly #decisions: Record<string, readonly (readonly Decision[])[]> = {};
  #stepCount = 0;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  /** Steps of one list; later ones see earlier ones. */
  list(place: Place, minimum: number): Step[] {
    const steps: Step[] = [];
    const length = Math.max(minimum, this.#choices.below(4));
    while (steps.length < length && (this.#stepCount < stepsMax || steps.length < minimum)) {
      const visible = [...place.stepIds, ...steps.map(({ id }) => id)];
      steps.push(this.#step({ ...place, stepIds: visible }));
    }
    return steps;
  }

  #step(place: Place): Step {
    const choices = this.#choices;
    const id = `s${++this.#stepCount}`;
    const inside: Place = { ...place, depth: place.depth + 1 };
    const work = this.#work(id, place, inside);
    const isEffect = effectKinds.some((kind) => kind === work.kind);
    const codes = codesOf(work);
    return {
      id,
      work,
      retry: isEffect && choices.oneIn(3) ? this.retryPolicy(codes) : undefined,
      timeout: work.kind === "task" ? this.#taskTimeout() : isEffect ? this.#totalTimeout() : noTimeout,
      catch: inside.depth <= depthMax && choices.oneIn(3) ? this.#catches(codes, inside) : [],
      compensate:
        this.#canBeUndone(work) && choices.below(4) > (isEffect ? 0 : 2) ? this.#compensation(id, place) : undefined,
    };
  }

  /** Blocks are undone step by step, and a fail step never completes. */
  #canBeUndone({ kind }: Work): boolean {
    return !["branch", "parallel", "map", "fail"].includes(kind);
  }

  #work(id: string, place: Place, inside: Place): Work {
    const simple = [
      "transform",
      "task",
      "task",
      "task",
      "wait_timer",
      "wait_event",
      "approval",
      "fail",
      "route",
      "notify",
      "action",
      "subworkflow",
      "stream_append",
      "stream_read",
    ];
    const kinds = place.depth < depthMax ? [...simple, "branch", "parallel", "map", "parallel", "map"] : simple;
    const choices = this.#choices;
    const kind = choices.of(kinds);
    switch (kind) {
      case "task":
      case "route":
      case "notify":
      case "action":
      case "subworkflow":
      case "stream_append":
      case "stream_read":
        return this.#effect(kind, id, place);
      case "wait_timer":
        return this.#timer(place);
      case "wait_event":
        return {
          kind,
          any: eventNames.slice(0, 1 + choices.below(2)).map((event) => ({ event, scope: this.#scope(place) })),
          timeoutMs: choices.ms(40_000),
          onTimeout: choices.oneIn(2) ? this.list(inside, 0) : undefined,
        };
      case "approval":
        this.#decisions[id] = this.#some(2, () => this.#some(3, () => this.#decision()));
        return {
          kind,
          by: ["role:operator", "user:ann"],
          quorum: 1 + choices.below(2),
          timeoutMs: choices.ms(40_000),
          onTimeout: choices.oneIn(2) ? this.list(inside, 0) : undefined,
          title: this.template(place),
          details: {},
          commentRequired: choices.oneIn(4),
        };
      case "branch":
        return {
          kind,
          arms: this.#some(2, () => ({ when: this.#condition(place), steps: this.list(inside, 0) })),
          otherwise: choices.oneIn(2) ? this.list(inside, 0) : undefined,
        };
      case "parallel":
        return {
          kind,
          branches: ["a", "b", "c"]
            .slice(0, 2 + choices.below(2))
            .map((name) => ({ name, steps: this.list(inside, 1) })),
          onError: choices.of(["fail", "collect"] as const),
        };
      case "map":
        return {
          kind,
          in: choices.of<Json>(["=input.list", ["x", "=input.n", null], "=input.list", [], "=input.n"]),
          maxItems: choices.of([5, 5, 2]),
          maxParallel: 1 + choices.below(3),
          onError: choices.of(["fail", "collect"] as const),
          steps: this.list({ ...inside, isInMap: true }, 1),
        };
      case "fail":
        return { kind, code: choices.of(failCodes), message: "told to" };
      default:
        return { kind: "transform", value: this.template(place) };
    }
  }

  #effect<Kind extends EffectWork["kind"]>(
    kind: Kind,
    scriptKey: string,
    place: Place,
  ): Extract<EffectWork, { kind: Kind }> {
    return this.#effectOf(kind, scriptKey, place) as Extract<EffectWork, { kind: Kind }>;
  }

  #effectOf(kind: EffectWork["kind"], scriptKey: string, place: Place): EffectWork {
    const choices = this.#choices;
    const failures = {
      task: ["", ...taskErrors, "worker_lost"],
      route: ["route_rejected", "pool_not_found"],
      notify: ["notify_failed"],
      action: ["unavailable", "not_found", "outcome_unknown"],
      subworkflow: ["subworkflow_failed"],
      stream_append: ["stream_backpressure", "stream_closed"],
      stream_read: ["resync_required", "read_failed"],
    };
    const own = failures[kind];
    this.#attempts[scriptKey] = this.#some(3, () => this.#attempt(own));
    switch (kind) {
      case "task":
        return { kind, queue: "work", type: "do", version: "", errors: taskErrors, with: this.template(place) };
      case "route":
        return {
          kind,
          pool: "sales",
          type: undefined,
          key: choices.oneIn(2) ? this.template(place) : undefined,
          attributes: undefined,
          requirements: undefined,
          payload: this.template(place),
          priority: undefined,
        };
      case "notify":
        return { kind, workflowKey: "hello", to: "ann", channels: undefined, payload: { value: this.template(place) } };
      case "action":
        return { kind, action: "github.issue.create", connection: "c", with: { value: this.template(place) } };
      case "subworkflow":
        return { kind, key: "other", version: undefined, input: this.template(place) };
      case "stream_append":
        return {
          ...{ kind, stream: "audit", value: this.template(place), contentClass: "", schemaRef: "" },
          pins: choices.oneIn(2) ? { content_classes: ["=constant"] } : undefined,
        };
      case "stream_read":
        return { kind, stream: "audit", cursor: choices.oneIn(2) ? this.template(place) : undefined, limit: 5 };
    }
  }

  #timer(place: Place): Work {
    const choices = this.#choices;
    const none = { forMs: undefined, for: undefined, until: undefined };
    const seconds = choices.ms(30_000) / 1000;
    switch (choices.below(4)) {
      case 1:
        return { kind: "wait_timer", ...none, for: `=${seconds}` };
      case 2:
        return { kind: "wait_timer", ...none, until: `=run.started_at + duration('${seconds}s')` };
      case 3:
        return { kind: "wait_timer", ...none, for: place.isInMap ? "=string(index) + 's'" : "=input.pause" };
      default:
        return { kind: "wait_timer", ...none, forMs: choices.ms(30_000) };
    }
  }

  #compensation(id: string, place: Place): Compensation {
    const choices = this.#choices;
    const kind = choices.of(["task", "route", "notify", "action", "subworkflow"] as const);
    const work = this.#effect(kind, `~${id}`, { ...place, stepIds: [...place.stepIds, id] });
    return { work, retry: choices.oneIn(3) ? this.retryPolicy(codesOf(work)) : undefined, timeout: noTimeout };
  }

  #catches(codes: readonly string[], inside: Place): Step["catch"] {
    return this.#some(2, () => ({
      on: this.#choices.oneIn(2) ? ["*"] : [this.#choices.of(codes)],
      steps: this.list({ ...inside, isInCatch: true }, 0),
    }));
  }

  /** A policy that may name some codes. */
  retryPolicy(codes: readonly string[]): RetryPolicy {
    const choices = this.#choices;
    return {
      maxAttempts: 1 + choices.below(4),
      initialMs: choices.ms(3000),
      factor: 1 + choices.below(3),
      maxMs: 3000 + choices.ms(5000),
      on:
        codes.length > 0 && choices.oneIn(3)
          ? [choices.of(codes.filter((code) => code !== "expression_error" && code !== "outcome_unknown"))]
          : undefined,
    };
  }

  #taskTimeout(): StepTimeout {
    const choices = this.#choices;
    const attemptMs = choices.oneIn(4) ? choices.ms(20_000) : undefined;
    const totalMs = choices.oneIn(4) ? (attemptMs ?? 300_000) + choices.ms(20_000) : undefined;
    return { attemptMs, totalMs, heartbeatMs: undefined };
  }

  #totalTimeout(): StepTimeout {
    return this.#choices.oneIn(5) ? { ...noTimeout, totalMs: this.#choices.ms(20_000) } : noTimeout;
  }

  // Expressions

  template(place: Place): Json {
    const choices = this.#choices;
    switch (choices.below(6)) {
      case 1:
        return this.#expression(place);
      case 2:
        return { value: this.#expression(place), fixed: "==" };
      case 3:
        return [this.#expression(place), 1];
      default:
        return choices.of<Json>([null, "text", 7, true]);
    }
  }

  #expression(place: Place): string {
    const choices = this.#choices;
    const known = ["=input.n + 1", "=input.text", "=run.key", "=size(input.list)", "=input"];
    for (const id of place.stepIds) known.push(`=steps.${id}`, `=steps['${id}'] == null`);
    if (place.isInMap) known.push("=item", "=index * 10");
    if (place.isInCatch) known.push("=err.code", "=err.step");
    return choices.oneIn(12) ? "=input.missing" : choices.of(known);
  }

  #condition(place: Place): string {
    const conditions = ["=input.n > 3", "=input.flag", "=!input.flag"];
    for (const id of place.stepIds) conditions.push(`=steps.${id} == null`);
    if (place.isInMap) conditions.push("=index % 2 == 0", "=item != 'x'");
    return this.#choices.oneIn(12) ? "=input.n" : this.#choices.of(conditions);
  }

  #scope(place: Place): Json {
    return this.#choices.of<Json>(["", "=input.text", place.isInMap ? "=index" : "=input.n"]);
  }

  // The script

  script(): Omit<Scenario, "definition"> {
    const choices = this.#choices;
    const attempts = this.#attempts;
    const decisions = this.#decisions;
    const input = {
      n: choices.below(6),
      flag: choices.oneIn(2),
      text: choices.of(["", "one"]),
      list: ["x", 5, null, true].slice(0, choices.below(5)),
      pause: choices.of(["3s", "1m", "1500ms"]),
    };
    const script: Script = {
      input,
      run: { id: "run", key: "k", definition: "random", version: 1, environment: "live" },
      startedAtMs: Date.UTC(2026, 0, 1),
      attempt(stepKey, attempt) {
        const { id, turn } = turnOf(stepKey);
        const own = attempts[id];
        if (own === undefined) return undefined;
        const scripted = own[(turn + attempt - 1) % own.length]!;
        // Elements of a map do not end in the same millisecond.
        return { ...scripted, afterMs: scripted.afterMs + 17 * turn };
      },
      decisions(stepKey) {
        const { id, turn } = turnOf(stepKey);
        const own = decisions[id]!;
        return own[turn % own.length]!.map((decision) => ({ ...decision, afterMs: decision.afterMs + 19 * turn }));
      },
      events: this.#events(input.n),
      cancel: choices.oneIn(8) ? { atMs: choices.ms(60_000), compensate: choices.oneIn(2) } : undefined,
    };
    return { script, described: { attempts, decisions } };
  }

  #attempt(codes: readonly string[]): Attempt {
    const choices = this.#choices;
    const afterMs = choices.ms(20_000);
    if (!choices.oneIn(4)) return { afterMs, output: choices.of<Json>([null, { value: 80 }, "done", 3]) };
    const code = choices.of(codes);
    // Policies with `on` may list every code but the one without a name.
    return {
      afterMs,
      code,
      message: "scripted",
      details: { n: 1 },
      ...(code === "" && { retryable: choices.oneIn(2) }),
    };
  }

  #decision(): Decision {
    const choices = this.#choices;
    return {
      afterMs: choices.ms(20_000),
      user: choices.of(["ann", "bob", "eve"]),
      roles: choices.of([["operator"], [], ["viewer"]]),
      approved: !choices.oneIn(4),
      comment: choices.of(["fine", ""]),
    };
  }

  #events(n: number): ScriptedEvent[] {
    const choices = this.#choices;
    return Array.from({ length: choices.below(5) }, (_, at) => ({
      atMs: choices.ms(40_000),
      event: choices.of(eventNames),
      scope: choices.of(["", "one", String(n), "0", "1"]),
      payload: { at },
      eventId: `e${at}`,
    }));
  }

  #some<T>(max: number, build: () => T): T[] {
    return Array.from({ length: 1 + this.#choices.below(max) }, build);
  }
}

/** The codes that a step may name: those of its kind, of its task, and of the tasks and `fail` steps inside it. */
function codesOf(work: Work): string[] {
  switch (work.kind) {
    case "task":
      return [...work.errors, "worker_lost", "expression_error"];
    case "route":
      return ["route_rejected", "pool_not_found", "expression_error"];
    case "notify":
      return ["notify_failed", "expression_error"];
    case "action":
      return ["unavailable", "not_found", "outcome_unknown", "expression_error"];
    case "subworkflow":
      return ["subworkflow_failed", "expression_error"];
    case "stream_append":
      return ["stream_backpressure", "stream_closed", "expression_error"];
    case "stream_read":
      return ["resync_required", "read_failed", "expression_error"];
    case "fail":
      return [work.code];
    case "wait_event":
      return work.onTimeout === undefined ? ["wait_timeout", "expression_error"] : ["expression_error"];
    case "approval":
      return work.onTimeout === undefined ? ["approval_timeout", "approval_rejected"] : ["approval_rejected"];
    case "map":
      return ["map_too_large", "expression_error"];
    default:
      return ["expression_error"];
  }
}

/** The step id of a step key, and a number that differs between the elements of a map. */
function turnOf(stepKey: string): { id: string; turn: number } {
  const [, id, positions] = /^(~?\w+)(?:\[(.*)\])?$/.exec(stepKey)!;
  const turn = (positions ?? "").split(",").reduce((sum, position) => 5 * sum + Number(position), 0);
  return { id: id!, turn };
}
