import { create } from "@bufbuild/protobuf";
import { CreateLayoutRequestSchema } from "../../../../gen/service/api/layout_pb.ts";
import { invalid } from "../../../errors/index.ts";
import { readRowImages } from "../../../platform/db/index.ts";
import { createJsonEncoder } from "../../../platform/protojson/index.ts";
import { createRequestReader } from "../../../platform/validation/index.ts";
import { type JsonObject, noPermissions, type PackRecords } from "../../pack-records.ts";
import type { LayoutChannel } from "./domain/channel.ts";
import { toDetails } from "./handler.ts";
import type { FindLayoutUses, LayoutService, NewLayout } from "./service.ts";
import { layoutStore } from "./store.ts";

const read = createRequestReader(CreateLayoutRequestSchema);
const encode = createJsonEncoder(CreateLayoutRequestSchema, "proto");
const table = "notification_layouts";
const usesMax = 100;

/** Layouts as packs contain them: the body of CreateLayout. A pack never changes the default layout of a channel. */
export function createLayoutRecords(service: LayoutService, findLayoutUses: FindLayoutUses): PackRecords {
  return {
    kind: "layout",
    scopes: ["layout:write"],
    normalize: (content) => contentOf(toLayout(content)),
    permissionsOf: () => noPermissions,
    mapReferences: (content) => content,

    async find({ sql, tenantId }, idOrName) {
      return (await layoutStore(sql).findNamed(tenantId, idOrName))?.id;
    },

    async read({ sql, tenantId }, recordId) {
      const layout = await layoutStore(sql).find(tenantId, recordId);
      return layout && { content: contentOf(layout) };
    },

    async create(context, content) {
      return (await service.createLayout(context, toLayout(content))).id;
    },

    async update(context, recordId, content) {
      const { channel, ...details } = toLayout(content);
      const current = await service.getLayout(context, recordId);
      if (channel !== current.channel) {
        throw invalid("channel", "immutable", "must stay the same: a layout cannot move to another channel");
      }
      await service.updateLayout(context, recordId, details, current.version);
    },

    async remove(context, recordId) {
      await service.deleteLayout(context, recordId);
    },

    async names(_context, recordId) {
      return [recordId];
    },

    async uses({ sql, tenantId }, recordId) {
      const keys = await findLayoutUses(sql, tenantId, recordId, usesMax);
      return keys.map((name) => ({ what: "notification workflow", name }));
    },

    async image({ sql, tenantId }, recordId) {
      const [image] = await readRowImages(sql, table, sql`tenant_id = ${tenantId} and id = ${recordId}`);
      return image;
    },

    async restore(context, recordId, image) {
      await service.restoreLayout(context, recordId, image);
    },
  };
}

function toLayout(content: JsonObject): NewLayout {
  const request = read(content);
  if (request.isDefault)
    throw invalid("is_default", "const", "must not be set in a pack: the tenant chooses its default");
  return { ...toDetails(request), channel: request.channel as LayoutChannel, isDefault: false };
}

function contentOf({ name, description, engine, body, textBody, metadata, channel }: Omit<NewLayout, "isDefault">) {
  const fields = { name, description, engine, body, textBody, metadata: metadata as never, channel };
  const { is_default: _, ...content } = JSON.parse(encode(create(CreateLayoutRequestSchema, fields))) as JsonObject;
  return content;
}
