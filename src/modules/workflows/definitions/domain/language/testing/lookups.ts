import { checkInSlices } from "../checks/check-definition.ts";
import type { DefinitionLookups } from "../checks/check-references.ts";
import type { Definition, JsonObject } from "../definition.ts";
import { callName, type SubworkflowCall } from "../references.ts";

/** The calls of the published definitions that tests refer to. */
const published = new Map<string, readonly SubworkflowCall[]>([
  ["lead.enrich", []],
  ["lead.enrich@2", []],
  ["back.one", [{ key: "back.two", version: undefined }]],
  [
    "back.two",
    [
      { key: "lead.enrich", version: undefined },
      { key: "lead.onboard", version: undefined },
    ],
  ],
]);

const issueInput: JsonObject = {
  type: "object",
  required: ["title"],
  properties: { title: { type: "string" }, state: { enum: ["open", "closed"] }, count: { type: "integer" } },
};

const leadInput: JsonObject = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string" }, source: { enum: ["web", "call"] } },
  additionalProperties: false,
};

/** A tenant with the pool `sales`, the notification workflow `welcome`, the experiment `checkout`, two executable actions and some definitions. */
export const lookups: DefinitionLookups = {
  hasPool: (nameOrId) => nameOrId === "sales",
  hasNotificationWorkflow: (key) => key === "welcome",
  hasExperiment: (key) => key === "checkout",
  actionUse(key) {
    if (key === "ocr.read")
      return { reason: "The action ocr.read is only described in the catalogue: it needs files." };
    if (key === "github.issue.close") return { inputSchema: issueInput, isRepeatable: true };
    return key === "github.issue.create" ? { inputSchema: issueInput, isRepeatable: false } : "absent";
  },
  definitionState(key) {
    if (key === "unpublished") return "unpublished";
    return published.has(key) ? "published" : "absent";
  },
  callsOf: (call) => published.get(callName(call)),
  inputSchemaOf: (call) => (callName(call) === "lead.enrich@2" ? leadInput : undefined),
  knownKeys: ["lead.enrich", "lead.onboard"],
};

/** Checks a definition without a pause. */
export function checkDefinition(definition: Definition, known: DefinitionLookups) {
  const check = checkInSlices(definition, known);
  for (let step = check.next(); ; step = check.next()) if (step.done === true) return step.value;
}
