import {
  Environment_Mode as ModeNumber,
  type PromotionPolicy as PromotionPolicyMessage,
  type EnvironmentService as Rpc,
  Environment_Status as Status,
} from "../../../../gen/service/api/environment_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { enumNumbers, expectedVersion, nameOf } from "../../../platform/records/index.ts";
import type { Environment, PromotionPolicy } from "./domain/environment.ts";
import type { EnvironmentService } from "./service.ts";
import { environmentStore } from "./store.ts";

export function environmentHandlers(service: EnvironmentService): Handlers<typeof Rpc> {
  return {
    async createEnvironment(context, { key, name, mode }) {
      const input = { key, name: name === "" ? key : name, mode: nameOf(modes, mode) ?? "sandbox" };
      return { environment: fromEnvironment(await service.createEnvironment(context, input)) };
    },

    async getEnvironment(context, { environmentId }) {
      return { environment: fromEnvironment(await service.getEnvironment(context, environmentId)) };
    },

    async updateEnvironment(context, { environmentId, name, status, promotionPolicy, recordVersion }) {
      const change = {
        name,
        status: status === undefined ? undefined : nameOf(statuses, status),
        promotionPolicy: toPolicy(promotionPolicy),
      };
      const version = expectedVersion(recordVersion);
      return { environment: fromEnvironment(await service.updateEnvironment(context, environmentId, change, version)) };
    },

    async deleteEnvironment(context, { environmentId }) {
      return { environment: fromEnvironment(await service.deleteEnvironment(context, environmentId)) };
    },

    async listEnvironments(context, request) {
      const { tenantId, principal, sql } = context;
      const page = await context.page("environments", request, [principal.environmentMode], (wanted) =>
        environmentStore(sql).list(tenantId, principal.environmentMode, wanted),
      );
      return { ...page, environments: page.environments.map(fromEnvironment) };
    },
  };
}

const modes = enumNumbers(ModeNumber);
const statuses = enumNumbers(Status);

const toPolicy = (policy: PromotionPolicyMessage | undefined): PromotionPolicy | undefined =>
  policy && { approvals: policy.approvals, excludeAuthors: policy.excludeAuthors };

const fromEnvironment = (environment: Environment) => ({
  ...environment,
  mode: modes[environment.mode],
  status: statuses[environment.status],
});
