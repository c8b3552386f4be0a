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

/** What conditions may name. */
export const conditionVariables: CelVariables = {
  subscriber: "map",
  payload: "map",
  workflow_key: "string",
  channel: "string",
  topic_key: "string",
  context_keys: "list",
  user_id: "string",
};

/** Work that the conditions of one decision may do together, in steps of CEL: a decision cannot be interrupted. */
const stepsMax = 25_000;

/** What conditions are asked about. */
export interface ConditionFacts {
  readonly subscriber: Subscriber;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly workflowKey: string;
  readonly topicKey: string;
  readonly contextKeys: readonly string[];
  readonly userId: string;
}

/** Asks the conditions of one decision, each once for every channel, or once at all where it names none. */
export class Conditions {
  readonly #facts: ConditionFacts;
  #values: Record<string, unknown> | undefined;
  #answers: Map<string, ConditionResult> | undefined;
  /** When all steps are used up no other condition is asked, so that a hostile set ends soon. */
  readonly #work: WorkMeter = { steps: 0 };

  constructor(facts: ConditionFacts) {
    this.#facts = facts;
  }

  ask(source: string, channel: Channel): ConditionResult {
    if (source === "") return "none";
    this.#answers ??= new Map();
    const expression = compiled(source);
    if (expression === undefined) return "error";
    const key = expression.variables.includes("channel") ? `${channel} ${source}` : source;
    let answer = this.#answers.get(key);
    if (answer === undefined) {
      answer = this.#evaluate(expression, channel);
      this.#answers.set(key, answer);
    }
    return answer;
  }

  #evaluate(expression: CelExpression, channel: Channel): ConditionResult {
    if (this.#work.steps >= stepsMax) return "error";
    this.#values ??= valuesOf(this.#facts);
    this.#values.channel = channel;
    try {
      return evaluateCondition(expression, this.#values, this.#work) ? "true" : "false";
    } catch (error) {
      // Some work is refused before it is done, and not counted.
      if (error instanceof CelError && error.kind === "budget") this.#work.steps = stepsMax;
      return "error";
    }
  }
}

/** Undefined for what was stored as a condition and is none to this version of the service. */
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
