/**
 * OpenAPI: builds the description of the external plane from the definitions.
 *
 * binding: one HTTP method and path of an operation. Each binding is a separate operation object.
 * direction: request or response. A message has a different schema in each.
 * component: a shared part of the document that others refer to.
 */
export { buildInSteps, buildOpenApi } from "./build.ts";
export type { MediaType, OpenApiDocument, OperationObject, Parameter, Schema } from "./document.ts";
export { operationalTag } from "./operational.ts";
export { toYaml, yamlChunks } from "./yaml.ts";
