/**
 * OpenAPI: the external plane, described from the definitions.
 *
 * binding: one verb and path of an operation; each is an operation object of its own.
 * direction: a message in a request and in an answer has different schemas.
 * component: a part that is written once and referred to.
 */
export { buildOpenApi } from "./build.ts";
export type { MediaType, OpenApiDocument, OperationObject, Parameter, Schema } from "./document.ts";
export { toYaml, yamlPieces } from "./yaml.ts";
