import {
  type ScimRequest,
  ScimRequestSchema,
  type ScimResponse,
  ScimResponseSchema,
} from "../../../../gen/service/scim/scim_pb.ts";
import type { Context, Handler, ServiceHandlers } from "../../../chain/call.ts";
import { createEndpointOperation, type Operation } from "../../../definitions/index.ts";
import type { Failure } from "../../../errors/index.ts";
import { resourceTypes, resultsMax, schemaDocuments, serviceProviderConfig } from "./discovery.ts";
import { parseFilter } from "./domain/filter.ts";
import type { ScimObject } from "./domain/filter-match.ts";
import { readOperations } from "./domain/patch.ts";
import { type Projection, project, readProjection } from "./domain/projection.ts";
import { isObject, readAttributes } from "./domain/resource.ts";
import { groupType, type ResourceType, userType } from "./domain/schema.ts";
import { badRequest, ScimError, type ScimType } from "./domain/scim-error.ts";
import type { ListRequest, ListResult, ScimService, Stored } from "./service.ts";

interface Dependencies {
  readonly service: ScimService;
  readonly baseUrl: () => string;
}

/** The scope that a directory's key needs. */
export const scimScope = "scim:write";

const countDefault = 100;
const listUrn = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const errorUrn = "urn:ietf:params:scim:api:messages:2.0:Error";

/** The operations of the endpoint. A directory that reads needs the same scope as one that writes. */
export const scimOperations = {
  read: scimOperation("Read", { resource: "scim", action: "read" }),
  write: scimOperation("Write", { resource: "scim", action: "write", mutating: true }),
} as const;

function scimOperation(name: string, governance: { resource: string; action: string; mutating?: boolean }): Operation {
  return createEndpointOperation({
    ...{ endpoint: "scim", name, input: ScimRequestSchema, output: ScimResponseSchema, scopes: [scimScope] },
    governance: { ...governance, authorizationRequired: true },
  });
}

/** The part of a response that SCIM defines. */
type Answer = Pick<ScimResponse, "status" | "headers" | "body">;

/** Operations of a resource type. */
interface Endpoint {
  readonly type: ResourceType;
  create(context: Context, body: unknown): Promise<Stored>;
  get(context: Context, id: string, projection: Projection): Promise<Stored>;
  replace(context: Context, id: string, body: unknown, ifMatch: string | undefined): Promise<Stored>;
  patch(context: Context, id: string, body: unknown, ifMatch: string | undefined): Promise<Stored>;
  remove(context: Context, id: string, ifMatch: string | undefined): Promise<void>;
  list(context: Context, request: ListRequest): Promise<ListResult>;
}

