// Generated from the error catalogue; do not edit.

/** Every error of the service, by its code. */
export interface ErrorCatalogue {
  /** The request cannot be parsed, or a field violates a rule. Correct the fields that `detail` and `violations` name, then send the request again. */
  readonly INVALID_ARGUMENT: { readonly status: 400; readonly retryable: false };
  /** The call has no credentials, or they are invalid, expired or revoked. Send a valid key in `X-API-Key` or a valid token in `Authorization: Bearer`. */
  readonly UNAUTHENTICATED: { readonly status: 401; readonly retryable: false };
  /** The caller is authenticated but does not have a role or scope that the operation requires. Use credentials with the roles and scopes that the API reference lists for the operation. */
  readonly PERMISSION_DENIED: { readonly status: 403; readonly retryable: false };
  /** The tenant lacks the entitlement that the operation needs, or it is denied explicitly. Change to a plan with the entitlement that `detail` names, or ask the operator of the service. */
  readonly ENTITLEMENT_DENIED: { readonly status: 403; readonly retryable: false };
  /** The `X-Tenant-ID` header names a tenant other than the caller's own. Omit the header, or use credentials of that tenant. */
  readonly TENANT_MISMATCH: { readonly status: 403; readonly retryable: false };
  /** The caller's tenant is suspended. Its data is retained. Ask the operator of the service to reactivate the tenant. */
  readonly TENANT_SUSPENDED: { readonly status: 403; readonly retryable: false };
  /** The request's Host header is not in `api.allowed_hosts`. Use an allowed host name, or ask the operator to add this one to `api.allowed_hosts`. */
  readonly HOST_NOT_ALLOWED: { readonly status: 403; readonly retryable: false };
  /** The record does not exist or belongs to another tenant. Check the id, and that the credentials belong to the record's tenant. */
  readonly NOT_FOUND: { readonly status: 404; readonly retryable: false };
  /** No operation of this plane has this path. Check the path against `/docs` or `/openapi.yaml`. */
  readonly ROUTE_NOT_FOUND: { readonly status: 404; readonly retryable: false };
  /** The path exists but does not support this HTTP method. Use one of the methods in the response's `Allow` header. */
  readonly METHOD_NOT_ALLOWED: { readonly status: 405; readonly retryable: false };
  /** The request's headers or body did not arrive in time. Send the request again without pauses. Over a slow connection, send smaller requests. */
  readonly REQUEST_TIMEOUT: { readonly status: 408; readonly retryable: true };
  /** Another record already has this value, which must be unique. Use the existing record, or choose another value. */
  readonly ALREADY_EXISTS: { readonly status: 409; readonly retryable: false };
  /** The record changed after the version in `record_version`. Read the record again, reapply the change and send the current `record_version`. */
  readonly VERSION_CONFLICT: { readonly status: 409; readonly retryable: false };
  /** The request conflicted with a concurrent change. Send the same request again. */
  readonly CONFLICT: { readonly status: 409; readonly retryable: true };
  /** The record cannot be deleted because other records reference it. Change or delete the records that `detail` lists, then send the request again. */
  readonly IN_USE: { readonly status: 409; readonly retryable: false };
  /** The idempotency key was already used for a different request. Use a new idempotency key for every new request. */
  readonly IDEMPOTENCY_KEY_REUSED: { readonly status: 409; readonly retryable: false };
  /** The experiment already has a score with this id and another content. Send the first content again to repeat the score, or use a new `score_id` for another score. */
  readonly SCORE_ID_REUSED: { readonly status: 409; readonly retryable: false };
  /** The meter already has usage with this transaction id and another content. Nothing of the call was recorded. Send the first content again to repeat the usage, or use a new `transaction_id` for other usage. */
  readonly TRANSACTION_ID_REUSED: { readonly status: 409; readonly retryable: false };
  /** A request with this idempotency key is still in progress. Wait a moment, then send the same request again to get its response. */
  readonly IDEMPOTENCY_IN_PROGRESS: { readonly status: 409; readonly retryable: true };
  /** The worker no longer holds the item: its lease expired and another worker leased it, or the item was cancelled. Stop work on the item and lease another one. Send heartbeats before the lease expires. */
  readonly LEASE_LOST: { readonly status: 409; readonly retryable: false };
  /** The offer is no longer open: it expired, was declined or withdrawn, or the item was offered to another recipient. List the open offers of the recipient and answer one of them before it expires. */
  readonly OFFER_LOST: { readonly status: 409; readonly retryable: false };
  /** The pool cannot lease items to a worker that names no recipient, because its items depend on the recipient. Name the recipient as `detail` describes. */
  readonly RECIPIENT_REQUIRED: { readonly status: 412; readonly retryable: false };
  /** No recipient can take the item now, and its pool does not queue unassigned items or its queue is full. With `reject_as_error`: a rule rejected the item. Try again after the number of seconds in the `Retry-After` header, or configure the pool to queue unassigned items. */
  readonly ROUTING_FAILED: { readonly status: 503; readonly retryable: true };
  /** The state of the record or of a setting does not allow the operation. Change the record or the setting as `detail` describes, then send the request again. */
  readonly FAILED_PRECONDITION: { readonly status: 412; readonly retryable: false };
  /** The workflow run cannot be replayed as requested, because its history does not fit. Choose another step, version or other values for the steps that `violations` name. */
  readonly REPLAY_REFUSED: { readonly status: 412; readonly retryable: false };
  /** Retention removed records of the stream that follow the cursor. Read the current state elsewhere, then continue with a cursor from `earliest_sequence` - 1 to `latest_sequence`. */
  readonly STREAM_RESYNC_REQUIRED: { readonly status: 410; readonly retryable: false };
  /** The uploaded bytes do not have the announced size or SHA-256. Nothing was stored. Upload the announced bytes, or prepare a new object with the right size and SHA-256. */
  readonly OBJECT_MISMATCH: { readonly status: 400; readonly retryable: false };
  /** The object cannot be committed, because its bytes are not stored. Upload the bytes, then commit the object. */
  readonly OBJECT_NOT_UPLOADED: { readonly status: 412; readonly retryable: false };
  /** The delivery of the object has ended: it is committed, aborted or expired, as `status` says. Prepare a new object if this one is not committed. */
  readonly OBJECT_INTENT_ENDED: { readonly status: 412; readonly retryable: false };
  /** The requested range is outside of the object. Request a range within the size that the `Content-Range` header states. */
  readonly RANGE_NOT_SATISFIABLE: { readonly status: 416; readonly retryable: false };
  /** The stream is closed. Nothing was appended. Append to another stream of the run. */
  readonly STREAM_CLOSED: { readonly status: 412; readonly retryable: false };
  /** The stream is pinned to regions that do not include the region of this node. Send the request to a node of one of the `allowed_regions`. */
  readonly REGION_NOT_ALLOWED: { readonly status: 412; readonly retryable: false };
  /** The connection is revoked, or its end user must grant access again. Let the end user reconnect with a connect session, or use another connection. */
  readonly CONNECTION_UNUSABLE: { readonly status: 412; readonly retryable: false };
  /** The connect session has ended, or was not finished by the end user whom the request names. Create another connect session and send the end user to it. */
  readonly CONNECT_SESSION_INVALID: { readonly status: 412; readonly retryable: false };
  /** The connector action is only described, deprecated, or not configured. Use another action, as `detail` describes. */
  readonly ACTION_NOT_EXECUTABLE: { readonly status: 412; readonly retryable: false };
  /** The pack is not signed by a trusted key of its publisher, or it was changed after it was signed. Get the pack from its publisher again. If the publisher has a new key, register it first. */
  readonly PACK_UNTRUSTED: { readonly status: 412; readonly retryable: false };
  /** The new version of the pack changes values that the tenant changed too. Decide about the values that `conflicts` lists, then upgrade with `on_conflict` set to `keep` or `replace`. */
  readonly PACK_CONFLICT: { readonly status: 409; readonly retryable: false };
  /** The new version of the pack needs permissions that the installed version does not have. If `added_permissions` is acceptable, send the request again with it as `accepted_permissions`. */
  readonly PACK_CONSENT_REQUIRED: { readonly status: 412; readonly retryable: false };
  /** The request's body is larger than `api.max_request_body_size`. Split the request into smaller ones. */
  readonly PAYLOAD_TOO_LARGE: { readonly status: 413; readonly retryable: false };
  /** The operation does not support the request's content type or encoding. Send the body as `application/json`. */
  readonly UNSUPPORTED_MEDIA_TYPE: { readonly status: 415; readonly retryable: false };
  /** The provider refused to perform a connector action. Nothing was changed. Read the execution that `execution_id` names, or have it explained. Correct the input or the access. */
  readonly CONNECTOR_FAILED: { readonly status: 422; readonly retryable: false };
  /** The rate limit of the instance or of the tenant is exceeded. Wait the number of seconds in the `Retry-After` header, then send the request again. */
  readonly RATE_LIMITED: { readonly status: 429; readonly retryable: true };
  /** The throttle of the pool rejected the item, and the request asked for an error with `reject_as_error`. Wait the number of seconds in the `Retry-After` header, then send the item again. */
  readonly ROUTING_THROTTLED: { readonly status: 429; readonly retryable: true };
  /** The tenant's daily quota for the operation is used up. Wait for the next UTC day, or ask the operator to raise the quota. */
  readonly QUOTA_EXCEEDED: { readonly status: 429; readonly retryable: false };
  /** The consumers of the stream have not acknowledged enough of its records. Nothing was appended. Wait the number of seconds in the `Retry-After` header, then send the request again. */
  readonly STREAM_BACKPRESSURE: { readonly status: 429; readonly retryable: true };
  /** The stream holds as many records or bytes as its pins allow. Nothing was appended. Append to another stream of the run, or wait until retention removes records. */
  readonly STREAM_QUOTA_EXHAUSTED: { readonly status: 429; readonly retryable: false };
  /** The provider of a connection accepts no requests of it for some time. Nothing was changed. Wait the number of seconds in the `Retry-After` header, then send the request again. */
  readonly CONNECTOR_RATE_LIMITED: { readonly status: 429; readonly retryable: true };
  /** The request's Expect header asks for something that the service does not do. Omit the header, or send `Expect: 100-continue`. */
  readonly EXPECTATION_FAILED: { readonly status: 417; readonly retryable: false };
  /** The request's target and headers are larger than 32 KiB. Send fewer or shorter headers, and move long values into the body. */
  readonly HEADERS_TOO_LARGE: { readonly status: 431; readonly retryable: false };
  /** The caller closed the connection or cancelled the call before the response. No action is needed. To get a response, send the request again. */
  readonly CANCELED: { readonly status: 499; readonly retryable: false };
  /** An unexpected error occurred. The service's log contains the cause under the reference (`ref`) in `detail`. Report the reference to the operator of the service. */
  readonly INTERNAL: { readonly status: 500; readonly retryable: false };
  /** A connector action was sent, but it is unknown whether the provider performed it. Check at the provider. If `repeatable` is true, sending the request again cannot have an effect twice. */
  readonly CONNECTOR_OUTCOME_UNKNOWN: { readonly status: 502; readonly retryable: false };
  /** The instance is starting, stopping, at its limit of concurrent requests, or cannot reach a dependency. Try again with exponential back-off. */
  readonly UNAVAILABLE: { readonly status: 503; readonly retryable: true };
  /** The provider of a connection cannot be reached, or cannot answer now. Wait the number of seconds in the `Retry-After` header if there is one, then send the request again. */
  readonly CONNECTOR_UNAVAILABLE: { readonly status: 503; readonly retryable: true };
  /** A setting disables the feature that the operation belongs to. Ask the operator to enable the setting that `detail` names. */
  readonly FEATURE_DISABLED: { readonly status: 503; readonly retryable: false };
  /** The operation did not finish within the time limit of the caller or of the service. Try again. Use an idempotency key if the operation changes data. */
  readonly TIMEOUT: { readonly status: 504; readonly retryable: true };
}

/** The code of an error. */
export type ErrorCode = keyof ErrorCatalogue;
