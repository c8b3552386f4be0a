import { type DocumentLimits, type TextFormat, textFormat } from "../../../../../platform/document/index.ts";

/** The limits of the language. The published schema and the parser share them. */
export const limits = {
  /** The size of a document as JSON, in bytes. */
  documentBytes: 256 * 1024,
  /** The nesting of objects and lists in a document. */
  documentDepth: 128,
  /** Steps in the whole document. */
  steps: 500,
  /** Levels of step lists. */
  stepDepth: 16,
  /** Levels of a template. */
  templateDepth: 16,
  /** Steps that one run may execute. */
  executedSteps: 10_000,
  nameLength: 200,
  descriptionLength: 2000,
  arms: 50,
  branches: { min: 2, max: 50 },
  mapItems: 10_000,
  mapParallel: 100,
  events: 20,
  approvers: 50,
  streamRecords: 1000,
  codes: 50,
  catches: 20,
  attempts: 100,
  factor: 10,
  versionMax: 1_000_000,
} as const;

/** The bounds of a document. */
export const documentLimits: DocumentLimits = {
  bytesMax: limits.documentBytes,
  depthMax: limits.documentDepth,
  advice: "move steps into a subworkflow",
};

/** The formats of names in a document. */
export const formats = {
  key: textFormat(
    "^[a-z0-9]+([._-][a-z0-9]+)*$",
    128,
    'must be lower-case letters and digits, separated by single dots, underscores or hyphens, at most 128 characters, for example "lead.onboard"',
  ),
  stepId: textFormat(
    "^[a-z][A-Za-z0-9_]*$",
    64,
    'must be a lower-case letter, then letters, digits and underscores, at most 64 characters, for example "score"',
  ),
  code: textFormat(
    "^[a-z0-9_]+$",
    64,
    'must be lower-case letters, digits and underscores, at most 64 characters, for example "quota"',
  ),
  caughtCode: textFormat("^([a-z0-9_]+|\\*)$", 64, 'must be an error code such as "quota", or "*" for any error'),
  name: textFormat(
    "^[A-Za-z0-9][A-Za-z0-9._:/-]*$",
    128,
    'must be letters, digits, dots, underscores, hyphens, colons and slashes, at most 128 characters, for example "lead.score"',
  ),
  streamName: textFormat(
    "^[a-z][a-z0-9._-]*$",
    63,
    'must be a lower-case letter, then lower-case letters, digits, dots, underscores and hyphens, at most 63 characters, for example "audit"',
  ),
  contentClass: textFormat(
    "^[a-z][a-z0-9_]*$",
    63,
    'must be a lower-case letter, then lower-case letters, digits and underscores, at most 63 characters, for example "message"',
  ),
  schemaRef: textFormat("^[^\\n]*$", 255, 'must be at most 255 characters in one line, for example "lead@2"'),
  versionRange: textFormat(
    "^(>=|<=|>|<|=)?[0-9]{1,9}(\\.[0-9]{1,9}){0,2}( (>=|<=|>|<|=)?[0-9]{1,9}(\\.[0-9]{1,9}){0,2}){0,3}$",
    128,
    'must be one to four comparisons with a version, separated by spaces, for example ">=2 <3"',
  ),
  // A template is not possible here, because publishing checks that the pool exists.
  pool: textFormat(
    "^[^=]",
    200,
    'must be the name or the id of a pool, at most 200 characters, for example "sales"; it cannot be an expression',
  ),
  workflowKey: textFormat(
    "^[a-zA-Z0-9]([._-]?[a-zA-Z0-9])*$",
    128,
    'must be the key of a notification workflow, for example "welcome"; it cannot be an expression',
  ),
  experimentKey: textFormat(
    "^[a-z0-9][a-z0-9_-]*$",
    128,
    'must be the key of an experiment, for example "checkout"; it cannot be an expression',
  ),
  actionKey: textFormat(
    "^[a-z0-9][a-z0-9-]*(\\.[a-z][a-z0-9_]*)+$",
    128,
    'must be the key of a connector action, for example "github.issue.create"; it cannot be an expression',
  ),
  approver: textFormat("^(role|user):[^\\s]+$", 200, 'must be role: or user: with a name, for example "role:operator"'),
} as const satisfies Record<string, TextFormat>;

/** Names that every JavaScript object has. Steps and branches cannot use them, so that no lookup finds an inherited member. */
export const reservedNames: readonly string[] = [
  "constructor",
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toLocaleString",
  "toString",
  "valueOf",
];
