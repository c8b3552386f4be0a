// Calls a tool with the official client of the Model Context Protocol:  node mcp-client.mjs <tool> '<arguments as JSON>'
// MCP_URL is the endpoint and KEY an API key. CONFIRM=yes answers the questions of destructive tools.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [name, args = "{}"] = process.argv.slice(2);
const client = new Client(
  { name: "guide", version: "1.0.0" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
);
client.setRequestHandler("elicitation/create", async ({ params }) => {
  console.error(params.message);
  return process.env.CONFIRM === "yes" ? { action: "accept", content: { confirm: true } } : { action: "decline" };
});

const headers = { "X-API-Key": process.env.KEY };
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), { requestInit: { headers } }));
const { isError = false, structuredContent, content } = await client.callTool({ name, arguments: JSON.parse(args) });
console.log(JSON.stringify({ isError, result: structuredContent ?? JSON.parse(content[0].text) }));
await client.close();
