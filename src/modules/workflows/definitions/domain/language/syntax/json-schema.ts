import { schemaOfSchemas } from "../../../../../../platform/json-schema/index.ts";
import { definitionObject, type JsonObject } from "../definition.ts";
import { policySchemas } from "../policy.ts";
import { workKinds } from "../work.ts";
import { compensationSchema, stepSchema } from "./parse-definition.ts";

/**
 * The JSON Schema (draft 2020-12) of the language, for editors and other tools. It describes the structure. It cannot express
 * everything that the parser checks: the order of arms, the longest durations, sizes, and relations between values.
 */
export function definitionSchema(): JsonObject {
  const kinds = Object.entries(workKinds).map(([kind, { schema }]) => [kind, schema]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:switchyard:workflow-definition:1",
    title: "Workflow definition",
    ...definitionObject.schema,
    $defs: {
      template: { description: "Any JSON value. A text that starts with one = is a CEL expression." },
      step: stepSchema,
      ...policySchemas,
      ...Object.fromEntries(kinds),
      compensate: compensationSchema,
      input_schema: schemaOfSchemas({ $ref: "#/$defs/input_schema" }),
    },
  };
}
