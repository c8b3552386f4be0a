/**
 * Validation: the `buf.validate` rules of message definitions, compiled once per message type.
 *
 * rule: a constraint on a field in a definition, with protovalidate's name (`string.min_len`).
 * violation: a field, by its path in proto names, and the rule that it violates.
 */
export { isEmail } from "./formats.ts";
export { createMessageChecker } from "./message-checker.ts";
export { createRequestReader } from "./request-reader.ts";
export { scalarChecks } from "./scalar-rules.ts";
export { createValidator } from "./validator.ts";
