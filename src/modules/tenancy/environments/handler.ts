import { create } from "@bufbuild/protobuf";
import {
  CreateEnvironmentResponseSchema,
  DeleteEnvironmentResponseSchema,
  type Environment as EnvironmentMessage,
  EnvironmentSchema,
  GetEnvironmentResponseSchema,
  ListEnvironmentsResponseSchema,
  Environment_Mode as ModeNumber,
  type EnvironmentService as Rpc,
  Environment_Status as Status,
  UpdateEnvironmentResponseSchema,
} from "../../../../gen/service/api/environment_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, nameOf, stampFields } from "../../../platform/records/index.ts";
import type { Environment } from "./domain/environment.ts";
import type { EnvironmentService } from "./service.ts";
import { environmentStore } from "./store.ts";

export function environmentHandlers(service: EnvironmentService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async createEnvironment(context, { key, name, mode }) {
      const input = { key, name: name === "" ? key : name, mode: nameOf(modes, mode) ?? "sandbox" };
      const environment = await service.createEnvironment(context, input);
      return create(CreateEnvironmentResponseSchema, { environment: fromEnvironment(environment) });
    },

    async getEnvironment(context, request) {
      const environment = await service.getEnvironment(context, request.environmentId);
      return create(GetEnvironmentResponseSchema, { environment: fromEnvironment(environment) });
    },

    async updateEnvironment(context, { environmentId, name, status, recordVersion }) {
      const change = { name, status: status === undefined ? undefined : nameOf(statuses, status) };
      const environment = await service.updateEnvironment(
        context,
        environmentId,
        change,
        expectedVersion(recordVersion),
      );
      return create(UpdateEnvironmentResponseSchema, { environment: fromEnvironment(environment) });
    },

    async deleteEnvironment(context, request) {
      const environment = await service.deleteEnvironment(context, request.environmentId);
      return create(DeleteEnvironmentResponseSchema, { environment: fromEnvironment(environment) });
    },

    async listEnvironments(context, request) {
      const { tenantId, principal, sql } = context;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: context.operation.id, filter: [principal.environmentMode] },
        (environment: Environment) => environment.id,
        (wanted) => environmentStore(sql).list(tenantId, principal.environmentMode, wanted),
      );
      return create(ListEnvironmentsResponseSchema, { ...page, environments: page.items.map(fromEnvironment) });
    },
  };
}

const modes = { live: ModeNumber.LIVE, sandbox: ModeNumber.SANDBOX } as const;
const statuses = { active: Status.ACTIVE, disabled: Status.DISABLED, deleted: Status.DELETED } as const;

function fromEnvironment(environment: Environment): EnvironmentMessage {
  return create(EnvironmentSchema, {
    id: environment.id,
    tenantId: environment.tenantId,
    key: environment.key,
    name: environment.name,
    mode: modes[environment.mode],
    status: statuses[environment.status],
    ...stampFields(environment),
  });
}
