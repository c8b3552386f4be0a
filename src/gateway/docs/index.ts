/**
 * Docs: what an instance tells about itself to people.
 *
 * reference: the interactive page over the OpenAPI document.
 * error page: what the `type` of a problem leads to.
 */
export { createDocs, type Docs } from "./docs.ts";
