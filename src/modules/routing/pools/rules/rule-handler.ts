import { create } from "@bufbuild/protobuf";
import {
  type ConditionError,
  ConditionErrorSchema,
  type CreateRuleRequest,
  CreateRuleResponseSchema,
  DeleteRuleResponseSchema,
  GetRuleResponseSchema,
  ListRulesResponseSchema,
  type RuleService as Rpc,
  type Rule as RuleMessage,
  type RuleSample,
  RuleSchema,
  UpdateRuleResponseSchema,
  ValidateRuleResponseSchema,
} from "../../../../../gen/service/api/rule_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { CelError } from "../../../../platform/cel/index.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { pageOf, readPage } from "../../../../platform/paging/index.ts";
import { dateOf, expectedVersion, stampFields } from "../../../../platform/records/index.ts";
import {
  conditionVariables,
  type NewRule,
  positionOf,
  type Rule,
  type RuleAction,
  ruleVariables,
  toAction,
} from "../domain/rule.ts";
import { analyzeCondition, type Sample } from "./condition-report.ts";
import type { RuleService } from "./rule-service.ts";

export function ruleHandlers(service: RuleService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async createRule(context, request) {
      const rule = await service.createRule(context, request.poolId, toNewRule(request));
      return create(CreateRuleResponseSchema, { rule: fromRule(rule) });
    },

    async getRule(context, request) {
      const rule = await service.getRule(context, request.ruleId);
      return create(GetRuleResponseSchema, { rule: fromRule(rule) });
    },

    async listRules(context, request) {
      const { tenantId, operation } = context;
      const rules = await service.listRules(context, request.poolId);
      const scope = { tenantId, operation: operation.id, filter: [request.poolId] };
      const page = await readPage(cursors, request, scope, positionOf, async (wanted) =>
        pageOf(rules, positionOf, wanted),
      );
      return create(ListRulesResponseSchema, { ...page, rules: page.items.map(fromRule) });
    },

    async updateRule(context, { ruleId, recordVersion, onError, action, ...request }) {
      const { name, priority, condition, enabled, stopOnMatch } = request;
      const change = {
        name,
        priority,
        condition,
        enabled,
        stopOnMatch,
        onError: toOnError(onError),
        action: action && toAction(action),
      };
      const rule = await service.updateRule(context, ruleId, change, expectedVersion(recordVersion));
      return create(UpdateRuleResponseSchema, { rule: fromRule(rule) });
    },

    async deleteRule(context, request) {
      const rule = await service.deleteRule(context, request.ruleId);
      return create(DeleteRuleResponseSchema, { rule: fromRule(rule) });
    },

    async validateRule({ nowMs }, { condition, actionType, sample }) {
      const variables = actionType === "" ? ruleVariables : conditionVariables(actionType as RuleAction["type"]);
      const report = analyzeCondition(condition, variables, sample && toSample(sample, nowMs));
      return create(ValidateRuleResponseSchema, {
        ...report,
        valid: report.errors.length === 0,
        errors: report.errors.map(fromCelError),
        variables: [...report.variables],
        paths: [...report.paths],
        evaluationError: report.evaluationError && fromCelError(report.evaluationError),
      });
    },
  };
}

export function toNewRule(request: CreateRuleRequest): NewRule {
  return {
    name: request.name,
    priority: request.priority ?? 100,
    condition: request.condition,
    enabled: request.enabled ?? true,
    stopOnMatch: request.stopOnMatch ?? true,
    onError: toOnError(request.onError) ?? "skip",
    action: toAction(request.action!),
  };
}

function toOnError(onError: string | undefined): Rule["onError"] | undefined {
  return onError as Rule["onError"] | undefined;
}

function toSample({ item, recipient, pool, now }: RuleSample, nowMs: number): Sample {
  return {
    item: item ?? {},
    recipient: recipient ?? {},
    pool: pool ?? {},
    now: now === undefined ? new Date(nowMs) : dateOf(now),
  };
}

function fromCelError({ message, kind, position }: CelError): ConditionError {
  return create(ConditionErrorSchema, { message, kind, ...position });
}

function fromRule(rule: Rule): RuleMessage {
  return create(RuleSchema, {
    id: rule.id,
    tenantId: rule.tenantId,
    poolId: rule.poolId,
    name: rule.name,
    priority: rule.priority,
    condition: rule.condition,
    enabled: rule.enabled,
    stopOnMatch: rule.stopOnMatch,
    onError: rule.onError,
    action: { ...rule.action },
    ...stampFields(rule),
  });
}
