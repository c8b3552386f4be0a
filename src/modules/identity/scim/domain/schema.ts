/** An attribute of a SCIM schema. */
export interface Attribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "reference" | "dateTime" | "complex";
  readonly isMultiValued: boolean;
  readonly isCaseExact: boolean;
  readonly mutability: "readWrite" | "readOnly" | "writeOnly";
  readonly isRequired: boolean;
  readonly subAttributes: readonly Attribute[];
}

export interface Schema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

/** A type of resources: its own schema, and extensions. */
export interface ResourceType {
  readonly name: "User" | "Group";
  readonly endpoint: "/Users" | "/Groups";
  readonly schema: Schema;
  readonly extensions: readonly Schema[];
}

type Options = Partial<Omit<Attribute, "name">>;

function attribute(name: string, options: Options = {}): Attribute {
  return {
    ...{ name, type: "string", isMultiValued: false, isCaseExact: false, mutability: "readWrite" },
    ...{ isRequired: false, subAttributes: [] },
    ...options,
  };
}

const complex = (name: string, subAttributes: readonly Attribute[], options: Options = {}) =>
  attribute(name, { type: "complex", subAttributes, ...options });

/** A multi-valued attribute with the sub-attributes that most have. */
const plural = (name: string, more: readonly Attribute[] = [], options: Options = {}) =>
  complex(
    name,
    [attribute("value"), attribute("display"), attribute("type"), attribute("primary", { type: "boolean" }), ...more],
    { isMultiValued: true, ...options },
  );

const externalId = attribute("externalId", { isCaseExact: true });

/** Attributes that every resource has and that the service sets. */
export const commonAttributes: readonly Attribute[] = [
  attribute("id", { isCaseExact: true, mutability: "readOnly" }),
  attribute("schemas", { isMultiValued: true, isCaseExact: true, mutability: "readOnly" }),
  complex(
    "meta",
    [
      attribute("resourceType", { isCaseExact: true, mutability: "readOnly" }),
      attribute("created", { type: "dateTime", mutability: "readOnly" }),
      attribute("lastModified", { type: "dateTime", mutability: "readOnly" }),
      attribute("location", { isCaseExact: true, mutability: "readOnly" }),
      attribute("version", { isCaseExact: true, mutability: "readOnly" }),
    ],
    { mutability: "readOnly" },
  ),
];

export const userUrn = "urn:ietf:params:scim:schemas:core:2.0:User";
export const enterpriseUrn = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
export const groupUrn = "urn:ietf:params:scim:schemas:core:2.0:Group";

const userSchema: Schema = {
  id: userUrn,
  name: "User",
  description: "A person. Each is a member of the tenant.",
  attributes: [
    attribute("userName", { isRequired: true }),
    externalId,
    complex("name", [
      attribute("formatted"),
      attribute("familyName"),
      attribute("givenName"),
      attribute("middleName"),
      attribute("honorificPrefix"),
      attribute("honorificSuffix"),
    ]),
    attribute("displayName"),
    attribute("nickName"),
    attribute("profileUrl", { type: "reference", isCaseExact: true }),
    attribute("title"),
    attribute("userType"),
    attribute("preferredLanguage"),
    attribute("locale"),
    attribute("timezone"),
    attribute("active", { type: "boolean" }),
    attribute("password", { mutability: "writeOnly", isCaseExact: true }),
    plural("emails"),
    plural("phoneNumbers"),
    plural("ims"),
    plural("photos"),
    complex(
      "addresses",
      [
        attribute("formatted"),
        attribute("streetAddress"),
        attribute("locality"),
        attribute("region"),
        attribute("postalCode"),
        attribute("country"),
        attribute("type"),
        attribute("primary", { type: "boolean" }),
      ],
      { isMultiValued: true },
    ),
    plural("groups", [attribute("$ref", { type: "reference", isCaseExact: true })], { mutability: "readOnly" }),
    plural("entitlements"),
    plural("roles"),
  ],
};

const enterpriseSchema: Schema = {
  id: enterpriseUrn,
  name: "EnterpriseUser",
  description: "A person's place in the organization.",
  attributes: [
    attribute("employeeNumber"),
    attribute("costCenter"),
    attribute("organization"),
    attribute("division"),
    attribute("department"),
    complex("manager", [
      attribute("value", { isCaseExact: true }),
      attribute("$ref", { type: "reference", isCaseExact: true }),
      attribute("displayName"),
    ]),
  ],
};

const groupSchema: Schema = {
  id: groupUrn,
  name: "Group",
  description: "A group of people. The tenant decides which groups have roles.",
  attributes: [
    attribute("displayName", { isRequired: true }),
    externalId,
    complex(
      "members",
      [
        attribute("value", { isCaseExact: true }),
        attribute("$ref", { type: "reference", isCaseExact: true }),
        attribute("display"),
        attribute("type"),
      ],
      { isMultiValued: true },
    ),
  ],
};

export const userType: ResourceType = {
  ...{ name: "User", endpoint: "/Users", schema: userSchema, extensions: [enterpriseSchema] },
};
export const groupType: ResourceType = { name: "Group", endpoint: "/Groups", schema: groupSchema, extensions: [] };

/** Finds an attribute by its name, without regard to case. */
export function attributeNamed(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return attributes.find((each) => each.name.toLowerCase() === wanted);
}

/** A place in a resource: an attribute of the core schema or of an extension, and a sub-attribute. */
export interface AttributePath {
  /** The extension that has the attribute; undefined for the core schema. */
  readonly extension: Schema | undefined;
  readonly attribute: Attribute;
  readonly sub: Attribute | undefined;
}

/** Resolves a path such as `name.givenName` or `urn:…:User:manager.value`; undefined if there is no such attribute. */
export function resolvePath(type: ResourceType, text: string): AttributePath | undefined {
  const lower = text.toLowerCase();
  const schemas = [type.schema, ...type.extensions];
  const schema = schemas.find(({ id }) => lower.startsWith(`${id.toLowerCase()}:`));
  const rest = schema === undefined ? text : text.slice(schema.id.length + 1);
  const [name = "", subName, ...more] = rest.split(".");
  if (more.length > 0) return undefined;
  const isCore = schema === undefined || schema === type.schema;
  const known = isCore ? [...type.schema.attributes, ...commonAttributes] : schema.attributes;
  const found = attributeNamed(known, name);
  if (found === undefined) return undefined;
  const sub = subName === undefined ? undefined : attributeNamed(found.subAttributes, subName);
  if (subName !== undefined && sub === undefined) return undefined;
  return { extension: isCore ? undefined : schema, attribute: found, sub };
}

/** The extension that a text names as a whole, without regard to case. */
export function extensionNamed(type: ResourceType, text: string): Schema | undefined {
  return type.extensions.find(({ id }) => id.toLowerCase() === text.toLowerCase());
}
