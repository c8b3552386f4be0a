# Generated from the definitions; do not edit.
from __future__ import annotations

from typing import Dict, Literal, Tuple

#: The code of an error.
ErrorCode = Literal["INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "ENTITLEMENT_DENIED", "TENANT_MISMATCH", "TENANT_SUSPENDED", "HOST_NOT_ALLOWED", "NOT_FOUND", "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED", "REQUEST_TIMEOUT", "ALREADY_EXISTS", "VERSION_CONFLICT", "CONFLICT", "IN_USE", "IDEMPOTENCY_KEY_REUSED", "SCORE_ID_REUSED", "TRANSACTION_ID_REUSED", "IDEMPOTENCY_IN_PROGRESS", "LEASE_LOST", "OFFER_LOST", "RECIPIENT_REQUIRED", "ROUTING_FAILED", "FAILED_PRECONDITION", "REPLAY_REFUSED", "STREAM_RESYNC_REQUIRED", "OBJECT_MISMATCH", "OBJECT_NOT_UPLOADED", "OBJECT_INTENT_ENDED", "RANGE_NOT_SATISFIABLE", "STREAM_CLOSED", "REGION_NOT_ALLOWED", "CONNECTION_UNUSABLE", "CONNECT_SESSION_INVALID", "ACTION_NOT_EXECUTABLE", "PACK_UNTRUSTED", "PACK_CONFLICT", "PACK_CONSENT_REQUIRED", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "CONNECTOR_FAILED", "RATE_LIMITED", "ROUTING_THROTTLED", "QUOTA_EXCEEDED", "STORAGE_QUOTA_EXCEEDED", "STREAM_BACKPRESSURE", "STREAM_QUOTA_EXHAUSTED", "CONNECTOR_RATE_LIMITED", "EXPECTATION_FAILED", "HEADERS_TOO_LARGE", "CANCELED", "INTERNAL", "CONNECTOR_OUTCOME_UNKNOWN", "UNAVAILABLE", "STORAGE_FULL", "CONNECTOR_UNAVAILABLE", "FEATURE_DISABLED", "TIMEOUT"]

#: Every error of the service: its HTTP status, whether a retry can succeed, and its title.
ERRORS: Dict[str, Tuple[int, bool, str]] = {
    # The request cannot be parsed, or a field violates a rule. Correct the fields that `detail` and `violations` name, then send the request again. `corrections` says how, where that can be known.
    "INVALID_ARGUMENT": (400, False, "Invalid request"),
    # The call has no credentials, or they are invalid, expired or revoked. Send a valid key in `X-API-Key` or a valid token in `Authorization: Bearer`.
    "UNAUTHENTICATED": (401, False, "Not authenticated"),
    # The caller is authenticated but does not have a role or scope that the operation requires. Use credentials with the roles and scopes that the API reference lists for the operation.
    "PERMISSION_DENIED": (403, False, "Permission denied"),
    # The tenant lacks the entitlement that the operation needs, or it is denied explicitly. Change to a plan with the entitlement that `detail` names, or ask the operator of the service.
    "ENTITLEMENT_DENIED": (403, False, "Not entitled"),
    # The `X-Tenant-ID` header names a tenant other than the caller's own. Omit the header, or use credentials of that tenant.
    "TENANT_MISMATCH": (403, False, "Tenant mismatch"),
    # The caller's tenant is suspended. Its data is retained. Ask the operator of the service to reactivate the tenant.
    "TENANT_SUSPENDED": (403, False, "Tenant suspended"),
    # The request's Host header is not in `api.allowed_hosts`. Use an allowed host name, or ask the operator to add this one to `api.allowed_hosts`.
    "HOST_NOT_ALLOWED": (403, False, "Host not allowed"),
    # The record does not exist or belongs to another tenant. Check the id, and that the credentials belong to the record's tenant.
    "NOT_FOUND": (404, False, "Not found"),
    # No operation of this plane has this path. Check the path against `/docs` or `/openapi.yaml`.
    "ROUTE_NOT_FOUND": (404, False, "No such operation"),
    # The path exists but does not support this HTTP method. Use one of the methods in the response's `Allow` header.
    "METHOD_NOT_ALLOWED": (405, False, "Method not allowed"),
    # The request's headers or body did not arrive in time. Send the request again without pauses. Over a slow connection, send smaller requests.
    "REQUEST_TIMEOUT": (408, True, "Request timed out"),
    # Another record already has this value, which must be unique. Use the existing record, or choose another value.
    "ALREADY_EXISTS": (409, False, "Already exists"),
    # The record changed after the version in `record_version`. Read the record again, reapply the change and send the current `record_version`.
    "VERSION_CONFLICT": (409, False, "Version conflict"),
    # The request conflicted with a concurrent change. Send the same request again.
    "CONFLICT": (409, True, "Conflict"),
    # The record cannot be deleted because other records reference it. Change or delete the records that `detail` lists, then send the request again.
    "IN_USE": (409, False, "In use"),
    # The idempotency key was already used for a different request. Use a new idempotency key for every new request.
    "IDEMPOTENCY_KEY_REUSED": (409, False, "Idempotency key reused"),
    # The experiment already has a score with this id and another content. Send the first content again to repeat the score, or use a new `score_id` for another score.
    "SCORE_ID_REUSED": (409, False, "Score id reused"),
    # The meter already has usage with this transaction id and another content. Nothing of the call was recorded. Send the first content again to repeat the usage, or use a new `transaction_id` for other usage.
    "TRANSACTION_ID_REUSED": (409, False, "Transaction id reused"),
    # A request with this idempotency key is still in progress. Wait a moment, then send the same request again to get its response.
    "IDEMPOTENCY_IN_PROGRESS": (409, True, "Request in progress"),
    # The worker no longer holds the item: its lease expired and another worker leased it, or the item was cancelled. Stop work on the item and lease another one. Send heartbeats before the lease expires.
    "LEASE_LOST": (409, False, "Lease lost"),
    # The offer is no longer open: it expired, was declined or withdrawn, or the item was offered to another recipient. List the open offers of the recipient and answer one of them before it expires.
    "OFFER_LOST": (409, False, "Offer lost"),
    # The pool cannot lease items to a worker that names no recipient, because its items depend on the recipient. Name the recipient as `detail` describes.
    "RECIPIENT_REQUIRED": (412, False, "Recipient required"),
    # No recipient can take the item now, and its pool does not queue unassigned items or its queue is full. With `reject_as_error`: a rule rejected the item. Try again after the number of seconds in the `Retry-After` header, or configure the pool to queue unassigned items.
    "ROUTING_FAILED": (503, True, "Routing failed"),
    # The state of the record or of a setting does not allow the operation. Change the record or the setting as `detail` describes, then send the request again.
    "FAILED_PRECONDITION": (412, False, "Precondition failed"),
    # The workflow run cannot be replayed as requested, because its history does not fit. Choose another step, version or other values for the steps that `violations` name.
    "REPLAY_REFUSED": (412, False, "Replay not possible"),
    # Retention removed records of the stream that follow the cursor. Read the current state elsewhere, then continue with a cursor from `earliest_sequence` - 1 to `latest_sequence`.
    "STREAM_RESYNC_REQUIRED": (410, False, "Records removed"),
    # The uploaded bytes do not have the announced size or SHA-256. Nothing was stored. Upload the announced bytes, or prepare a new object with the right size and SHA-256.
    "OBJECT_MISMATCH": (400, False, "Wrong bytes"),
    # The object cannot be committed, because its bytes are not stored. Upload the bytes, then commit the object.
    "OBJECT_NOT_UPLOADED": (412, False, "Object not uploaded"),
    # The delivery of the object has ended: it is committed, aborted or expired, as `status` says. Prepare a new object if this one is not committed.
    "OBJECT_INTENT_ENDED": (412, False, "Delivery ended"),
    # The requested range is outside of the object. Request a range within the size that the `Content-Range` header states.
    "RANGE_NOT_SATISFIABLE": (416, False, "Range not satisfiable"),
    # The stream is closed. Nothing was appended. Append to another stream of the run.
    "STREAM_CLOSED": (412, False, "Stream closed"),
    # The stream is pinned to regions that do not include the region of this node. Send the request to a node of one of the `allowed_regions`.
    "REGION_NOT_ALLOWED": (412, False, "Region not allowed"),
    # The connection is revoked, or its end user must grant access again. Let the end user reconnect with a connect session, or use another connection.
    "CONNECTION_UNUSABLE": (412, False, "Connection unusable"),
    # The connect session has ended, or was not finished by the end user whom the request names. Create another connect session and send the end user to it.
    "CONNECT_SESSION_INVALID": (412, False, "Connect session invalid"),
    # The connector action is only described, deprecated, or not configured. Use another action, as `detail` describes.
    "ACTION_NOT_EXECUTABLE": (412, False, "Action not executable"),
    # The pack is not signed by a trusted key of its publisher, or it was changed after it was signed. Get the pack from its publisher again. If the publisher has a new key, register it first.
    "PACK_UNTRUSTED": (412, False, "Pack not trusted"),
    # The new version of the pack changes values that the tenant changed too. Decide about the values that `conflicts` lists, then upgrade with `on_conflict` set to `keep` or `replace`.
    "PACK_CONFLICT": (409, False, "Upgrade conflicts with own changes"),
    # The new version of the pack needs permissions that the installed version does not have. If `added_permissions` is acceptable, send the request again with it as `accepted_permissions`.
    "PACK_CONSENT_REQUIRED": (412, False, "Consent required"),
    # The request's body is larger than `api.max_request_body_size`. Split the request into smaller ones.
    "PAYLOAD_TOO_LARGE": (413, False, "Request too large"),
    # The operation does not support the request's content type or encoding. Send the body as `application/json`.
    "UNSUPPORTED_MEDIA_TYPE": (415, False, "Unsupported media type"),
    # The provider refused to perform a connector action. Nothing was changed. Read the execution that `execution_id` names, or have it explained. Correct the input or the access.
    "CONNECTOR_FAILED": (422, False, "Provider refused the action"),
    # The rate limit of the instance or of the tenant is exceeded. Wait the number of seconds in the `Retry-After` header, then send the request again.
    "RATE_LIMITED": (429, True, "Too many requests"),
    # The throttle of the pool rejected the item, and the request asked for an error with `reject_as_error`. Wait the number of seconds in the `Retry-After` header, then send the item again.
    "ROUTING_THROTTLED": (429, True, "Item throttled"),
    # The tenant's daily quota for the operation is used up. Wait for the next UTC day, or ask the operator to raise the quota.
    "QUOTA_EXCEEDED": (429, False, "Daily quota exceeded"),
    # The tenant stores as many bytes as it may. Nothing was changed. Delete what is no longer needed, or ask the operator to raise the limit. Work can still be completed.
    "STORAGE_QUOTA_EXCEEDED": (429, False, "Storage quota exceeded"),
    # The consumers of the stream have not acknowledged enough of its records. Nothing was appended. Wait the number of seconds in the `Retry-After` header, then send the request again.
    "STREAM_BACKPRESSURE": (429, True, "Too much is unread"),
    # The stream holds as many records or bytes as its pins allow. Nothing was appended. Append to another stream of the run, or wait until retention removes records.
    "STREAM_QUOTA_EXHAUSTED": (429, False, "Stream full"),
    # The provider of a connection accepts no requests of it for some time. Nothing was changed. Wait the number of seconds in the `Retry-After` header, then send the request again.
    "CONNECTOR_RATE_LIMITED": (429, True, "Provider limits requests"),
    # The request's Expect header asks for something that the service does not do. Omit the header, or send `Expect: 100-continue`.
    "EXPECTATION_FAILED": (417, False, "Expectation failed"),
    # The request's target and headers are larger than 32 KiB. Send fewer or shorter headers, and move long values into the body.
    "HEADERS_TOO_LARGE": (431, False, "Headers too large"),
    # The caller closed the connection or cancelled the call before the response. No action is needed. To get a response, send the request again.
    "CANCELED": (499, False, "Canceled"),
    # An unexpected error occurred. The service's log contains the cause under the reference (`ref`) in `detail`. Report the reference to the operator of the service.
    "INTERNAL": (500, False, "Internal error"),
    # A connector action was sent, but it is unknown whether the provider performed it. Check at the provider. If `repeatable` is true, sending the request again cannot have an effect twice.
    "CONNECTOR_OUTCOME_UNKNOWN": (502, False, "Outcome unknown"),
    # The instance is starting, stopping, at its limit of concurrent requests, or cannot reach a dependency. Try again with exponential back-off.
    "UNAVAILABLE": (503, True, "Service unavailable"),
    # The storage of the service is almost full. Nothing was changed. Work can still be completed and deleted. Try again after the number of seconds in the `Retry-After` header. The operator must free or add space.
    "STORAGE_FULL": (503, True, "Storage full"),
    # The provider of a connection cannot be reached, or cannot answer now. Wait the number of seconds in the `Retry-After` header if there is one, then send the request again.
    "CONNECTOR_UNAVAILABLE": (503, True, "Provider unavailable"),
    # A setting disables the feature that the operation belongs to. Ask the operator to enable the setting that `detail` names.
    "FEATURE_DISABLED": (503, False, "Feature disabled"),
    # The operation did not finish within the time limit of the caller or of the service. Try again. Use an idempotency key if the operation changes data.
    "TIMEOUT": (504, True, "Timed out"),
}
