/**
 * JSON for protobuf messages, compiled once per message type, at its first use.
 *
 * encoder: message → JSON text. decoder: parsed JSON → message, or a list of violations.
 * names: `proto` are the snake_case names of REST, `json` the lowerCamel names of Connect; a decoder accepts both unless it is strict.
 * params: path variables and query parameters, which set fields of a message from text.
 * violation: one invalid value, with the path of its field in proto names and the rule that it violates.
 */
export { createJsonDecoder } from "./decode.ts";
export { createJsonEncoder, type JsonNames } from "./encode.ts";
export { createListEncoder, createTurnEncoder } from "./encode-in-turns.ts";
export { offeredNames } from "./formats/scalars.ts";
export { jsonToValue, valueToJson } from "./formats/struct.ts";
export { applyParams } from "./params.ts";
export { type DecodeOptions, depthMax, keySegment, Problems, toViolationFailure } from "./problems.ts";
export { bytesMaxOf, isFreeJson } from "./scan/json-location.ts";
export { KeyTable, keysMax } from "./scan/key-table.ts";
export { describeSyntaxError, parseJson, parseJsonInTurns } from "./scan/parse.ts";
export { valuesMax } from "./scan/scan.ts";
export { createMessageFactory } from "./shape.ts";
