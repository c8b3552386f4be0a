/** How an error shows on every surface. One row a code; the documentation is made from these rows too. */
export interface ErrorEntry {
  /** The HTTP status that REST answers with. */
  readonly http: number;
  /** The Connect code; gRPC's number follows from it. */
  readonly connect: ConnectCode;
  /** Whether the same call may succeed later, unchanged. */
  readonly retryable: boolean;
  /** A short human title. */
  readonly title: string;
  /** What the code means. */
  readonly meaning: string;
  /** How a caller mends it. */
  readonly remedy: string;
}

/** Connect's names of the sixteen gRPC codes. */
export type ConnectCode = keyof typeof grpcCodes;

/** gRPC's numbers of Connect's codes. */
export const grpcCodes = {
  canceled: 1,
  unknown: 2,
  invalid_argument: 3,
  deadline_exceeded: 4,
  not_found: 5,
  already_exists: 6,
  permission_denied: 7,
  resource_exhausted: 8,
  failed_precondition: 9,
  aborted: 10,
  out_of_range: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  data_loss: 15,
  unauthenticated: 16,
} as const;

/** Every error that a caller can see. A code, once published, keeps its meaning. */
export const catalogue = {
  INVALID_ARGUMENT: {
    http: 400,
    connect: "invalid_argument",
    retryable: false,
    title: "Invalid request",
    meaning: "The request cannot be understood or breaks a rule of its fields.",
    remedy: "Read `detail` and `violations`, mend the named fields and send the request again.",
  },
  UNAUTHENTICATED: {
    http: 401,
    connect: "unauthenticated",
    retryable: false,
    title: "Not authenticated",
    meaning: "No credentials came with the call, or they are unknown, expired or revoked.",
    remedy: "Send a valid key in `X-API-Key` or a valid token in `Authorization: Bearer`.",
  },
  PERMISSION_DENIED: {
    http: 403,
    connect: "permission_denied",
    retryable: false,
    title: "Not allowed",
    meaning: "The caller is known, but lacks a role or a scope that the operation needs.",
    remedy: "Use a caller with the scopes and roles that the reference names for the operation.",
  },
  TENANT_MISMATCH: {
    http: 403,
    connect: "permission_denied",
    retryable: false,
    title: "Another tenant",
    meaning: "`X-Tenant-ID` names a tenant other than the caller's own.",
    remedy: "Leave the header out, or call with credentials of that tenant.",
  },
  TENANT_SUSPENDED: {
    http: 403,
    connect: "permission_denied",
    retryable: false,
    title: "Tenant suspended",
    meaning: "The caller's tenant is suspended; its data is kept.",
    remedy: "Ask the operator of the service to activate the tenant again.",
  },
  HOST_NOT_ALLOWED: {
    http: 403,
    connect: "permission_denied",
    retryable: false,
    title: "Host not allowed",
    meaning: "The request's Host is not one that this instance answers to.",
    remedy: "Call the instance by a name listed in `api.allowed_hosts`.",
  },
  NOT_FOUND: {
    http: 404,
    connect: "not_found",
    retryable: false,
    title: "Not found",
    meaning: "There is no such record for this caller.",
    remedy: "Check the id. Records of other tenants are never found.",
  },
  ROUTE_NOT_FOUND: {
    http: 404,
    connect: "unimplemented",
    retryable: false,
    title: "No such operation",
    meaning: "No operation answers at this path on this plane.",
    remedy: "Look the path up in `/docs` or `/openapi.yaml`.",
  },
  METHOD_NOT_ALLOWED: {
    http: 405,
    connect: "unimplemented",
    retryable: false,
    title: "Verb not allowed",
    meaning: "The path exists, but not with this HTTP verb.",
    remedy: "Use one of the verbs in the `Allow` header.",
  },
  REQUEST_TIMEOUT: {
    http: 408,
    connect: "deadline_exceeded",
    retryable: true,
    title: "Request timed out",
    meaning: "The request's headers or body did not arrive in time.",
    remedy: "Send the request again, without pauses; send less at once over a slow connection.",
  },
  ALREADY_EXISTS: {
    http: 409,
    connect: "already_exists",
    retryable: false,
    title: "Already exists",
    meaning: "Another record already has a value that must be unique.",
    remedy: "Use the existing record or choose another value.",
  },
  VERSION_CONFLICT: {
    http: 409,
    connect: "aborted",
    retryable: false,
    title: "Version conflict",
    meaning: "The record changed since the version that the update names.",
    remedy: "Read the record again, apply the change to it and send the new `record_version`.",
  },
  CONFLICT: {
    http: 409,
    connect: "aborted",
    retryable: true,
    title: "Conflict",
    meaning: "A concurrent change got in the way.",
    remedy: "Send the same request again.",
  },
  IN_USE: {
    http: 409,
    connect: "failed_precondition",
    retryable: false,
    title: "In use",
    meaning: "Other records use the record, so it cannot be deleted.",
    remedy: "Change or delete the records that `detail` names, then send the request again.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    http: 409,
    connect: "already_exists",
    retryable: false,
    title: "Idempotency key reused",
    meaning: "The idempotency key was used before with another request.",
    remedy: "Use a fresh key for every new request.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    http: 409,
    connect: "aborted",
    retryable: true,
    title: "Request in progress",
    meaning: "A request with this idempotency key is still running.",
    remedy: "Wait a moment and send the same request again to get its answer.",
  },
  IDEMPOTENCY_ANSWER_LOST: {
    http: 409,
    connect: "failed_precondition",
    retryable: false,
    title: "Answer no longer readable",
    meaning:
      "A request with this idempotency key took effect, but its stored answer is sealed with an encryption key that the instance no longer has.",
    remedy:
      "Look the record up instead of sending the request again. The operator can bring the retired key back in `connector.rotation_keys`.",
  },
  LEASE_LOST: {
    http: 409,
    connect: "aborted",
    retryable: false,
    title: "Lease lost",
    meaning: "The item is no longer the worker's: its lease ended and it was given to another, or it was cancelled.",
    remedy: "Leave the item alone and lease another; send heartbeats more often than the lease lasts.",
  },
  ROUTING_FAILED: {
    http: 503,
    connect: "unavailable",
    retryable: true,
    title: "Routing failed",
    meaning: "Nobody can take the item now, and its pool does not keep such items, or keeps no more of them.",
    remedy: "Try again later, or have the pool queue what nobody can take.",
  },
  FAILED_PRECONDITION: {
    http: 412,
    connect: "failed_precondition",
    retryable: false,
    title: "Precondition failed",
    meaning: "The record or a setting is in a state that does not allow the operation.",
    remedy: "Bring the record or the setting into the state that `detail` names.",
  },
  PAYLOAD_TOO_LARGE: {
    http: 413,
    connect: "resource_exhausted",
    retryable: false,
    title: "Request too large",
    meaning: "The request's body is larger than `api.max_request_body_size`.",
    remedy: "Send less at once.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    http: 415,
    connect: "unimplemented",
    retryable: false,
    title: "Media type not supported",
    meaning: "The request's content type or encoding is not one that the operation reads.",
    remedy: "Send `application/json`.",
  },
  RATE_LIMITED: {
    http: 429,
    connect: "resource_exhausted",
    retryable: true,
    title: "Too many requests",
    meaning: "The rate limit of the instance or of the tenant is used up for now.",
    remedy: "Wait the number of seconds in `Retry-After`.",
  },
  QUOTA_EXCEEDED: {
    http: 429,
    connect: "resource_exhausted",
    retryable: false,
    title: "Daily quota exceeded",
    meaning: "The tenant's daily quota for the operation is used up.",
    remedy: "Wait for the next UTC day or have the quota raised.",
  },
  HEADERS_TOO_LARGE: {
    http: 431,
    connect: "resource_exhausted",
    retryable: false,
    title: "Headers too large",
    meaning: "The request's target and headers are larger than 32 KiB.",
    remedy: "Send fewer or shorter headers, and long values in the body.",
  },
  CANCELED: {
    http: 499,
    connect: "canceled",
    retryable: false,
    title: "Canceled",
    meaning: "The caller went away before the answer.",
    remedy: "Nothing to mend.",
  },
  INTERNAL: {
    http: 500,
    connect: "internal",
    retryable: false,
    title: "Internal error",
    meaning: "Something failed that the caller cannot mend. The cause is in the log under the reference.",
    remedy: "Give the reference to the operator of the service.",
  },
  UNAVAILABLE: {
    http: 503,
    connect: "unavailable",
    retryable: true,
    title: "Not available now",
    meaning:
      "The instance is starting, stopping, at its limit of concurrent requests, or cannot reach something it needs.",
    remedy: "Try again, with growing waits between the tries.",
  },
  FEATURE_DISABLED: {
    http: 503,
    connect: "unavailable",
    retryable: false,
    title: "Feature switched off",
    meaning: "The feature that the operation belongs to is switched off by a setting.",
    remedy: "Have the operator switch on the setting that `detail` names.",
  },
  TIMEOUT: {
    http: 504,
    connect: "deadline_exceeded",
    retryable: true,
    title: "Timed out",
    meaning: "The operation did not end within the time that the caller or the service allows.",
    remedy: "Try again, with an idempotency key when the operation changes something.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof catalogue;
