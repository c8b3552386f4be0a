import type { DescService } from "@bufbuild/protobuf";
import type { DiscoveryService as Rpc } from "../../../../gen/service/api/discovery_pb.ts";
import type { Context, Plane } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { commentOf } from "../../../definitions/comments.ts";
import type { Operation } from "../../../definitions/index.ts";
import { invalid } from "../../../errors/index.ts";
import { covers } from "../../../platform/access/index.ts";
import { requireFound } from "../../../platform/db/index.ts";
import { ulidMs } from "../../../platform/ids/ulid.ts";
import { pageOf } from "../../../platform/paging/index.ts";
import type { NameSource } from "../../name-source.ts";
import { type CapabilitySource, matchesFilter, type Posture, visibleModes } from "./domain/capability.ts";

export interface DiscoveryParts {
  readonly capabilities: readonly CapabilitySource[];
  /** The operations that are mounted on a plane. */
  readonly operationsOf: (plane: Plane) => readonly Operation[];
  readonly apiVersion: string;
  /** What people call the records of all areas, which are composed later. */
  readonly names: () => readonly NameSource[];
}

export function discoveryHandlers({
  capabilities,
  operationsOf,
  apiVersion,
  names,
}: DiscoveryParts): Handlers<typeof Rpc> {
  const visible = capabilities
    .filter((source) => source.hidden !== true)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  /** Every visible capability with its current posture, ordered by id. */
  const readPostures = () => Promise.all(visible.map(capabilityOf));

  return {
    async getServicesReport({ plane }) {
      const services = Map.groupBy(operationsOf(plane), ({ service }) => service);
      return { report: { plane, apiVersion, services: [...services].map(fromService) } };
    },

    listCapabilityPostures: async () => ({ capabilities: await readPostures() }),

    listCapabilities(context, { includeDegraded = true, ...request }) {
      const filter = { ...request, includeDegraded };
      const chosen = [[...visibleModes(filter)].sort(), filter.query];
      return context.page("capabilities", request, chosen, async (wanted) => {
        const matching = (await readPostures()).filter((capability) => matchesFilter(filter, capability));
        return pageOf(matching, ({ id }) => id, wanted);
      });
    },

    async getCapability(_context, { id }) {
      const source = requireFound(
        visible.find((each) => each.id === id),
        "capability",
      );
      return { capability: await capabilityOf(source) };
    },

    async resolveNames(context, { ids, kinds }) {
      const sources = names();
      const known = sources.map(({ kind }) => kind);
      const unknown = kinds.findIndex((kind) => !known.includes(kind));
      if (unknown >= 0)
        throw invalid(`kinds[${unknown}]`, "string.in", `must be one of ${known.toSorted().join(", ")}`);
      const wanted = sources.filter(
        ({ kind, scope }) => (kinds.length === 0 || kinds.includes(kind)) && covers(context.principal.scopes, scope),
      );
      const found = await Promise.all(wanted.map((source) => findNames(context, source, ids)));
      return { names: found.flat() };
    },
  };
}

/** The names of the records of one kind. An id may be preceded by what such a record is called where it acts, as in `key:…`. */
async function findNames({ sql, tenantId, principal }: Context, source: NameSource, ids: readonly string[]) {
  const prefix = `${source.principal}:`;
  const asked = Map.groupBy(new Set(ids), (id) => (id.startsWith(prefix) ? id.slice(prefix.length) : id));
  const found = await source.find(sql, tenantId, [...asked.keys()], principal.environmentMode);
  return found.flatMap(({ id: recordId, name, parentId, isAmbiguous }) => {
    const createdAt = isAmbiguous ? new Date(ulidMs(recordId)) : null;
    return asked.get(recordId)!.map((id) => ({ id, kind: source.kind, recordId, name, parentId, createdAt }));
  });
}

/** A capability with its current state. */
async function capabilityOf(source: CapabilitySource) {
  const { hidden: _, ...shown } = source;
  return { ...shown, reason: "", ...(await postureOf(source)) };
}

async function postureOf(source: CapabilitySource): Promise<Posture> {
  try {
    return await source.mode();
  } catch {
    // A capability whose mode cannot be determined must not hide the others.
    return { mode: "degraded", reason: "its state cannot be determined" };
  }
}

function fromService([service, operations]: readonly [DescService, readonly Operation[]]) {
  return { name: service.typeName, description: commentOf(service), methods: operations.map(fromOperation) };
}

function fromOperation({ id, method, governance, bindings, scopes, streaming, tokenCost }: Operation) {
  const [binding] = bindings;
  return {
    name: method.name,
    description: commentOf(method),
    connectPath: `/${id}`,
    httpMethod: binding!.verb,
    httpPath: binding!.path,
    scopes,
    roles: governance.roles,
    authenticationRequired: governance.authenticationRequired,
    mutating: governance.mutating,
    streaming,
    deprecated: governance.deprecation !== undefined,
    tokenCost,
  };
}
