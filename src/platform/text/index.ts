/** Text: helpers for messages that people read. */

export { durationSource, formatDuration, parseDuration } from "./duration.ts";
export { nearestName } from "./nearest-name.ts";
export { secretLengthMin, secretProblem } from "./secret-text.ts";
export { isTimestampText, timestampSource } from "./timestamp.ts";
