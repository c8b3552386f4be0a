import { create } from "@bufbuild/protobuf";
import type { PoolVersionRule } from "../../../../../gen/service/api/pool_version_pb.ts";
import {
  ConditionErrorSchema,
  type CreateRuleRequest,
  type RuleService as Rpc,
  RuleActionSchema,
  type RuleSample,
} from "../../../../../gen/service/api/rule_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { CelError } from "../../../../platform/cel/index.ts";
import { type Page, pageOf } from "../../../../platform/paging/index.ts";
import { dateOf, expectedVersion } from "../../../../platform/records/index.ts";
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

export function ruleHandlers(service: RuleService): Handlers<typeof Rpc> {
  return {
    async createRule(context, request) {
      return { rule: fromRule(await service.createRule(context, request.poolId, toNewRule(request))) };
    },

    async getRule(context, request) {
      return { rule: fromRule(await service.getRule(context, request.ruleId)) };
    },

    async listRules(context, request) {
      const { poolId } = request;
      const rules = await service.listRules(context, poolId);
      const read = async (wanted: Page) => pageOf(rules, positionOf, wanted);
      const page = await context.page("rules", request, [poolId], read, positionOf);
      return { ...page, rules: page.rules.map(fromRule) };
    },

    async updateRule(context, { ruleId, recordVersion, onError, action, ...request }) {
      const { name, priority, condition, enabled, stopOnMatch } = request;
      const change = {
        name,
        priority,
        condition,
        enabled,
        stopOnMatch,
        onError: onError as Rule["onError"] | undefined,
        action: action && toAction(action),
      };
      const rule = await service.updateRule(context, ruleId, change, expectedVersion(recordVersion));
      return { rule: fromRule(rule) };
    },

    async deleteRule(context, request) {
      return { rule: fromRule(await service.deleteRule(context, request.ruleId)) };
    },

    async validateRule({ nowMs }, { condition, actionType, sample }) {
      const variables = actionType === "" ? ruleVariables : conditionVariables(actionType as RuleAction["type"]);
      const report = analyzeCondition(condition, variables, sample && toSample(sample, nowMs));
      return {
        ...report,
        valid: report.errors.length === 0,
        errors: report.errors.map(fromCelError),
        evaluationError: report.evaluationError && fromCelError(report.evaluationError),
      };
    },
  };
}

export function toNewRule(request: CreateRuleRequest | PoolVersionRule): NewRule {
  return {
    name: request.name,
    priority: request.priority ?? 100,
    condition: request.condition,
    enabled: request.enabled ?? true,
    stopOnMatch: request.stopOnMatch ?? true,
    onError: (request.onError ?? "skip") as Rule["onError"],
    action: toAction(request.action!),
  };
}

function toSample({ item, recipient, pool, now }: RuleSample, nowMs: number): Sample {
  return {
    item: item ?? {},
    recipient: recipient ?? {},
    pool: pool ?? {},
    now: now === undefined ? new Date(nowMs) : dateOf(now),
  };
}

const fromCelError = ({ message, kind, position }: CelError) =>
  create(ConditionErrorSchema, { message, kind, ...position });

const fromRule = (rule: Rule) => ({ ...rule, action: create(RuleActionSchema, rule.action) });
