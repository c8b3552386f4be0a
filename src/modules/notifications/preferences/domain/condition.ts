import {
  CelError,
  type CelExpression,
  type CelVariables,
  compileCel,
  evaluateCondition,
  type WorkMeter,
} from "../../../../platform/cel/index.ts";
import type { Channel, Subscriber } from "../../subscribers/index.ts";
import type { ConditionResult } from "./resolution.ts";

export const conditionVariables: CelVariables = {
  subscriber: "map",
  payload: "map",
  workflow_key: "string",
  channel: "string",
  topic_key: "string",
  context_keys: "list",
  user_id: "string",
};

/** CEL steps that all conditions of one decision may use together. A decision cannot be interrupted. */
const stepsMax = 25_000;

/** The facts that conditions can read. */
export interface ConditionFacts {
  readonly subscriber: Subscriber;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly workflowKey: string;
  readonly topicKey: string;
  readonly contextKeys: readonly string[];
  readonly userId: string;
}

/** Evaluates the conditions of one decision: once per channel, or once if the condition does not read the channel. */
export class Conditions {
  readonly #facts: ConditionFacts;
  #values: Record<string, unknown> | undefined;
  #results: Map<string, ConditionResult> | undefined;
  /** Once all steps are used, no further condition is evaluated, so a hostile set ends early. */
  readonly #work: WorkMeter = { steps: 0 };

  constructor(facts: ConditionFacts) {
    this.#facts = facts;
  }

  evaluate(source: string, channel: Channel): ConditionResult {
    if (source === "") return "none";
    this.#results ??= new Map();
    const expression = compiled(source);
    if (expression === undefined) return "error";
    const key = expression.variables.includes("channel") ? `${channel} ${source}` : source;
    let result = this.#results.get(key);
    if (result === undefined) {
      result = this.#run(expression, channel);
      this.#results.set(key, result);
    }
    return result;
  }

  #run(expression: CelExpression, channel: Channel): ConditionResult {
    if (this.#work.steps >= stepsMax) return "error";
    this.#values ??= valuesOf(this.#facts);
    this.#values.channel = channel;
    try {
      return evaluateCondition(expression, this.#values, this.#work) ? "true" : "false";
    } catch (error) {
      // Work that is refused in advance is not counted, so mark the budget as used.
      if (error instanceof CelError && error.kind === "budget") this.#work.steps = stepsMax;
      return "error";
    }
  }
}

/** Compiles a stored condition; undefined when it is not valid for this version of the service. */
function compiled(source: string): CelExpression | undefined {
  try {
    return compileCel(source, conditionVariables, "bool");
  } catch {
    return undefined;
  }
}

function valuesOf({ subscriber, payload, workflowKey, topicKey, contextKeys, userId }: ConditionFacts) {
  return {
    subscriber: {
      id: subscriber.id,
      external_id: subscriber.externalId,
      first_name: subscriber.firstName,
      last_name: subscriber.lastName,
      email: subscriber.email,
      phone: subscriber.phone,
      avatar: subscriber.avatar,
      locale: subscriber.locale,
      timezone: subscriber.timezone,
      data: subscriber.data,
    },
    payload,
    workflow_key: workflowKey,
    topic_key: topicKey,
    context_keys: contextKeys,
    user_id: userId,
  };
}
