/**
 * Validation: the rules that definitions give to fields (`buf.validate`), compiled once per message type.
 *
 * rule: what a definition demands of a field, under protovalidate's name (`string.min_len`).
 * violation: a field, by its path in proto names, and the rule that it breaks.
 */
export { isEmail } from "./formats.ts";
export { createMessageChecker } from "./message-checker.ts";
export { validator } from "./validator.ts";
