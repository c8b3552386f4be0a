/**
 * SCIM: a directory provisions people and groups (RFC 7643, RFC 7644).
 *
 * User: a person in the directory, who is a member here. Group: its members get the roles that the tenant gives to its name.
 * Deactivate: to end the sessions, keys and tokens of a person. Projection: the attributes that a response contains.
 */
export { createScimHandlers, describeFailure, scimOperations, scimScope } from "./scim-handler.ts";
export { createScimService, type ScimService } from "./service.ts";
