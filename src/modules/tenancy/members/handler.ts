import { create } from "@bufbuild/protobuf";
import {
  GetMemberResponseSchema,
  InviteMemberResponseSchema,
  ListMembersResponseSchema,
  ListTenantMembersResponseSchema,
  type Member as MemberMessage,
  MemberSchema,
  RemoveMemberResponseSchema,
  type MemberService as Rpc,
  Member_Status as Status,
  UpdateMemberResponseSchema,
} from "../../../../gen/service/api/member_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { EnvironmentMode } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, expectedVersion, nameOf, optionalTime, stampFields } from "../../../platform/records/index.ts";
import { type Member, roleGrantsOf } from "./domain/member.ts";
import type { MemberService } from "./service.ts";
import { memberStore } from "./store.ts";

export function memberHandlers(service: MemberService, cursors: Cursors): Handlers<typeof Rpc> {
  async function page(context: Context, request: Parameters<typeof readPage>[1]) {
    const { tenantId, sql, operation } = context;
    const { items, ...rest } = await readPage(
      cursors,
      request,
      { tenantId, operation: operation.id },
      (member: Member) => member.id,
      (wanted) => memberStore(sql).list(tenantId, wanted),
    );
    return { ...rest, members: items.map(fromMember) };
  }

  return {
    async inviteMember(context, { email, subject, displayName, roles, environmentMode, expiresAt }) {
      const member = await service.inviteMember(context, {
        email,
        subject,
        displayName,
        roles,
        environmentMode: (environmentMode || undefined) as EnvironmentMode | undefined,
        expiresAt: expiresAt && dateOf(expiresAt),
      });
      return create(InviteMemberResponseSchema, { member: fromMember(member) });
    },

    async getMember(context, request) {
      const member = await service.getMember(context, request.memberId);
      return create(GetMemberResponseSchema, { member: fromMember(member) });
    },

    async updateMember(context, request) {
      const { memberId, displayName, roleSet, status, environmentMode, expiresAt, recordVersion } = request;
      const update = {
        displayName,
        environmentMode: environmentMode as EnvironmentMode | undefined,
        expiresAt: expiresAt && dateOf(expiresAt),
        roles: roleSet?.roles,
        status: status === undefined ? undefined : nameOf(settable, status),
      };
      const member = await service.updateMember(context, memberId, update, expectedVersion(recordVersion));
      return create(UpdateMemberResponseSchema, { member: fromMember(member) });
    },

    async removeMember(context, request) {
      const member = await service.removeMember(context, request.memberId);
      return create(RemoveMemberResponseSchema, { member: fromMember(member) });
    },

    async listMembers(context, request) {
      return create(ListMembersResponseSchema, await page(context, request));
    },

    async listTenantMembers(context, request) {
      return create(ListTenantMembersResponseSchema, await page(context, request));
    },
  };
}

const settable = { active: Status.ACTIVE, suspended: Status.SUSPENDED } as const;
const statuses = { ...settable, invited: Status.INVITED, removed: Status.REMOVED } as const;

function fromMember(member: Member): MemberMessage {
  return create(MemberSchema, {
    id: member.id,
    tenantId: member.tenantId,
    subject: member.subject,
    email: member.email,
    displayName: member.displayName,
    roles: [...member.roles],
    status: statuses[member.status],
    environmentMode: member.environmentMode,
    expiresAt: optionalTime(member.expiresAt),
    access: roleGrantsOf(member).map(({ role, sources }) => ({ role, sources: [...sources] })),
    ...stampFields(member),
  });
}
