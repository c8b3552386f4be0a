import { type DocumentLimits, type TextFormat, textFormat } from "../../../../../platform/document/index.ts";

/** The limits of the language. The published schema and the compiler share them. */
export const limits = {
  documentBytes: 256 * 1024,
  documentDepth: 64,
  actions: 200,
  triggers: 50,
  hosts: 50,
  fields: 30,
  scopes: 500,
  errorRules: 50,
  schemas: 500,
  /** Nodes of one schema after its references are resolved. */
  schemaNodes: 5000,
  captured: 20,
  params: 50,
  related: 20,
  events: 50,
  /** Alternatives to send a message on one channel. */
  sends: 10,
  templateDepth: 16,
  nameLength: 100,
  titleLength: 200,
  descriptionLength: 2000,
  urlLength: 2000,
  templateLength: 16_384,
  graphqlLength: 65_536,
  attempts: 5,
  timeoutMs: { min: 100, max: 120_000, default: 30_000 },
  responseBytes: { min: 1024, max: 16 * 1024 * 1024, default: 1024 * 1024 },
  pages: 100,
  pageSize: 10_000,
  lifetimeS: 10 * 366 * 86_400,
} as const;

/** The bounds of a manifest. */
export const documentLimits: DocumentLimits = {
  bytesMax: limits.documentBytes,
  depthMax: limits.documentDepth,
  advice: "split the provider into several manifests",
};

/** The formats of texts in a manifest. */
export const formats = {
  key: textFormat(
    "^[a-z0-9][a-z0-9-]{0,38}[a-z0-9]$",
    40,
    'must be 2 to 40 lower-case letters, digits and hyphens, for example "github"',
  ),
  version: textFormat(
    "^(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})(-[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$",
    64,
    'must be a semantic version, for example "1.0.0"',
  ),
  operation: textFormat(
    "^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*){0,3}$",
    80,
    'must be lower-case names, separated by dots, at most 80 characters, for example "issue.create"',
  ),
  field: textFormat(
    "^[a-z][a-z0-9_]*$",
    63,
    'must be a lower-case letter, then lower-case letters, digits and underscores, at most 63 characters, for example "api_key"',
  ),
  name: textFormat(
    "^[^\\x00-\\x1f]+$",
    limits.nameLength,
    'must be a text of 1 to 100 characters, for example "GitHub"',
  ),
  title: textFormat(
    "^[^\\x00-\\x1f]+$",
    limits.titleLength,
    'must be a text of 1 to 200 characters, for example "Create an issue"',
  ),
  url: textFormat(
    "^https://[^\\s]+$",
    limits.urlLength,
    'must be a URL with https, for example "https://docs.example.com"',
  ),
  host: textFormat(
    "^(\\{settings\\.[a-z][a-z0-9_]*\\}|[A-Za-z0-9*]([A-Za-z0-9*.-]*[A-Za-z0-9])?(:[0-9]{1,5})?|\\[::1\\])$",
    260,
    'must be a host name such as "api.github.com", one with a wildcard label such as "*.zendesk.com", or the host of a setting such as "{settings.base_url}"',
  ),
  header: textFormat("^[A-Za-z0-9][A-Za-z0-9_-]*$", 64, 'must be the name of a header, for example "x-api-key"'),
  pointer: textFormat(
    "^(/([^/~]|~[01])*)*$",
    512,
    'must be a JSON Pointer, for example "/data/id", or "" for the whole body',
  ),
  param: textFormat("^[^\\s=&#]+$", 128, 'must be the name of a parameter, for example "page"'),
  scope: textFormat("^[\\x21-\\x7e]+$", 200, 'must be the name of a scope without spaces, for example "repo"'),
  schemaName: textFormat(
    "^[A-Za-z][A-Za-z0-9_]*$",
    100,
    'must be letters, digits and underscores, for example "IssueInput"',
  ),
  member: textFormat("^[A-Za-z0-9_]+$", 32, 'must be the name of a member of the header, for example "v1"'),
  service: textFormat("^[a-z0-9-]+$", 32, 'must be the name of an AWS service, for example "sqs"'),
} as const satisfies Record<string, TextFormat>;

/** Headers that a manifest cannot set: they control framing and the recipient. */
export const forbiddenHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-.*)$/i;
