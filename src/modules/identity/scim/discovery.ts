import type { ScimObject } from "./domain/filter-match.ts";
import { type Attribute, groupType, type ResourceType, type Schema, userType } from "./domain/schema.ts";

/** The largest number of resources in a response. */
export const resultsMax = 200;

const types: readonly ResourceType[] = [userType, groupType];
const schemas: readonly Schema[] = types.flatMap(({ schema, extensions }) => [schema, ...extensions]);

/** The document that says what the service supports. */
export function serviceProviderConfig(baseUrl: string): ScimObject {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: resultsMax },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "API key",
        description: "An API key with the scope scim:write, as a bearer token.",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${baseUrl}/ServiceProviderConfig` },
  };
}

/** The types of resources, or the one with a name. */
export function resourceTypes(baseUrl: string, name?: string): ScimObject | ScimObject[] | undefined {
  const all = types.map(
    (type): ScimObject => ({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
      ...{ id: type.name, name: type.name, endpoint: type.endpoint, schema: type.schema.id },
      description: type.schema.description,
      schemaExtensions: type.extensions.map(({ id }) => ({ schema: id, required: false })),
      meta: { resourceType: "ResourceType", location: `${baseUrl}/ResourceTypes/${type.name}` },
    }),
  );
  return name === undefined ? all : all.find(({ id }) => id === name);
}

/** The schemas, or the one with an id. */
export function schemaDocuments(baseUrl: string, id?: string): ScimObject | ScimObject[] | undefined {
  const all = schemas.map(
    (schema): ScimObject => ({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
      ...{ id: schema.id, name: schema.name, description: schema.description },
      attributes: schema.attributes.map(attributeDocument),
      meta: { resourceType: "Schema", location: `${baseUrl}/Schemas/${schema.id}` },
    }),
  );
  return id === undefined ? all : all.find((each) => String(each.id).toLowerCase() === id.toLowerCase());
}

function attributeDocument(attribute: Attribute): ScimObject {
  const { name, type, isMultiValued, isCaseExact, mutability, isRequired, subAttributes } = attribute;
  return {
    ...{ name, type, multiValued: isMultiValued, required: isRequired, caseExact: isCaseExact, mutability },
    description: name,
    returned: mutability === "writeOnly" ? "never" : "default",
    uniqueness: isRequired ? "server" : "none",
    ...(type === "reference" && { referenceTypes: ["external"] }),
    ...(subAttributes.length > 0 && { subAttributes: subAttributes.map(attributeDocument) }),
  };
}
