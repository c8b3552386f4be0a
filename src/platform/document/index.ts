/**
 * Documents: JSON that tenants write in a language of the service, such as workflow definitions and connector manifests.
 */
export { isJsonObject, type Json, type JsonObject } from "./json.ts";
