/** Text: helpers for messages that people read. */

export { parseDuration } from "./duration.ts";
export { nearestName } from "./nearest-name.ts";