export function createScimHandlers({ service, baseUrl }: Dependencies): ServiceHandlers {
  const endpoints: Readonly<Record<string, Endpoint>> = {
    Users: {
      type: userType,
      create: (context, body) => service.createUser(context, readAttributes(userType, body)),
      get: (context, id) => service.getUser(context, id),
      replace: (context, id, body, ifMatch) =>
        service.replaceUser(context, id, readAttributes(userType, body), ifMatch),
      patch: (context, id, body, ifMatch) => service.patchUser(context, id, readOperations(body), ifMatch),
      remove: service.deleteUser,
      list: service.listUsers,
    },
    Groups: {
      type: groupType,
      create: (context, body) => service.createGroup(context, readAttributes(groupType, body)),
      get: service.getGroup,
      replace: (context, id, body, ifMatch) =>
        service.replaceGroup(context, id, readAttributes(groupType, body), ifMatch),
      patch: (context, id, body, ifMatch) => service.patchGroup(context, id, readOperations(body), ifMatch),
      remove: service.deleteGroup,
      list: service.listGroups,
    },
  };

  async function answer(context: Context, request: ScimRequest): Promise<Answer> {
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
          ? collection(context, request, endpoints[first]!, id === ".search")
          : single(context, request, endpoints[first]!, id);
      case "Bulk":
      case "Me":
        throw new ScimError(501, `/${first} is not supported.`);
      default:
        throw unknownPath();
    }
  }

  async function collection(context: Context, request: ScimRequest, endpoint: Endpoint, isSearch: boolean) {
    const { method } = request;
    const query = new URLSearchParams(request.query);
    if (method === "GET" && !isSearch) return page(context, endpoint, (name) => query.get(name));
    if (method !== "POST") throw notAllowed(isSearch ? "POST" : "GET, POST");
    const body = bodyOf(request);
    if (isSearch) return page(context, endpoint, (name) => memberOf(body, name));
    const created = await endpoint.create(context, body);
    return resource(
      201,
      endpoint.type,
      created,
      readProjection(query.get("attributes"), query.get("excludedAttributes")),
    );
  }

  async function page(context: Context, endpoint: Endpoint, parameter: (name: string) => string | null) {
    const text = parameter("filter");
    const startIndex = Math.max(1, integerOf("startIndex", parameter("startIndex"), 1));
    const count = Math.min(resultsMax, Math.max(0, integerOf("count", parameter("count"), countDefault)));
    const projection = readProjection(parameter("attributes"), parameter("excludedAttributes"));
    const filter = text === null || text.trim() === "" ? undefined : parseFilter(text);
    const { total, resources } = await endpoint.list(context, { filter, startIndex, count, projection });
    return json(200, listOf(resources, total, startIndex));
  }

  async function single(context: Context, request: ScimRequest, endpoint: Endpoint, id: string): Promise<Answer> {
    const { method, ifMatch, ifNoneMatch } = request;
    const query = new URLSearchParams(request.query);
    const projection = readProjection(query.get("attributes"), query.get("excludedAttributes"));
    switch (method) {
      case "GET": {
        const found = await endpoint.get(context, id, projection);
        const isKnown = ifNoneMatch?.split(",").some((each) => each.trim() === found.version);
        if (isKnown) return { status: 304, headers: { etag: found.version }, body: "" };
        return resource(200, endpoint.type, found, projection);
      }
      case "PUT":
        return resource(200, endpoint.type, await endpoint.replace(context, id, bodyOf(request), ifMatch), projection);
      case "PATCH":
        return resource(200, endpoint.type, await endpoint.patch(context, id, bodyOf(request), ifMatch), projection);
      case "DELETE":
        await endpoint.remove(context, id, ifMatch);
        return { status: 204, headers: {}, body: "" };
      default:
        throw notAllowed("GET, PUT, PATCH, DELETE");
    }
  }

  const handle: Handler = async (context, request: ScimRequest) => {
    const answered = await answer(context, request);
    const id = request.id || (answered.headers.location?.split("/").at(-1) ?? "");
    return { ...answered, id };
  };
  return { read: handle, write: handle };
}

function bodyOf({ body }: ScimRequest): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
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

function resource(status: number, type: ResourceType, stored: Stored, projection: Projection): Answer {
  const location = (stored.resource.meta as ScimObject).location as string;
  const shown = json(status, project(type, stored.resource, projection));
  return { ...shown, headers: { ...shown.headers, etag: stored.version, location } };
}

function json(status: number, document: ScimObject): Answer {
  const headers = { "content-type": "application/scim+json; charset=utf-8", "cache-control": "no-store" };
  return { status, headers, body: JSON.stringify(document) };
}

/** Describes a failure in the form of SCIM. */
export function describeFailure(failure: Failure): Answer {
  const { status, scimType } =
    failure instanceof ScimError ? failure : { status: failure.entry.http, scimType: typeOf(failure) };
  const document = {
    schemas: [errorUrn],
    status: String(status),
    ...(scimType && { scimType }),
    detail: failure.message,
  };
  const described = json(status, document);
  return { ...described, headers: { ...failure.headers, ...described.headers } };
}

function typeOf({ code }: Failure): ScimType | undefined {
  return code === "ALREADY_EXISTS" ? "uniqueness" : undefined;
}

function unknownPath(): ScimError {
  return new ScimError(404, "There is no such resource. The paths are /Users, /Groups and /ServiceProviderConfig.");
}

function notAllowed(allowed: string): ScimError {
  return new ScimError(405, `This path accepts only ${allowed}.`, undefined, { allow: allowed });
}
