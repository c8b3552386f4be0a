import assert from "node:assert/strict";
import { test } from "node:test";
import type { RpcError } from "./json-rpc.ts";
import { readEnvelope } from "./revisions.ts";

const meta = (version: unknown, capabilities: unknown = {}) => ({
  _meta: {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  },
});

function read(params: Record<string, unknown>, headers: Record<string, string>, method = "tools/list") {
  return readEnvelope({ id: 1, method, params }, (name) => headers[name]);
}

function codeOf(act: () => unknown): number | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return (error as RpcError).code;
  }
}

const newest = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };

test("the header and the body say which revision a request has", () => {
  assert.equal(read(meta("2026-07-28"), newest).revision, "2026-07-28");
  assert.equal(read({}, { "mcp-protocol-version": "2025-11-25" }).revision, "2025-11-25");
  assert.equal(read({}, { "mcp-protocol-version": "2025-06-18" }).revision, "2025-06-18");
  assert.equal(read({}, {}).revision, "2025-06-18", "before the handshake there is no header");
});

test("a request that contradicts itself or lacks something is refused", () => {
  assert.equal(
    codeOf(() => read({}, newest)),
    -32602,
  );
  assert.equal(
    codeOf(() => read(meta(undefined), newest)),
    -32602,
  );
  assert.equal(
    codeOf(() => read(meta("2026-07-28", "none"), newest)),
    -32602,
  );
  assert.equal(
    codeOf(() => read(meta("2026-07-28"), {})),
    -32020,
  );
  assert.equal(
    codeOf(() => read(meta("2026-07-28"), { "mcp-protocol-version": "2026-07-28" })),
    -32020,
  );
  assert.equal(
    codeOf(() => read(meta("2025-11-25"), newest)),
    -32020,
  );
  assert.equal(
    codeOf(() => read(meta("2027-01-01"), { ...newest, "mcp-protocol-version": "2027-01-01" })),
    -32022,
  );
  assert.equal(
    codeOf(() => read({}, { "mcp-protocol-version": "2024-11-05" })),
    -32022,
  );
});

test("a client can ask its user if it declares forms, or elicitation without a mode", () => {
  const canElicit = (capabilities: unknown) => read(meta("2026-07-28", capabilities), newest).canElicit;
  assert.equal(canElicit({ elicitation: {} }), true);
  assert.equal(canElicit({ elicitation: { form: {} } }), true);
  assert.equal(canElicit({ elicitation: { form: {}, url: {} } }), true);
  assert.equal(canElicit({ elicitation: { url: {} } }), false);
  assert.equal(canElicit({}), false);
});
