// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Members: the people of a tenant, identified by the subject of their token. */
export interface MemberService {
  /** Invites a person. Their first call with a token activates the membership. */
  invite(request: InviteMemberRequest, options?: CallOptions): Promise<Member>;

  /** Returns one member. */
  get(request: GetMemberRequest, options?: CallOptions): Promise<Member>;

  /** Changes the fields that are present. */
  update(request: UpdateMemberRequest, options?: CallOptions): Promise<Member>;

  /** Removes a member. Their tokens no longer have roles in this tenant. */
  remove(request: RemoveMemberRequest, options?: CallOptions): Promise<Member>;

  /** Lists the members of the caller's tenant. */
  list(request?: ListMembersRequest, options?: CallOptions): List<Member>;

  /** Lists members at the deprecated path. */
  listTenantMembers(request?: ListTenantMembersRequest, options?: CallOptions): List<Member>;
}

const memberServiceOperations = {
  invite: { verb: "POST", path: "/api/v2/members", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/members/{member_id}" },
  update: { verb: "PATCH", path: "/api/v2/members/{member_id}", body: "*", keyed: true },
  remove: { verb: "DELETE", path: "/api/v2/members/{member_id}", keyed: true },
  list: { verb: "GET", path: "/api/v2/members", result: "cursor" },
  listTenantMembers: { verb: "GET", path: "/api/members", result: "cursor" },
} as const satisfies Record<keyof MemberService, Operation>;

/** Creates the service over a transport. */
export function createMemberService(transport: Transport): MemberService {
  return bindOperations<MemberService>(transport, memberServiceOperations);
}

/** Invites a person. */
export type InviteMemberRequest = {
  /** Their email address. */
  readonly email: string;
  /** The subject of their token, if known. */
  readonly subject?: string;
  /** Their display name. */
  readonly display_name?: string;
  /** Their roles. */
  readonly roles?: readonly string[];
  /** The environments they may use: any, production_only or non_production_only; the inviter's mode when empty. */
  readonly environment_mode?: "" | "any" | "production_only" | "non_production_only";
  /** When the membership expires; when the inviter's access expires, if absent. */
  readonly expires_at?: string | Date;
};

/** A person with access to a tenant. */
export type Member = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The subject of their token; if empty, set by their first call. */
  readonly subject: string;
  /** Their email address. */
  readonly email: string;
  /** Their display name. */
  readonly display_name: string;
  /** Roles in addition to those of their token and of groups. */
  readonly roles: readonly string[];
  /** The status. */
  readonly status: MemberStatus;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** The environments they may use, regardless of their token: any, production_only or non_production_only. */
  readonly environment_mode: string;
  /** When the membership expires, if ever. */
  readonly expires_at?: string;
  /** Every role that they have now, besides those of their token, and where it comes from. Only active members have any. */
  readonly access: readonly MemberAccess[];
};

/** The status of a member. */
export type MemberStatus = "STATUS_UNSPECIFIED" | "STATUS_INVITED" | "STATUS_ACTIVE" | "STATUS_SUSPENDED" | "STATUS_REMOVED";

/** A role that a member has now. */
export type MemberAccess = {
  /** The role. */
  readonly role: string;
  /** Where it comes from: direct (the member's roles), group (a group of the directory) or session (a group that the identity provider named at the last sign-in; it counts in browser sessions only). */
  readonly sources: readonly string[];
};

/** Identifies a member. */
export type GetMemberRequest = {
  /** The member's id. */
  readonly member_id: string;
};

/** The roles of a member. */
export type MemberRoles = {
  /** The roles. */
  readonly roles?: readonly string[];
};

/** Changes the fields that are present. */
export type UpdateMemberRequest = {
  /** The member's id. */
  readonly member_id: string;
  /** Their display name. */
  readonly display_name?: string;
  /** Replaces their roles. */
  readonly role_set?: MemberRoles;
  /** STATUS_ACTIVE or STATUS_SUSPENDED. */
  readonly status?: MemberStatus;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
  /** The environments they may use: any, production_only or non_production_only. */
  readonly environment_mode?: "any" | "production_only" | "non_production_only";
  /** When the membership expires. */
  readonly expires_at?: string | Date;
};

/** Selects the member to remove. */
export type RemoveMemberRequest = {
  /** The member's id. */
  readonly member_id: string;
};

/** Request for a page of members. */
export type ListMembersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Request for a page of members at the deprecated path. */
export type ListTenantMembersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};
