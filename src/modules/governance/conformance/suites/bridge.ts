import type { Json, SuiteSource } from "../sandbox/index.ts";

const environments = "/api/v2/environments";
const listProcedure = "/service.api.EnvironmentService/ListEnvironments";
const getProcedure = "/service.api.EnvironmentService/GetEnvironment";
/** Reads nothing and stores nothing. */
const validation = "/api/workflow-definitions:validate";
const validationProcedure = "/service.api.WorkflowDefinitionService/ValidateWorkflowDefinition";
const brokenBody = '{"document": ';
const unknownId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const asViewer = { as: "viewer" } as const;

/** Converts the names of a Connect response to those of REST. */
function snakeCased(value: Json): Json {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== "object" || value === null) return value;
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [snake(name), snakeCased(each)]));
}

/** Whether two records are equal. Connect writes large integers as texts and leaves default values out. */
function isSame(a: Json, b: Json): boolean {
  if (typeof a === "object" && typeof b === "object" && a !== null && b !== null) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isSame(a[name], b[name]));
  }
  return String(a) === String(b) || (!a && !b);
}

/** Cases about the protocols: the same operations over REST and Connect. */
export const bridgeSuite: SuiteSource = {
  id: "bridge",
  name: "Protocol bridge",
  description: "REST and Connect are the same operations, with the same results, errors and access.",
  version: 1,
  defaults: { capabilities: ["environments"], dryRun: true },
  cases: {
    "bridge.rest-connect-equal": {
      guarantee: "REST and Connect return the same records.",
      async run(context) {
        const rest = await context.data("GET", environments, undefined, asViewer);
        const connect = await context.data("POST", listProcedure, {}, asViewer);
        const records = snakeCased(connect.environments ?? []);
        context.expect("number of records over REST", rest.length, 3);
        context.expect("number of records over Connect", records.length, 3);
        context.expect("the records are equal", isSame(rest, records), true);
      },
    },
    "bridge.error-codes-equal": {
      guarantee: "REST and Connect return the same error codes.",
      async run(context) {
        const rest = await context.send("GET", `${environments}/${unknownId}`, asViewer);
        context.expect("a record that does not exist, over REST", rest.code, "NOT_FOUND");
        const connect = await context.send("POST", getProcedure, { ...asViewer, body: { environmentId: unknownId } });
        context.expect("a record that does not exist, over Connect", connect.code, "NOT_FOUND");
        const badRest = await context.send("GET", `${environments}?limit=many`, asViewer);
        context.expect("an invalid field, over REST", badRest.code, "INVALID_ARGUMENT");
        const badConnect = await context.send("POST", listProcedure, { ...asViewer, body: { pageSize: "many" } });
        context.expect("an invalid field, over Connect", badConnect.code, "INVALID_ARGUMENT");
      },
    },
    "bridge.auth-before-decode": {
      guarantee: "A caller without credentials learns nothing about the request's body.",
      capabilities: ["workflows"],
      async run(context) {
        for (const [protocol, path] of Object.entries({ REST: validation, Connect: validationProcedure })) {
          const unknown = await context.send("POST", path, { as: "nobody", body: brokenBody });
          context.expect(`a broken body without credentials, over ${protocol}`, unknown.code, "UNAUTHENTICATED");
          const denied = await context.send("POST", path, { as: "stranger", body: brokenBody });
          context.expect(`a broken body without the scope, over ${protocol}`, denied.code, "PERMISSION_DENIED");
          const broken = await context.send("POST", path, { ...asViewer, body: brokenBody });
          context.expect(`a broken body, over ${protocol}`, broken.code, "INVALID_ARGUMENT");
        }
      },
    },
    "bridge.tenant-header-403": {
      guarantee: "A caller cannot choose another tenant than its own.",
      async run(context) {
        const headers = { "x-tenant-id": unknownId };
        const rest = await context.send("GET", environments, { ...asViewer, headers });
        context.expect("status over REST", rest.status, 403);
        context.expect("another tenant, over REST", rest.code, "TENANT_MISMATCH");
        const connect = await context.send("POST", listProcedure, { ...asViewer, headers, body: {} });
        context.expect("another tenant, over Connect", connect.code, "TENANT_MISMATCH");
      },
    },
    "bridge.version-echo": {
      guarantee: "Responses name the API version that they have, and versions that do not exist are refused.",
      async run(context) {
        const version = "2024-01-01";
        const echoed = await context.send("GET", environments, { ...asViewer, headers: { "api-version": version } });
        context.expect("version of the response", echoed.header("api-version"), version);
        const old = await context.send("GET", environments, { ...asViewer, headers: { "api-version": "2023-12-31" } });
        context.expect("a version that does not exist", old.code, "INVALID_ARGUMENT");
      },
    },
    "bridge.unknown-field": {
      guarantee: "A misspelt field is refused by name, so that it is not silently lost.",
      capabilities: ["environments", "workflows"],
      async run(context) {
        const query = await context.send("GET", `${environments}?no_such_field=1`, asViewer);
        context.expect("in a query", query.code, "INVALID_ARGUMENT");
        context.expect("the error names it", query.text.includes("no_such_field"), true);
        const body = await context.send("POST", validation, { ...asViewer, body: { no_such_field: 1 } });
        context.expect("in a body", body.code, "INVALID_ARGUMENT");
        context.expect("the error of the body names it", body.text.includes("no_such_field"), true);
      },
    },
  },
};
