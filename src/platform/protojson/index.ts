/**
 * JSON for protobuf messages, compiled once per message type.
 *
 * encoder: message → JSON text. decoder: parsed JSON → message, or everything that is wrong with it.
 * names: `proto` are the snake_case names of REST, `json` the lowerCamel names of Connect; decoders take both unless they are strict.
 * params: path variables and query parameters, which fill a message from text.
 * violation: one thing that is wrong, with the path of its field in proto names and the rule that it breaks.
 */
export { jsonDecoder } from "./decode.ts";
export { type JsonNames, jsonEncoder } from "./encode.ts";
export { applyParams } from "./params.ts";
export { type DecodeOptions, depthMax, keySegment, Problems, violated } from "./problems.ts";
export { bytesMaxOf, isFreeJson } from "./scan/json-place.ts";
export { KeyTable, keysMax } from "./scan/key-table.ts";
export { parseJson } from "./scan/parse.ts";
export { valuesMax } from "./scan/scan.ts";
