/** Text: helpers for messages that people read, and for texts in URLs. */

export { durationSource, formatDuration, parseDuration, respellDuration } from "./duration.ts";
export { parseForm } from "./form.ts";
export { isHeaderName, isHeaderValue } from "./header-text.ts";
export { camelCase, snakeCase } from "./letter-case.ts";
export { nearestName, plainName } from "./nearest-name.ts";
export { encodePart } from "./percent-encoding.ts";
export { formatQuantity } from "./quantity.ts";
export { secretLengthMin, secretProblem } from "./secret-text.ts";
export { storableText } from "./storable-text.ts";
export {
  balanceBrackets,
  changeOutsideQuotes,
  plainQuotes,
  repairText,
  replaceWord,
  type TextRepair,
} from "./text-repair.ts";
export { isTimestampText, timestampSource } from "./timestamp.ts";
