import { type MemberService as Rpc, Member_Status as Status } from "../../../../gen/service/api/member_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { EnvironmentMode } from "../../../platform/access/index.ts";
import type { PageRequest } from "../../../platform/paging/index.ts";
import { dateOf, enumNumbers, expectedVersion, nameOf } from "../../../platform/records/index.ts";
import { type Member, roleGrantsOf } from "./domain/member.ts";
import type { MemberService } from "./service.ts";
import { memberStore } from "./store.ts";

export function memberHandlers(service: MemberService): Handlers<typeof Rpc> {
  async function listMembers(context: Context, request: PageRequest) {
    const page = await context.page("members", request, [], (wanted) =>
      memberStore(context.sql).list(context.tenantId, wanted),
    );
    return { ...page, members: page.members.map(fromMember) };
  }

  return {
    async inviteMember(context, { email, subject, displayName, roles, environmentMode, expiresAt }) {
      const member = await service.inviteMember(context, {
        ...{ email, subject, displayName, roles, expiresAt: expiresAt && dateOf(expiresAt) },
        environmentMode: (environmentMode || undefined) as EnvironmentMode | undefined,
      });
      return { member: fromMember(member) };
    },

    getMember: async (context, { memberId }) => ({ member: fromMember(await service.getMember(context, memberId)) }),

    async updateMember(context, request) {
      const { memberId, displayName, roleSet, status, environmentMode, expiresAt, recordVersion } = request;
      const update = {
        displayName,
        environmentMode: environmentMode as EnvironmentMode | undefined,
        expiresAt: expiresAt && dateOf(expiresAt),
        roles: roleSet?.roles,
        status: status === undefined ? undefined : nameOf(settable, status),
      };
      return {
        member: fromMember(await service.updateMember(context, memberId, update, expectedVersion(recordVersion))),
      };
    },

    async removeMember(context, { memberId }) {
      return { member: fromMember(await service.removeMember(context, memberId)) };
    },

    listMembers,
    listTenantMembers: listMembers,
  };
}

const settable = { active: Status.ACTIVE, suspended: Status.SUSPENDED } as const;
const statuses = enumNumbers(Status);

const fromMember = (member: Member) => ({
  ...member,
  status: statuses[member.status],
  access: roleGrantsOf(member),
});
