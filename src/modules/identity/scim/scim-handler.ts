import { Failure } from "../../../errors/index.ts";
import { covers, type Principal, type TenantId } from "../../../platform/access/index.ts";
import type { Audit } from "../../../platform/audit/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import { resourceTypes, resultsMax, schemaDocuments, serviceProviderConfig } from "./discovery.ts";
import { parseFilter } from "./domain/filter.ts";
import type { ScimObject } from "./domain/filter-match.ts";
import { readOperations } from "./domain/patch.ts";
import { type Projection, project, readProjection } from "./domain/projection.ts";
import { isObject, readAttributes } from "./domain/resource.ts";
import { groupType, type ResourceType, userType } from "./domain/schema.ts";
import { badRequest, ScimError } from "./domain/scim-error.ts";
import type { ListRequest, ListResult, ScimService, Stored } from "./service.ts";

/** A request of a directory. */
export interface ScimRequest {
  readonly method: string;
  /** The path behind `/scim/v2`, decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly address: string;
  /** Reads the body, after the caller is known. */
  readonly readBody: () => Promise<Buffer>;
}

/** The response to a directory. */
export interface ScimResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Parts {
  readonly service: ScimService;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "counter">;
  readonly audit: Audit | undefined;
  /** The caller that a key identifies; undefined if the key is not valid. */
  readonly verifyKey: (key: string, address: string) => Promise<Principal | undefined>;
  /** Throws if the tenant may not be used now, or has sent too much. */
  readonly admit: (tenantId: TenantId) => Promise<void>;
  readonly baseUrl: () => string;
}

/** The scope that a directory's key needs. */
export const scimScope = "scim:write";

const countDefault = 100;
const listUrn = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const errorUrn = "urn:ietf:params:scim:api:messages:2.0:Error";

/** What a resource type can do. */
interface Endpoint {
  readonly type: ResourceType;
  create(tenantId: TenantId, body: unknown): Promise<Stored>;
  get(tenantId: TenantId, id: string, projection: Projection): Promise<Stored>;
  replace(tenantId: TenantId, id: string, body: unknown, ifMatch: string | undefined): Promise<Stored>;
  patch(tenantId: TenantId, id: string, body: unknown, ifMatch: string | undefined): Promise<Stored>;
  remove(tenantId: TenantId, id: string, ifMatch: string | undefined): Promise<void>;
  list(tenantId: TenantId, request: ListRequest): Promise<ListResult>;
}

/** Answers the requests of directories. */
export type ScimHandler = (request: ScimRequest) => Promise<ScimResponse>;

