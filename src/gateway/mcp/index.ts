/**
 * The Model Context Protocol: offers operations as tools to language models.
 *
 * tool: an operation that the definitions mark with `mcp_tool`. Its arguments are the request and its result is the response of REST.
 * revision: a version of the protocol, named after its date.
 * envelope: what a request says about its revision and its client.
 * confirmation: the user's consent to the call of a destructive tool.
 * protected resource: the endpoint, as OAuth clients discover it.
 */
export { accessHandlers, accessOperation } from "./access-operation.ts";
export { createMcpHandler } from "./handler.ts";
