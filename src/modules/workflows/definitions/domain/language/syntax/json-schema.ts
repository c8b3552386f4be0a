import {
  integerSchema as integer,
  listSchema as list,
  objectSchema as object,
  schemaOfSchemas,
  textSchema as text,
} from "../../../../../../platform/json-schema/index.ts";
import { durationSource, timestampSource } from "../../../../../../platform/text/index.ts";
import type { JsonObject } from "../definition.ts";
import { formats, limits, reservedNames } from "../limits.ts";
import { compensationKinds, stepKinds } from "./parse-definition.ts";

/**
 * The JSON Schema (draft 2020-12) of the language, for editors and other tools. It describes the structure. It cannot express
 * everything that the parser checks: the order of arms, the longest durations, sizes, and relations between values.
 */
export function definitionSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:switchyard:workflow-definition:1",
    title: "Workflow definition",
    ...object(
      {
        dsl: { const: "1", description: "The version of the language." },
        key: { ...text(formats.key), description: "The key of the definition." },
        name: { type: "string", maxLength: limits.nameLength },
        description: { type: "string", maxLength: limits.descriptionLength },
        timeout: { ...duration, description: "The longest time that a run may take, at most 365d." },
        input_schema: { $ref: "#/$defs/input_schema" },
        retry: { $ref: "#/$defs/retry" },
        on_failure: { enum: ["fail", "compensate"], default: "fail" },
        steps: { ...steps, minItems: 1 },
        output: { ...template, description: "The output of the run. Default: the output of the last step." },
      },
      ["dsl", "key", "timeout", "steps"],
    ),
    $defs: definitions(),
  };
}

const template: JsonObject = { $ref: "#/$defs/template" };
const expression: JsonObject = { type: "string", pattern: "^=([^=]|$)" };
const positive = durationSource.replace("^", "^(?!0+[a-z])");
const duration: JsonObject = { type: "string", pattern: positive, examples: ["30s", "10m", "14d"] };
const steps: JsonObject = { type: "array", maxItems: limits.steps, items: { $ref: "#/$defs/step" } };
/** Only tasks and actions have `with`. */
const withOnlyForInputs: JsonObject = {
  dependentSchemas: { with: { anyOf: ["task", "action"].map((kind) => ({ required: [kind] })) } },
};
const onError: JsonObject = { enum: ["fail", "collect"], default: "fail" };

function definitions(): JsonObject {
  return {
    template: { description: "Any JSON value. A text that starts with one = is a CEL expression." },
    step: step(),
    retry: object({
      max_attempts: integer(1, limits.attempts),
      initial: duration,
      factor: { type: "number", minimum: 1, maximum: limits.factor },
      max: duration,
      on: list(text(formats.code), 1, limits.codes),
    }),
    timeout: object({ attempt: duration, total: duration, heartbeat: duration }),
    ...work(),
    compensate: {
      ...object({
        ...refs(compensationKinds),
        with: template,
        retry: { $ref: "#/$defs/retry" },
        timeout: { $ref: "#/$defs/timeout" },
      }),
      oneOf: compensationKinds.map((kind) => ({ required: [kind] })),
      ...withOnlyForInputs,
    },
    input_schema: schemaOfSchemas({ $ref: "#/$defs/input_schema" }),
  };
}

function step(): JsonObject {
  return {
    ...object(
      {
        id: { ...text(formats.stepId), not: { enum: reservedNames } },
        ...refs(stepKinds),
        with: { ...template, description: "The input of a task or an action." },
        catch: list(
          object({ on: list(text(formats.caughtCode), 1, limits.codes), steps }, ["on", "steps"]),
          1,
          limits.catches,
          false,
        ),
        retry: { $ref: "#/$defs/retry" },
        timeout: { $ref: "#/$defs/timeout" },
        compensate: { $ref: "#/$defs/compensate" },
      },
      ["id"],
    ),
    oneOf: stepKinds.map((kind) => ({ required: [kind] })),
    ...withOnlyForInputs,
  };
}

function work(): JsonObject {
  const arm = object({ when: expression, steps }, ["when", "steps"]);
  const event = { event: text(formats.name), scope: { type: ["string", "number", "boolean"] } };
  const waiting = { timeout: duration, on_timeout: steps };
  const address = object({ subscriber_external_id: template, subscriber_id: template, topic: template });
  const timer = { for: { anyOf: [{ type: "string", pattern: durationSource }, expression] } };
  return {
    task: object(
      {
        queue: text(formats.name),
        type: text(formats.name),
        version: text(formats.versionRange),
        errors: list(text(formats.code), 0, limits.codes),
      },
      ["queue", "type"],
    ),
    route: object(
      {
        pool: text(formats.pool),
        type: template,
        key: template,
        attributes: template,
        requirements: template,
        payload: template,
        priority: template,
      },
      ["pool"],
    ),
    notify: object(
      {
        workflow_key: text(formats.workflowKey),
        to: { oneOf: [{ type: "string" }, { ...address, minProperties: 1, maxProperties: 1 }] },
        channels: template,
        payload: template,
      },
      ["workflow_key", "to"],
    ),
    stream_append: object(
      {
        stream: text(formats.streamName),
        value: template,
        content_class: text(formats.contentClass),
        schema_ref: text(formats.schemaRef),
        pins: { type: "object" },
      },
      ["stream", "value"],
    ),
    stream_read: object(
      {
        stream: text(formats.streamName),
        cursor: template,
        limit: integer(1, limits.streamRecords),
      },
      ["stream"],
    ),
    action: object({ action: text(formats.actionKey), connection: { type: "string" } }, ["action"]),
    experiment: object(
      {
        key: text(formats.experimentKey),
        unit: { type: ["string", "number"] },
        attributes: template,
        covariates: template,
      },
      ["key", "unit"],
    ),
    subworkflow: object({ key: text(formats.key), version: integer(1, limits.versionMax), input: template }, ["key"]),
    branch: {
      type: "array",
      minItems: 1,
      maxItems: limits.arms,
      prefixItems: [arm],
      items: { oneOf: [arm, object({ else: steps }, ["else"])] },
    },
    parallel: object(
      {
        branches: {
          type: "object",
          minProperties: limits.branches.min,
          maxProperties: limits.branches.max,
          propertyNames: { ...text(formats.stepId), not: { enum: reservedNames } },
          additionalProperties: steps,
        },
        on_error: onError,
      },
      ["branches"],
    ),
    map: object(
      {
        in: { oneOf: [{ type: "array" }, expression] },
        max_items: integer(1, limits.mapItems),
        max_parallel: { ...integer(1, limits.mapParallel), default: 10 },
        on_error: onError,
        steps,
      },
      ["in", "max_items", "steps"],
    ),
    wait_event: {
      oneOf: [
        object({ ...event, ...waiting }, ["event", "timeout"]),
        object({ any: list(object(event, ["event"]), 1, limits.events, false), ...waiting }, ["any", "timeout"]),
      ],
    },
    wait_timer: {
      oneOf: [
        object(timer, ["for"]),
        object({ until: { anyOf: [{ type: "string", pattern: timestampSource }, expression] } }, ["until"]),
      ],
    },
    approval: object(
      {
        by: list(text(formats.approver), 1, limits.approvers),
        quorum: { ...integer(1, limits.approvers), default: 1 },
        title: template,
        details: template,
        comment: { enum: ["optional", "required"], default: "optional" },
        ...waiting,
      },
      ["by", "timeout"],
    ),
    transform: template,
    fail: object({ code: text(formats.code), message: template }, ["code"]),
  };
}

function refs(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
}
