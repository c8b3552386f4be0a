import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ConnectorManifest,
  ConnectorManifestSchema,
  type CreateManifestRequest,
  CreateManifestResponseSchema,
  DeleteManifestResponseSchema,
  GetManifestResponseSchema,
  GetManifestSchemaResponseSchema,
  ListManifestsResponseSchema,
  type ConnectorManifestService as Rpc,
  type ValidateManifestRequest,
  ValidateManifestResponseSchema,
} from "../../../../gen/service/api/connector_catalog_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { DocumentViolation, JsonObject } from "../../../platform/document/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { manifestSchema } from "./domain/language/manifest-schema.ts";
import type { Provider } from "./domain/provider.ts";
import type { ManifestService } from "./manifest-service.ts";
import { type ManifestHead, manifestStore } from "./manifest-store.ts";

/** Handlers of ConnectorManifestService. */
export function manifestHandlers(service: ManifestService, cursors: Cursors): Handlers<typeof Rpc> {
  const schema = {
    contentType: "application/schema+json",
    data: Buffer.from(JSON.stringify(manifestSchema(), null, 2)),
  };

  /** The document of a request that has it as JSON or as a text. */
  async function readDocument({ document, text, format }: ValidateManifestRequest | CreateManifestRequest) {
    if ((document === undefined) === (text === "")) {
      throw invalid("document", "required", "must be given, or text instead of it");
    }
    return text === "" ? document : service.readText(text, format === "json" ? "json" : "yaml");
  }

  return {
    createManifest: {
      async prepare(context: Context, request: CreateManifestRequest) {
        const document = await readDocument(request);
        const compiled = await service.compile(context, document, request.text);
        return service.requireProvider(document, request.text === "" ? "document" : "text", compiled);
      },
      async run(context: Context, _request: CreateManifestRequest, provider: Provider) {
        const manifest = await service.createManifest(context, provider);
        return create(CreateManifestResponseSchema, {
          manifest: fromHead(manifest, manifest.active, manifest.document),
        });
      },
    },

    async getManifest(context, { id }) {
      const manifest = await service.getManifest(context, id);
      return create(GetManifestResponseSchema, { manifest: fromHead(manifest, manifest.active, manifest.document) });
    },

    async listManifests(context, request) {
      const { tenantId, operation, sql } = context;
      const key = request.key === "" ? undefined : request.key;
      const active = await service.activeIds(context);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [request.key] },
        ({ id }: ManifestHead) => id,
        (wanted) => manifestStore(sql).list(tenantId, key, wanted),
      );
      const manifests = page.items.map((head) => fromHead(head, active.has(head.id)));
      return create(ListManifestsResponseSchema, { ...page, manifests });
    },

    async deleteManifest(context, { id }) {
      await service.deleteManifest(context, id);
      return create(DeleteManifestResponseSchema);
    },

    async validateManifest(context, request) {
      const { provider, violations } = await service.compile(context, await readDocument(request), request.text);
      return create(ValidateManifestResponseSchema, {
        valid: provider !== undefined,
        violations: violations.map(fromViolation),
        digest: provider?.digest ?? "",
        actionKeys: [...(provider?.actions.values() ?? [])].map(({ key }) => key),
        triggerKeys: [...(provider?.triggers.values() ?? [])].map(({ key }) => key),
      });
    },

    async getManifestSchema() {
      return create(GetManifestSchemaResponseSchema, { schema });
    },
  };
}

function fromHead(head: ManifestHead, active: boolean, document?: JsonObject): ConnectorManifest {
  const { id, tenantId, key, version, name, digest, source, packId, createdAt } = head;
  return create(ConnectorManifestSchema, {
    id,
    tenantId,
    key,
    version,
    name,
    digest,
    source,
    packId,
    active,
    ...(document !== undefined && { document: document as never }),
    createdAt: timestampFromDate(createdAt),
  });
}

function fromViolation({ path, rule, message, position }: DocumentViolation) {
  return { path, rule, message, line: position?.line ?? 0, column: position?.column ?? 0 };
}
