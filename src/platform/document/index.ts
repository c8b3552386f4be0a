/**
 * Documents: JSON that tenants write in a language of the service, such as workflow definitions and connector manifests.
 *
 * Violation: a rule of the language that a document breaks, with its path.
 * Object reader: reads the members of an object and reports what is missing, invalid or unknown.
 * Text format: a kind of text, such as a key, with its pattern and its description for people.
 */
export { approximateBytes } from "./approximate-bytes.ts";
export { checkDocumentSize, type DocumentLimits, requireJsonBytes } from "./document-size.ts";
export { isJsonObject, type Json, type JsonObject } from "./json.ts";
export { isTooDeep } from "./nesting.ts";
export { nearestChoice, ObjectReader, readDuration } from "./object-reader.ts";
export { type TextFormat, textFormat } from "./text-format.ts";
export {
  type DocumentViolation,
  memberPath,
  shortName,
  type TextPosition,
  toFieldViolations,
  Violations,
  violationsMax,
} from "./violation.ts";
