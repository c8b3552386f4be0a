import {
  isJsonObject,
  type Json,
  type JsonObject,
  ObjectReader,
  shortName,
  type Violations,
} from "../../../../../platform/document/index.ts";
import {
  defineObject,
  type Member,
  object,
  objectSchema,
  objects,
  optional,
  optionalText,
  text,
} from "../../../../../platform/json-schema/index.ts";
import { formats, limits, reservedNames } from "./limits.ts";
import { expressionSchema, inputSchema, isExpressionText, template } from "./members.ts";

const addresses = ["subscriber_external_id", "subscriber_id", "topic"] as const;

/** A template: the external id of a subscriber, or one address. */
export const receiver: Member<Json> = {
  name: "to",
  schema: {
    oneOf: [
      { type: "string" },
      {
        ...objectSchema(Object.fromEntries(addresses.map((name) => [name, template(name).schema]))),
        ...{ minProperties: 1, maxProperties: 1 },
      },
    ],
  },
  isRequired: true,
  read(notify, { violations }) {
    const to = notify.required("to", '"=input.user"') ?? "";
    if (isJsonObject(to)) {
      const known = { known: addresses, example: '{"topic": "news"}', what: "to" };
      const address = ObjectReader.open(to, notify.pathOf("to"), violations, known)!;
      if (addresses.filter((name) => address.has(name)).length !== 1) {
        const message = `must have exactly one of ${addresses.join(", ")}, for example {"topic": "news"}`;
        notify.refuse("to", "choice", message);
      }
    } else if (typeof to !== "string") {
      notify.refuse("to", "type", 'must be the external id of a subscriber or an object, for example "=input.user"');
    }
    return notify.nested("to", limits.templateDepth) ?? "";
  },
};

/** A template: the id of a connection; undefined for providers without authentication. */
export const connection: Member<Json | undefined> = {
  ...{ name: "connection", schema: { type: "string" }, isRequired: false },
  read(action) {
    const value = action.nested("connection", limits.templateDepth);
    if (value !== undefined && typeof value !== "string") {
      action.refuse("connection", "type", 'must be the id of a connection, for example "=input.connection"');
    }
    return value;
  },
};

/** The pins of a stream that is created; undefined for the defaults. */
export const pins: Member<JsonObject | undefined> = {
  ...{ name: "pins", schema: { type: "object" }, isRequired: false },
  read(append) {
    const value = append.get("pins");
    if (value === undefined || isJsonObject(value)) return value;
    return append.refuse("pins", "type", 'must be an object, for example {"retention": {"max_age_s": 3600}}');
  },
};

/** The condition of an arm. */
export const when: Member<string> = {
  ...{ name: "when", schema: expressionSchema, isRequired: true },
  read(arm) {
    const value = arm.required("when", '"=input.vip"');
    if (isExpressionText(value)) return value;
    if (value !== undefined)
      arm.refuse("when", "expression", 'must be an expression that starts with =, for example "=input.vip"');
    return "=false";
  },
};

/** Reports a name of a step or branch that is not allowed. */
export function checkName(name: string, path: string, what: string, violations: Violations): void {
  const { pattern, lengthMax, description } = formats.stepId;
  if (!pattern.test(name) || name.length > lengthMax) violations.add(path, "pattern", `${what} ${description}`);
  else if (reservedNames.includes(name)) {
    violations.add(path, "reserved_name", `${what} must not be ${shortName(name)}, which is reserved: choose another`);
  }
}

/** A template: the list. */
export const mapped: Member<Json> = {
  ...{ name: "in", schema: { oneOf: [{ type: "array" }, expressionSchema] }, isRequired: true },
  read(map) {
    const list = map.required("in", '"=input.documents"') ?? [];
    if (!Array.isArray(list) && !isExpressionText(list)) {
      map.refuse("in", "type", 'must be a list or an expression, for example "=input.documents"');
    }
    return map.nested("in", limits.templateDepth) ?? [];
  },
};

const scope: Member<Json> = {
  ...{ name: "scope", schema: { type: ["string", "number", "boolean"] }, isRequired: false },
  read(entry) {
    const value = entry.nested("scope", limits.templateDepth) ?? "";
    if (typeof value === "object") entry.refuse("scope", "type", 'must be a text, for example "=input.id"');
    return value;
  },
};

/** The members of an event that a step waits for. A scope is a template. */
export const eventMembers = { event: text("event", formats.name), scope };
const event = defineObject("an event", '{"event": "contract.signed", "scope": "=input.id"}', eventMembers);
const anyOf = objects("any", event, { min: 1, max: limits.events }, '[{"event": "contract.signed"}]');

const updateObject = defineObject("update", '{"when": "=update.amount > 0", "answer": "reply"}', {
  /** A JSON Schema of the payload. */
  inputSchema,
  /** A condition, which may use `update`, the payload. */
  when: optional(when),
  /** The id of the step whose output answers the caller; empty for the wait itself. */
  answer: optionalText("answer", formats.stepId),
});

/** Has a wait take updates: events that are checked, and whose callers get an answer. Undefined for plain events. */
export const update = optional(object("update", updateObject));

/** The events of which the first ends a wait. */
export const events: typeof anyOf = {
  ...anyOf,
  isRequired: true,
  read(wait, context) {
    if (wait.has("update")) wait.refuse("update", "choice", "is for a wait for one event: use event instead of any");
    for (const name of ["event", "scope"]) {
      if (wait.has(name)) wait.refuse(name, "choice", "must be left out beside any: put it into an entry of any");
    }
    return anyOf.read(wait, context);
  },
};
