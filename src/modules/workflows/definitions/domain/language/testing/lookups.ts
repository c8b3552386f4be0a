import type { DefinitionLookups } from "../checks/check-references.ts";
import type { JsonObject } from "../definition.ts";
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

/** A tenant with the pool `sales`, the notification workflow `welcome`, the experiment `checkout`, an executable action and some definitions. */
export const lookups: DefinitionLookups = {
  hasPool: (nameOrId) => nameOrId === "sales",
  hasNotificationWorkflow: (key) => key === "welcome",
  hasExperiment: (key) => key === "checkout",
  actionUse(key) {
    if (key === "ocr.read")
      return { reason: "The action ocr.read is only described in the catalogue: it needs files." };
    return key === "github.issue.create" ? { inputSchema: issueInput } : "absent";
  },
  definitionState(key) {
    if (key === "unpublished") return "unpublished";
    return published.has(key) ? "published" : "absent";
  },
  callsOf: (call) => published.get(callName(call)),
  knownKeys: ["lead.enrich", "lead.onboard"],
};
