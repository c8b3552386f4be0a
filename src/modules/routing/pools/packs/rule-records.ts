import { create } from "@bufbuild/protobuf";
import { CreateRuleRequestSchema } from "../../../../../gen/service/api/rule_pb.ts";
import { invalid } from "../../../../errors/index.ts";
import { insertRowImages, readRowImages } from "../../../../platform/db/index.ts";
import { createJsonEncoder } from "../../../../platform/protojson/index.ts";
import { createRequestReader } from "../../../../platform/validation/index.ts";
import type { JsonObject, PackRecords } from "../../../pack-records.ts";
import type { PoolId } from "../domain/pool.ts";
import type { NewRule } from "../domain/rule.ts";
import type { PoolAccess } from "../pool-access.ts";
import { toNewRule } from "../rules/rule-handler.ts";
import type { RuleService } from "../rules/rule-service.ts";
import { ruleStore } from "../rules/rule-store.ts";
import { recordPoolVersion } from "../versions/version-recorder.ts";

const read = createRequestReader(CreateRuleRequestSchema);
const encode = createJsonEncoder(CreateRuleRequestSchema, "proto");

/** Rules as packs contain them: the body of CreateRule with the pool. */
export function createRuleRecords(access: PoolAccess, service: RuleService): PackRecords {
  return {
    kind: "rule",
    scopes: ["rule:write"],

    normalize(content) {
      const { poolId, rule } = toRule(content);
      return contentOf(poolId, rule);
    },

    permissionsOf(content) {
      const { type } = content.action as { type: string };
      return { hosts: [], scopes: [], effects: [`routing:${type}`] };
    },

    mapReferences(content, replace) {
      const action = content.action as JsonObject;
      return {
        ...content,
        pool_id: replace("pool", content.pool_id as string),
        action: {
          ...action,
          ...(action.pool_id !== "" && { pool_id: replace("pool", action.pool_id as string) }),
          ...(action.recipient_id !== "" && { recipient_id: replace("recipient", action.recipient_id as string) }),
        },
      };
    },

    async find({ sql, tenantId }, id) {
      return (await ruleStore(sql).find(tenantId, id))?.id;
    },

    async read({ sql, tenantId }, recordId) {
      const rule = await ruleStore(sql).find(tenantId, recordId);
      return rule && { content: contentOf(rule.poolId, rule) };
    },

    async create(context, content) {
      const { poolId, rule } = toRule(content);
      return (await service.createRule(context, poolId, rule)).id;
    },

    async update(context, recordId, content) {
      const { poolId, rule } = toRule(content);
      const current = await service.getRule(context, recordId);
      if (current.poolId !== poolId) {
        throw invalid("pool_id", "immutable", "must stay the same: a rule cannot move to another pool");
      }
      await service.updateRule(context, recordId, rule, undefined);
    },

    async remove(context, recordId) {
      await service.deleteRule(context, recordId);
    },

    async names() {
      return [];
    },

    async uses() {
      return [];
    },

    async image({ sql, tenantId }, recordId) {
      const [image] = await readRowImages(sql, "rules", sql`tenant_id = ${tenantId} and id = ${recordId}`);
      return image;
    },

    async restore(context, recordId, image) {
      const { sql, tenantId } = context;
      const current = await ruleStore(sql).remove(tenantId, recordId as never);
      const poolId = image === undefined ? current?.poolId : (JSON.parse(image) as { pool_id: string }).pool_id;
      if (poolId !== undefined) await access.change(context, poolId);
      if (image !== undefined) await insertRowImages(sql, "rules", [image]);
      if (poolId !== undefined) await recordPoolVersion(context, poolId as PoolId);
    },
  };
}

function toRule(content: JsonObject): { readonly poolId: string; readonly rule: NewRule } {
  const request = read(content);
  return { poolId: request.poolId, rule: toNewRule(request) };
}

function contentOf(poolId: string, { action, ...rule }: NewRule): JsonObject {
  const { name, priority, condition, enabled, stopOnMatch, onError } = rule;
  const fields = { poolId, name, priority, condition, enabled, stopOnMatch, onError, action: { ...action } };
  return JSON.parse(encode(create(CreateRuleRequestSchema, fields))) as JsonObject;
}