/** Creates the handler. */
export function createScimHandler(parts: Parts): ScimHandler {
  const { service, log, audit, verifyKey, admit, baseUrl } = parts;
  const requests = parts.metrics.counter({
    name: "scim_requests_total",
    help: "Requests of directories, by method, resource type and status.",
    labels: ["method", "resource", "status"],
  });
  const endpoints: Readonly<Record<string, Endpoint>> = {
    Users: {
      type: userType,
      create: (tenantId, body) => service.createUser(tenantId, readAttributes(userType, body)),
      get: (tenantId, id) => service.getUser(tenantId, id),
      replace: (tenantId, id, body, ifMatch) =>
        service.replaceUser(tenantId, id, readAttributes(userType, body), ifMatch),
      patch: (tenantId, id, body, ifMatch) => service.patchUser(tenantId, id, readOperations(body), ifMatch),
      remove: service.deleteUser,
      list: service.listUsers,
    },
    Groups: {
      type: groupType,
      create: (tenantId, body) => service.createGroup(tenantId, readAttributes(groupType, body)),
      get: service.getGroup,
      replace: (tenantId, id, body, ifMatch) =>
        service.replaceGroup(tenantId, id, readAttributes(groupType, body), ifMatch),
      patch: (tenantId, id, body, ifMatch) => service.patchGroup(tenantId, id, readOperations(body), ifMatch),
      remove: service.deleteGroup,
      list: service.listGroups,
    },
  };

  async function authenticate({ header, address }: ScimRequest): Promise<Principal> {
    const key = /^Bearer +([^\s]+)$/i.exec(header("authorization") ?? "")?.[1];
    const principal = key === undefined ? undefined : await verifyKey(key, address);
    if (principal === undefined) throw new ScimError(401, "Send an API key as Authorization: Bearer <key>.");
    if (!covers(principal.scopes, scimScope)) throw new ScimError(403, `The key needs the scope ${scimScope}.`);
    await admit(principal.tenantId);
    return principal;
  }

  async function answer(request: ScimRequest, principal: Principal): Promise<ScimResponse> {
    const { method, path } = request;
    const [, first = "", id, ...more] = path.split("/");
    const read = (document: ScimObject | ScimObject[] | undefined) => {
      if (method !== "GET") throw notAllowed("GET");
      if (document === undefined) throw new ScimError(404, "There is no such document.");
      return json(200, Array.isArray(document) ? listOf(document, document.length, 1) : document);
    };
    if (more.length > 0) throw unknownPath();
    switch (first) {
      case "ServiceProviderConfig":
        if (id !== undefined) throw unknownPath();
        return read(serviceProviderConfig(baseUrl()));
      case "ResourceTypes":
        return read(resourceTypes(baseUrl(), id));
      case "Schemas":
        return read(schemaDocuments(baseUrl(), id));
      case "Users":
      case "Groups":
        return id === undefined || id === "" || id === ".search"
          ? collection(request, endpoints[first]!, principal.tenantId, id === ".search")
          : single(request, endpoints[first]!, principal.tenantId, id);
      case "Bulk":
      case "Me":
        throw new ScimError(501, `/${first} is not supported.`);
      default:
        throw unknownPath();
    }
  }

  async function collection(
    request: ScimRequest,
    endpoint: Endpoint,
    tenantId: TenantId,
    isSearch: boolean,
  ): Promise<ScimResponse> {
    const { method, query } = request;
    if (method === "GET" && !isSearch) return page(endpoint, tenantId, (name) => query.get(name));
    if (method !== "POST") throw notAllowed(isSearch ? "POST" : "GET, POST");
    const body = await bodyOf(request);
    if (isSearch) return page(endpoint, tenantId, (name) => memberOf(body, name));
    const created = await endpoint.create(tenantId, body);
    return resource(
      201,
      endpoint.type,
      created,
      readProjection(query.get("attributes"), query.get("excludedAttributes")),
    );
  }

  async function page(
    endpoint: Endpoint,
    tenantId: TenantId,
    parameter: (name: string) => string | null,
  ): Promise<ScimResponse> {
    const text = parameter("filter");
    const startIndex = Math.max(1, integerOf("startIndex", parameter("startIndex"), 1));
    const count = Math.min(resultsMax, Math.max(0, integerOf("count", parameter("count"), countDefault)));
    const projection = readProjection(parameter("attributes"), parameter("excludedAttributes"));
    const filter = text === null || text.trim() === "" ? undefined : parseFilter(text);
    const { total, resources } = await endpoint.list(tenantId, { filter, startIndex, count, projection });
    return json(200, listOf(resources, total, startIndex));
  }

  async function single(
    request: ScimRequest,
    endpoint: Endpoint,
    tenantId: TenantId,
    id: string,
  ): Promise<ScimResponse> {
    const { method, query, header } = request;
    const projection = readProjection(query.get("attributes"), query.get("excludedAttributes"));
    const ifMatch = header("if-match");
    switch (method) {
      case "GET": {
        const found = await endpoint.get(tenantId, id, projection);
        const isKnown = header("if-none-match")
          ?.split(",")
          .some((each) => each.trim() === found.version);
        if (isKnown) return { status: 304, headers: { etag: found.version }, body: "" };
        return resource(200, endpoint.type, found, projection);
      }
      case "PUT":
        return resource(
          200,
          endpoint.type,
          await endpoint.replace(tenantId, id, await bodyOf(request), ifMatch),
          projection,
        );
      case "PATCH":
        return resource(
          200,
          endpoint.type,
          await endpoint.patch(tenantId, id, await bodyOf(request), ifMatch),
          projection,
        );
      case "DELETE":
        await endpoint.remove(tenantId, id, ifMatch);
        return { status: 204, headers: {}, body: "" };
      default:
        throw notAllowed("GET, PUT, PATCH, DELETE");
    }
  }

  return async (request) => {
    let principal: Principal | undefined;
    let response: ScimResponse;
    try {
      principal = await authenticate(request);
      response = await answer(request, principal);
    } catch (error) {
      const known = scimErrorOf(error);
      if (known === undefined) log.error({ err: error }, "a SCIM request failed unexpectedly");
      response = errorResponse(known ?? new ScimError(500, "Internal error."));
    }
    const resourceName = /^\/(Users|Groups)\b/.exec(request.path)?.[1] ?? "other";
    requests.inc({ method: request.method, resource: resourceName, status: String(response.status) });
    if (request.method !== "GET" && principal !== undefined) await record(request, principal, response, resourceName);
    return response;
  };

  async function record(
    { method, path, address }: ScimRequest,
    principal: Principal,
    { status, headers }: ScimResponse,
    resourceName: string,
  ): Promise<void> {
    const id = path.split("/")[2] || headers.location?.split("/").at(-1);
    await audit?.append({
      ...{ tenant_id: principal.tenantId, actor: principal.subject, actor_kind: principal.kind },
      ...{ operation: `scim.${method}`, resource: `scim/${resourceName}`, action: "write" },
      outcome: status < 400 ? "succeeded" : status === 401 || status === 403 ? "denied" : "failed",
      ...{ request_id: "", remote_address: address, details: { ids: id === undefined ? {} : { id } } },
    });
  }
}

