import type { CallerName, CaseContext, Json, SuiteSource } from "../sandbox/index.ts";

const revision = "2025-11-25";

/** Sends a message as a client of the protocol does. */
function sendMessage(
  context: CaseContext,
  method: string,
  params: Json = {},
  { as = "viewer", headers = {} }: { as?: CallerName; headers?: Record<string, string> } = {},
) {
  return context.send("POST", context.config["mcp.path"], {
    as,
    body: { jsonrpc: "2.0", id: 1, method, params },
    headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": revision, ...headers },
  });
}

async function listTools(context: CaseContext, as: CallerName): Promise<Json[]> {
  return (await sendMessage(context, "tools/list", {}, { as })).body?.result?.tools ?? [];
}

/** Cases about the Model Context Protocol. */
export const mcpSuite: SuiteSource = {
  id: "mcp",
  name: "Model Context Protocol",
  description: "How language models find and call tools, and what keeps them within the caller's access.",
  version: 1,
  defaults: { capabilities: ["mcp"], dryRun: true },
  cases: {
    "mcp.initialize": {
      guarantee: "A client and the service agree on a revision of the protocol.",
      async run(context) {
        const clientInfo = { name: "conformance", version: "1" };
        const params = { protocolVersion: revision, capabilities: {}, clientInfo };
        const { status, body } = await sendMessage(context, "initialize", params);
        context.expect("status", status, 200);
        context.expect("revision", body?.result?.protocolVersion ?? "", revision);
        context.expect("it has tools", body?.result?.capabilities?.tools !== undefined, true);
      },
    },
    "mcp.tools-list-authz": {
      guarantee: "The list of tools contains what the caller may use, and calls beyond it are refused.",
      offBy: (config) => (config["authz.provider"] === "builtin" ? undefined : "authz.provider"),
      async run(context) {
        const tools = await listTools(context, "viewer");
        context.expect("a viewer has tools", tools.length > 0, true);
        const isReading = tools.every(({ annotations }) => annotations?.readOnlyHint === true);
        context.expect("all of them only read", isReading, true);
        context.expect("tools of a caller without scopes", (await listTools(context, "stranger")).length, 0);
        const call = { name: "list_pools", arguments: {} };
        const denied = await sendMessage(context, "tools/call", call, { as: "stranger" });
        const refusal = denied.body?.result?.isError ? denied.body.result.content[0].text : "{}";
        context.expect("a call without the scope", JSON.parse(refusal).errorCode, "PERMISSION_DENIED");
        const unknown = await sendMessage(context, "tools/list", {}, { as: "nobody" });
        context.expect("a list without credentials", unknown.code, "UNAUTHENTICATED");
      },
    },
    "mcp.call-equals-rest": {
      guarantee: "A tool returns what the REST operation returns.",
      capabilities: ["mcp", "pools"],
      async run(context) {
        const { body } = await sendMessage(context, "tools/call", { name: "list_pools", arguments: { limit: 5 } });
        const rest = await context.send("GET", "/api/pools?limit=5", { as: "viewer" });
        const { metadata: _tool, ...ofTool } = body?.result?.structuredContent ?? {};
        const { metadata: _rest, ...ofRest } = rest.body;
        context.expect("the call succeeds", body?.result !== undefined && body.result.isError !== true, true);
        context.expect("the results are equal", JSON.stringify(ofTool) === JSON.stringify(ofRest), true);
      },
    },
    "mcp.foreign-host-refused": {
      guarantee: "A web page of another site cannot reach the endpoint through a browser.",
      offBy: (config) => (config["api.allowed_hosts"].includes("*") ? "api.allowed_hosts" : undefined),
      async run(context) {
        const host = await sendMessage(context, "tools/list", {}, { headers: { host: "attacker.invalid" } });
        context.expect("a foreign host", host.code, "HOST_NOT_ALLOWED");
        const origin = { origin: "https://attacker.invalid" };
        const page = await sendMessage(context, "tools/list", {}, { headers: origin });
        context.expect("a foreign origin", page.code, "PERMISSION_DENIED");
      },
    },
    "mcp.bad-version-400": {
      guarantee: "A revision of the protocol that is not supported is refused.",
      async run(context) {
        const headers = { "mcp-protocol-version": "2025-03-26" };
        const { status, body } = await sendMessage(context, "tools/list", {}, { headers });
        context.expect("status", status, 400);
        context.expect("error code of JSON-RPC", body?.error?.code ?? 0, -32_022);
      },
    },
    "mcp.no-stream-payload-tools": {
      guarantee: "No tool reads or writes payloads of workflow streams.",
      async run(context) {
        const tools = await listTools(context, "viewer");
        context.expect("there are tools", tools.length > 0, true);
        context.expect("tools about streams", tools.filter(({ name }) => /stream|object/.test(name)).length, 0);
        for (const name of ["append_stream_records", "read_stream_records"]) {
          const { body } = await sendMessage(context, "tools/call", { name, arguments: {} });
          context.expect(`${name}: error code of JSON-RPC`, body?.error?.code ?? 0, -32_602);
        }
      },
    },
  },
};
