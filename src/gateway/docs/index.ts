/**
 * Docs: the documentation that an instance serves.
 *
 * reference: interactive pages generated from the OpenAPI document, one for each service.
 * outbox: the page with messages that were stored instead of sent, if that is enabled.
 * error page: the page that the `type` of a problem links to.
 */
export { createDocs, type Docs } from "./docs.ts";
