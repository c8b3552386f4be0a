/**
 * Docs: what an instance tells about itself to people.
 *
 * reference: the interactive pages over the OpenAPI document, one for each service.
 * outbox: the page of what would have been sent, where an instance keeps that.
 * error page: what the `type` of a problem leads to.
 */
export { createDocs, type Docs } from "./docs.ts";
