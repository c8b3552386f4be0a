import type { ScimObject } from "./domain/filter-match.ts";
import { enterpriseUrn, groupType, groupUrn, type ResourceType, userType, userUrn } from "./domain/schema.ts";
import type { Membership, ScimGroup, ScimUser } from "./store.ts";

/** The version of a resource, as an ETag. */
export function versionOf({ recordVersion }: { readonly recordVersion: number }): string {
  return `W/"${recordVersion}"`;
}

/** A person as SCIM shows it. */
export function userResource(user: ScimUser, groups: readonly Membership[], baseUrl: string): ScimObject {
  const { attributes } = user;
  return {
    schemas: attributes[enterpriseUrn] === undefined ? [userUrn] : [userUrn, enterpriseUrn],
    id: user.id,
    ...attributes,
    active: user.active,
    ...(groups.length > 0 && {
      groups: groups.map(({ groupId, groupName }) => ({
        ...{ value: groupId, $ref: `${baseUrl}/Groups/${groupId}`, display: groupName, type: "direct" },
      })),
    }),
    meta: metaOf(userType, user, baseUrl),
  };
}

/** A group as SCIM shows it. */
export function groupResource(group: ScimGroup, members: readonly Membership[], baseUrl: string): ScimObject {
  return {
    schemas: [groupUrn],
    id: group.id,
    ...(group.externalId !== "" && { externalId: group.externalId }),
    displayName: group.displayName,
    ...(members.length > 0 && {
      members: members.map(({ userId, userName }) => ({
        ...{ value: userId, $ref: `${baseUrl}/Users/${userId}`, display: userName, type: "User" },
      })),
    }),
    meta: metaOf(groupType, group, baseUrl),
  };
}

function metaOf({ name, endpoint }: ResourceType, record: ScimUser | ScimGroup, baseUrl: string): ScimObject {
  return {
    resourceType: name,
    created: record.createdAt.toISOString(),
    lastModified: record.updatedAt.toISOString(),
    location: `${baseUrl}${endpoint}/${record.id}`,
    version: versionOf(record),
  };
}
