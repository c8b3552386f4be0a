/**
 * Workflow definitions: the documents that runs execute.
 *
 * document: a definition as JSON, in the language of docs/workflow-language.md. draft: the document that is being edited; it
 * may be unfinished. version: a published document; it never changes. active: the version that new runs use.
 * check: what must hold before a draft can be published. violation: a rule that a document breaks.
 * scope: what the expressions of a step can read.
 */
import { createTextReader } from "../../../platform/document-text/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { HistorySource } from "../../history-source.ts";
import { createDefinitionArtifacts, type ReadRunOutcomes, type SimulateRuns } from "./definition-artifacts.ts";
import { createDefinitionRecords, type FindTriggers, findDefinitionUses } from "./definition-records.ts";
import { definitionHandlers } from "./handler.ts";
import { createPublishedVersions } from "./published-versions.ts";
import { createDefinitionService, type DefinitionParts } from "./service.ts";

export type { ReadRunOutcomes, SimulateRuns } from "./definition-artifacts.ts";
export { checkInSlices } from "./domain/language/checks/check-definition.ts";
export type * from "./domain/language/definition.ts";
export { defaultRetry } from "./domain/language/definition.ts";
export { type ParsedDefinition, parseDefinition } from "./domain/language/syntax/parse-definition.ts";
export { isTooDeep } from "./domain/language/template.ts";
export type { DefinitionId } from "./domain/workflow-definition.ts";
export type { PublishedVersion } from "./published-versions.ts";
export type { FindNames, ReferenceSources } from "./reference-reader.ts";

export type Definitions = ReturnType<typeof createDefinitions>;

type Dependencies = Omit<DefinitionParts, "texts"> & Pick<PlatformServices, "cacheLoadDb">;

export function createDefinitions({ cacheLoadDb, ...parts }: Dependencies) {
  const service = createDefinitionService({ ...parts, texts: createTextReader() });
  return {
    handlers: definitionHandlers(service),
    /** The definitions as records of packs. */
    packRecords: (findTriggers: FindTriggers) => createDefinitionRecords(service, findTriggers),
    /** Finds definitions that refer to records of other areas. */
    findUses: findDefinitionUses,
    history: {
      kind: "workflow",
      resolve: async (context, idOrKey) => (await service.getHead(context, idOrKey)).id,
      visible: ({ sql, tenantId }) => sql`select id from workflow_definitions where tenant_id = ${tenantId}`,
    } satisfies HistorySource,
    /** The versions that promotions activate. */
    artifacts: (readOutcomes: ReadRunOutcomes, simulateRuns: SimulateRuns) =>
      createDefinitionArtifacts(service, readOutcomes, simulateRuns, parts.changes),
    ...createPublishedVersions({ db: cacheLoadDb, changes: parts.changes }),
  };
}
