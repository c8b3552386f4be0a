/** How an error appears in every protocol. There is one entry per code; the error reference is generated from them. */
export interface ErrorEntry {
  /** The HTTP status of REST responses. */
  readonly http: number;
  /** The Connect code, which also determines the gRPC status number. */
  readonly connect: ConnectCode;
  /** Whether the same call, unchanged, can succeed later. */
  readonly retryable: boolean;
  /** A short title for people. */
  readonly title: string;
  /** What the code means. */
  readonly meaning: string;
  /** What the caller does about it. */
  readonly remedy: string;
}

/** A status code of Connect and gRPC, by its Connect name. */
export type ConnectCode = keyof typeof grpcCodes;

/** The gRPC status number of each Connect code. */
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

/** Every error that a caller can see. The meaning of a published code never changes. */
export const catalogue = {
  INVALID_ARGUMENT: {
    http: 400,
    connect: "invalid_argument",
    retryable: false,
    title: "Invalid request",
    meaning: "The request cannot be parsed, or a field violates a rule.",
    remedy: "Correct the fields that `detail` and `violations` name, then send the request again.",
  },
  UNAUTHENTICATED: {
    http: 401,
    connect: "unauthenticated",
    retryable: false,
    title: "Not authenticated",
    meaning: "The call has no credentials, or they are invalid, expired or revoked.",
    remedy: "Send a valid key in `X-API-Key` or a valid token in `Authorization: Bearer`.",
  },
  PERMISSION_DENIED: {
    http: 403,
    connect: "permission_denied",
    retryable: false,
    title: "Permission denied",
    meaning: "The caller is authenticated but does not have a role or scope that the operation requires.",
    remedy: "Use credentials with the roles and scopes that the API reference lists for the operation.",
  },
  TENANT_MISMATCH: {
    http: 403,
    connect: "permission_denied",
    retryable: false,
    title: "Tenant mismatch",
    meaning: "The `X-Tenant-ID` header names a tenant other than the caller's own.",
    remedy: "Omit the header, or use credentials of that tenant.",
  },
  TENANT_SUSPENDED: {
    http: 403,
    connect: "permission_denied",
    retryable: false,
    title: "Tenant suspended",
    meaning: "The caller's tenant is suspended. Its data is retained.",
    remedy: "Ask the operator of the service to reactivate the tenant.",
  },
  HOST_NOT_ALLOWED: {
    http: 403,
    connect: "permission_denied",
    retryable: false,
    title: "Host not allowed",
    meaning: "The request's Host header is not in `api.allowed_hosts`.",
    remedy: "Use an allowed host name, or ask the operator to add this one to `api.allowed_hosts`.",
  },
  NOT_FOUND: {
    http: 404,
    connect: "not_found",
    retryable: false,
    title: "Not found",
    meaning: "The record does not exist or belongs to another tenant.",
    remedy: "Check the id, and that the credentials belong to the record's tenant.",
  },
  ROUTE_NOT_FOUND: {
    http: 404,
    connect: "unimplemented",
    retryable: false,
    title: "No such operation",
    meaning: "No operation of this plane has this path.",
    remedy: "Check the path against `/docs` or `/openapi.yaml`.",
  },
  METHOD_NOT_ALLOWED: {
    http: 405,
    connect: "unimplemented",
    retryable: false,
    title: "Method not allowed",
    meaning: "The path exists but does not support this HTTP method.",
    remedy: "Use one of the methods in the response's `Allow` header.",
  },
  REQUEST_TIMEOUT: {
    http: 408,
    connect: "deadline_exceeded",
    retryable: true,
    title: "Request timed out",
    meaning: "The request's headers or body did not arrive in time.",
    remedy: "Send the request again without pauses. Over a slow connection, send smaller requests.",
  },
  ALREADY_EXISTS: {
    http: 409,
    connect: "already_exists",
    retryable: false,
    title: "Already exists",
    meaning: "Another record already has this value, which must be unique.",
    remedy: "Use the existing record, or choose another value.",
  },
  VERSION_CONFLICT: {
    http: 409,
    connect: "aborted",
    retryable: false,
    title: "Version conflict",
    meaning: "The record changed after the version in `record_version`.",
    remedy: "Read the record again, reapply the change and send the current `record_version`.",
  },
  CONFLICT: {
    http: 409,
    connect: "aborted",
    retryable: true,
    title: "Conflict",
    meaning: "The request conflicted with a concurrent change.",
    remedy: "Send the same request again.",
  },
  IN_USE: {
    http: 409,
    connect: "failed_precondition",
    retryable: false,
    title: "In use",
    meaning: "The record cannot be deleted because other records reference it.",
    remedy: "Change or delete the records that `detail` lists, then send the request again.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    http: 409,
    connect: "already_exists",
    retryable: false,
    title: "Idempotency key reused",
    meaning: "The idempotency key was already used for a different request.",
    remedy: "Use a new idempotency key for every new request.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    http: 409,
    connect: "aborted",
    retryable: true,
    title: "Request in progress",
    meaning: "A request with this idempotency key is still in progress.",
    remedy: "Wait a moment, then send the same request again to get its response.",
  },
  IDEMPOTENCY_ANSWER_LOST: {
    http: 409,
    connect: "failed_precondition",
    retryable: false,
    title: "Stored response unreadable",
    meaning:
      "A request with this idempotency key succeeded, but its stored response is encrypted with a master key that the instance no longer has.",
    remedy:
      "Read the record instead of sending the request again. The operator can restore the retired key in `connector.rotation_keys`.",
  },
  LEASE_LOST: {
    http: 409,
    connect: "aborted",
    retryable: false,
    title: "Lease lost",
    meaning:
      "The worker no longer holds the item: its lease expired and another worker leased it, or the item was cancelled.",
    remedy: "Stop work on the item and lease another one. Send heartbeats before the lease expires.",
  },
  ROUTING_FAILED: {
    http: 503,
    connect: "unavailable",
    retryable: true,
    title: "Routing failed",
    meaning: "No recipient can take the item now, and its pool does not queue unassigned items or its queue is full.",
    remedy: "Try again later, or configure the pool to queue unassigned items.",
  },
  FAILED_PRECONDITION: {
    http: 412,
    connect: "failed_precondition",
    retryable: false,
    title: "Precondition failed",
    meaning: "The state of the record or of a setting does not allow the operation.",
    remedy: "Change the record or the setting as `detail` describes, then send the request again.",
  },
  REPLAY_REFUSED: {
    http: 412,
    connect: "failed_precondition",
    retryable: false,
    title: "Replay not possible",
    meaning: "The workflow run cannot be replayed as requested, because its history does not fit.",
    remedy: "Choose another step, version or other values for the steps that `violations` name.",
  },
  CONNECTION_UNUSABLE: {
    http: 412,
    connect: "failed_precondition",
    retryable: false,
    title: "Connection unusable",
    meaning: "The connection is revoked, or its end user must grant access again.",
    remedy: "Let the end user reconnect with a connect session, or use another connection.",
  },
  CONNECT_SESSION_INVALID: {
    http: 412,
    connect: "failed_precondition",
    retryable: false,
    title: "Connect session invalid",
    meaning: "The connect session has ended, or was not finished by the end user whom the request names.",
    remedy: "Create another connect session and send the end user to it.",
  },
  ACTION_NOT_EXECUTABLE: {
    http: 412,
    connect: "failed_precondition",
    retryable: false,
    title: "Action not executable",
    meaning: "The connector action is only described, deprecated, or not configured.",
    remedy: "Use another action, as `detail` describes.",
  },
  PACK_UNTRUSTED: {
    http: 412,
    connect: "failed_precondition",
    retryable: false,
    title: "Pack not trusted",
    meaning: "The pack is not signed by a trusted key of its publisher, or it was changed after it was signed.",
    remedy: "Get the pack from its publisher again. If the publisher has a new key, register it first.",
  },
  PACK_CONFLICT: {
    http: 409,
    connect: "failed_precondition",
    retryable: false,
    title: "Upgrade conflicts with own changes",
    meaning: "The new version of the pack changes values that the tenant changed too.",
    remedy:
      "Decide about the values that `conflicts` lists, then upgrade with `on_conflict` set to `keep` or `replace`.",
  },
  PACK_CONSENT_REQUIRED: {
    http: 412,
    connect: "failed_precondition",
    retryable: false,
    title: "Consent required",
    meaning: "The new version of the pack needs permissions that the installed version does not have.",
    remedy: "If `added_permissions` is acceptable, send the request again with it as `accepted_permissions`.",
  },
  PAYLOAD_TOO_LARGE: {
    http: 413,
    connect: "resource_exhausted",
    retryable: false,
    title: "Request too large",
    meaning: "The request's body is larger than `api.max_request_body_size`.",
    remedy: "Split the request into smaller ones.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    http: 415,
    connect: "unimplemented",
    retryable: false,
    title: "Unsupported media type",
    meaning: "The operation does not support the request's content type or encoding.",
    remedy: "Send the body as `application/json`.",
  },
  CONNECTOR_FAILED: {
    http: 422,
    connect: "failed_precondition",
    retryable: false,
    title: "Provider refused the action",
    meaning: "The provider refused to perform a connector action. Nothing was changed.",
    remedy: "Read the execution that `execution_id` names, or have it explained. Correct the input or the access.",
  },
  RATE_LIMITED: {
    http: 429,
    connect: "resource_exhausted",
    retryable: true,
    title: "Too many requests",
    meaning: "The rate limit of the instance or of the tenant is exceeded.",
    remedy: "Wait the number of seconds in the `Retry-After` header, then send the request again.",
  },
  QUOTA_EXCEEDED: {
    http: 429,
    connect: "resource_exhausted",
    retryable: false,
    title: "Daily quota exceeded",
    meaning: "The tenant's daily quota for the operation is used up.",
    remedy: "Wait for the next UTC day, or ask the operator to raise the quota.",
  },
  CONNECTOR_RATE_LIMITED: {
    http: 429,
    connect: "resource_exhausted",
    retryable: true,
    title: "Provider limits requests",
    meaning: "The provider of a connection accepts no requests of it for some time. Nothing was changed.",
    remedy: "Wait the number of seconds in the `Retry-After` header, then send the request again.",
  },
  HEADERS_TOO_LARGE: {
    http: 431,
    connect: "resource_exhausted",
    retryable: false,
    title: "Headers too large",
    meaning: "The request's target and headers are larger than 32 KiB.",
    remedy: "Send fewer or shorter headers, and move long values into the body.",
  },
  CANCELED: {
    http: 499,
    connect: "canceled",
    retryable: false,
    title: "Canceled",
    meaning: "The caller closed the connection or cancelled the call before the response.",
    remedy: "No action is needed. To get a response, send the request again.",
  },
  INTERNAL: {
    http: 500,
    connect: "internal",
    retryable: false,
    title: "Internal error",
    meaning:
      "An unexpected error occurred. The service's log contains the cause under the reference (`ref`) in `detail`.",
    remedy: "Report the reference to the operator of the service.",
  },
  CONNECTOR_OUTCOME_UNKNOWN: {
    http: 502,
    connect: "unknown",
    retryable: false,
    title: "Outcome unknown",
    meaning: "A connector action was sent, but it is unknown whether the provider performed it.",
    remedy: "Check at the provider. If `repeatable` is true, sending the request again cannot have an effect twice.",
  },
  UNAVAILABLE: {
    http: 503,
    connect: "unavailable",
    retryable: true,
    title: "Service unavailable",
    meaning: "The instance is starting, stopping, at its limit of concurrent requests, or cannot reach a dependency.",
    remedy: "Try again with exponential back-off.",
  },
  CONNECTOR_UNAVAILABLE: {
    http: 503,
    connect: "unavailable",
    retryable: true,
    title: "Provider unavailable",
    meaning: "The provider of a connection cannot be reached, or cannot answer now.",
    remedy: "Wait the number of seconds in the `Retry-After` header if there is one, then send the request again.",
  },
  FEATURE_DISABLED: {
    http: 503,
    connect: "unavailable",
    retryable: false,
    title: "Feature disabled",
    meaning: "A setting disables the feature that the operation belongs to.",
    remedy: "Ask the operator to enable the setting that `detail` names.",
  },
  TIMEOUT: {
    http: 504,
    connect: "deadline_exceeded",
    retryable: true,
    title: "Timed out",
    meaning: "The operation did not finish within the time limit of the caller or of the service.",
    remedy: "Try again. Use an idempotency key if the operation changes data.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** An error code of the catalogue. */
export type ErrorCode = keyof typeof catalogue;