async function bodyOf({ header, readBody }: ScimRequest): Promise<unknown> {
  const type = header("content-type") ?? "application/scim+json";
  if (!/^application\/(scim\+)?json\s*(;|$)/i.test(type)) {
    throw new ScimError(415, "The body must be application/scim+json.");
  }
  const text = (await readBody()).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest("invalidSyntax", "The body is not valid JSON.");
  }
}

/** A member of a search request, as text. */
function memberOf(body: unknown, name: string): string | null {
  const value = isObject(body) ? body[name] : undefined;
  if (value === undefined || value === null) return null;
  return Array.isArray(value) ? value.join(",") : String(value);
}

function integerOf(name: string, text: string | null, otherwise: number): number {
  if (text === null || text === "") return otherwise;
  if (!/^-?\d{1,9}$/.test(text)) throw badRequest("invalidValue", `${name} must be a whole number.`);
  return Number(text);
}

function listOf(resources: readonly ScimObject[], total: number, startIndex: number): ScimObject {
  return { schemas: [listUrn], totalResults: total, startIndex, itemsPerPage: resources.length, Resources: resources };
}

function resource(status: number, type: ResourceType, stored: Stored, projection: Projection): ScimResponse {
  const location = (stored.resource.meta as ScimObject).location as string;
  const shown = json(status, project(type, stored.resource, projection));
  return { ...shown, headers: { ...shown.headers, etag: stored.version, location } };
}

function json(status: number, document: ScimObject): ScimResponse {
  const headers = { "content-type": "application/scim+json; charset=utf-8", "cache-control": "no-store" };
  return { status, headers, body: JSON.stringify(document) };
}

function errorResponse({ status, message, scimType }: ScimError): ScimResponse {
  const document = { schemas: [errorUrn], status: String(status), ...(scimType && { scimType }), detail: message };
  const response = json(status, document);
  if (status !== 401) return response;
  return { ...response, headers: { ...response.headers, "www-authenticate": 'Bearer realm="scim"' } };
}

/** The error of a failure of the service; undefined if it is unexpected. */
function scimErrorOf(error: unknown): ScimError | undefined {
  if (error instanceof ScimError) return error;
  if (!(error instanceof Failure) || error.code === "INTERNAL") return undefined;
  const { http } = error.entry;
  return new ScimError(http, error.message, http === 409 ? "uniqueness" : undefined);
}

function unknownPath(): ScimError {
  return new ScimError(404, "There is no such resource. The paths are /Users, /Groups and /ServiceProviderConfig.");
}

function notAllowed(allowed: string): ScimError {
  return new ScimError(405, `This path accepts only ${allowed}.`);
}
