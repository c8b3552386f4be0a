/** Text: helpers for messages that people read. */
export { nearestName } from "./nearest-name.ts";
