/**
 * Docs: the documentation that an instance serves.
 *
 * reference: interactive pages generated from the OpenAPI document, one for each service and event type.
 * exchange: a request of the reference as samples, and as a form that sends it with the browser's session.
 * slot: the list of the API that has the values of a field, so that examples have the caller's own records.
 * outbox: the page with messages that were stored instead of sent, if that is enabled.
 * error page: the page that the `type` of a problem links to.
 */
export { createDocs, type Docs } from "./docs.ts";
