/** Every event type that the service records, with its meaning and the fields of its data. */
export const eventTypes = {
  "tenant.created": { meaning: "A tenant was created.", data: ["name", "slug"] },
  "tenant.updated": { meaning: "A tenant was changed.", data: ["fields"] },
  "tenant.deleted": { meaning: "A tenant was deleted; its data is purged later.", data: ["purge_at"] },
  "environment.created": { meaning: "An environment was created.", data: ["key", "mode"] },
  "environment.updated": { meaning: "An environment was changed.", data: ["fields"] },
  "environment.deleted": { meaning: "An environment was deleted.", data: ["key"] },
  "member.invited": { meaning: "A person was invited.", data: ["roles"] },
  "member.updated": { meaning: "A member was changed.", data: ["fields"] },
  "member.removed": { meaning: "A member was removed.", data: [] },
  "member.signed_out": { meaning: "A member was signed out everywhere.", data: ["sessions"] },
  "api_key.created": { meaning: "An API key was created.", data: ["name", "prefix", "roles", "scopes"] },
  "api_key.revoked": { meaning: "An API key was revoked.", data: ["name", "prefix"] },
  "login_link.created": { meaning: "A link that signs a browser in was created.", data: ["created_by"] },
  "browser_session.started": {
    meaning: "Somebody signed in with a browser.",
    data: ["method", "member_id", "connection_id"],
  },
  "browser_session.ended": {
    meaning: "A browser session was ended before it expired.",
    data: ["member_id", "reason"],
  },
  "sso_connection.created": { meaning: "An identity provider was connected.", data: ["name", "kind"] },
  "sso_connection.updated": { meaning: "The connection of an identity provider was changed.", data: ["fields"] },
  "sso_connection.deleted": { meaning: "The connection of an identity provider was deleted.", data: ["name"] },
  "group_roles.changed": { meaning: "The roles of a group were set or removed.", data: ["group", "roles"] },
  "scim_user.provisioned": { meaning: "A directory provisioned a person.", data: ["member_id", "active"] },
  "scim_user.deactivated": {
    meaning: "A directory deactivated or deleted a person, whose sessions and keys were ended.",
    data: ["sessions", "keys"],
  },
  "scim_group.changed": {
    meaning: "A directory changed a group.",
    data: ["display_name", "added", "removed"],
  },
  "scim_group.deleted": { meaning: "A directory deleted a group.", data: ["display_name"] },
  "secret.created": { meaning: "A secret was created.", data: ["name"] },
  "secret.updated": { meaning: "A secret was changed.", data: ["name", "version", "fields"] },
  "secret.deleted": { meaning: "A secret was deleted.", data: ["name"] },
  "config.changed": { meaning: "A tenant set one of its settings.", data: ["key"] },
  "config.reset": { meaning: "A tenant returned a setting to its default.", data: ["key"] },
  "conformance.run.requested": {
    meaning: "A run of a conformance suite was requested.",
    data: ["suite_id", "environment_id", "mode"],
  },
  "conformance.run.completed": {
    meaning: "A conformance run ended with a report.",
    data: [
      "suite_id",
      "environment_id",
      "mode",
      "report_id",
      "verdict",
      "passed",
      "failed",
      "blocked",
      "not_applicable",
    ],
  },
  "conformance.run.cancelled": {
    meaning: "A conformance run was cancelled.",
    data: ["suite_id", "environment_id", "mode"],
  },
  "conformance.run.expired": {
    meaning: "A conformance run did not end before its deadline.",
    data: ["suite_id", "environment_id", "mode"],
  },
  "conformance.run.failed": {
    meaning: "A conformance run could not be executed.",
    data: ["suite_id", "environment_id", "mode"],
  },
  "entitlement.snapshot.issued": {
    meaning: "The entitlements of a tenant were replaced.",
    data: ["version", "source_kind", "source_ref"],
  },
  "billing.plan.created": { meaning: "A plan was created.", data: ["name"] },
  "billing.plan.version_created": { meaning: "A version was added to a plan.", data: ["version", "digest"] },
  "billing.plan.archived": { meaning: "A plan was archived: nobody can subscribe to it any more.", data: [] },
  "billing.meter.created": { meaning: "A meter was created.", data: ["aggregation"] },
  "billing.meter.archived": { meaning: "A meter was archived: it accepts no more usage.", data: [] },
  "billing.subscription.created": {
    meaning: "A tenant was subscribed to a plan.",
    data: ["plan_key", "plan_version"],
  },
  "billing.subscription.changed": {
    meaning: "A subscription was changed, or a change at the end of the period was scheduled.",
    data: ["plan_key", "plan_version", "scheduled_plan_key"],
  },
  "billing.subscription.renewed": {
    meaning: "The next period of a subscription began.",
    data: ["plan_key", "plan_version", "period_start"],
  },
  "billing.subscription.canceled": { meaning: "A subscription was canceled.", data: ["effective"] },
  "billing.invoice.previewed": {
    meaning: "A preview of an invoice was stored.",
    data: ["number", "currency", "total", "period_start", "period_end"],
  },
  "billing.invoice.issued": {
    meaning: "An invoice was issued. The total is an integer in the smallest unit of the currency.",
    data: ["number", "currency", "total", "period_start", "period_end"],
  },
  "billing.invoice.voided": { meaning: "An invoice that was issued in error was voided.", data: ["number", "reason"] },
  "pool.created": { meaning: "A pool was created.", data: ["name", "strategy", "environment_id"] },
  "pool.updated": { meaning: "A pool was changed.", data: ["fields"] },
  "pool.enabled": { meaning: "A pool was enabled.", data: ["name"] },
  "pool.disabled": { meaning: "A pool was disabled.", data: ["name"] },
  "pool.archived": { meaning: "A pool was archived.", data: ["name"] },
  "recipient.created": { meaning: "A recipient was added to a pool.", data: ["pool_id", "name"] },
  "recipient.updated": { meaning: "A recipient was changed.", data: ["pool_id", "fields"] },
  "recipient.paused": {
    meaning:
      "A recipient was paused: it gets no new work. The cause is request or anomaly. An empty until means that somebody has to resume it.",
    data: ["pool_id", "cause", "reason", "actor", "anomaly_id", "until"],
  },
  "recipient.resumed": {
    meaning:
      "A recipient was resumed: it gets new work again. The cause is request, cool_down_ended (of an automatic pause) or pause_ended (of one with an end).",
    data: ["pool_id", "cause", "actor"],
  },
  "recipient.removed": { meaning: "A recipient was removed from its pool.", data: ["pool_id", "name"] },
  "rule.created": { meaning: "A rule was added to a pool.", data: ["pool_id", "name", "action"] },
  "rule.updated": { meaning: "A rule was changed.", data: ["pool_id", "fields"] },
  "rule.deleted": { meaning: "A rule was deleted.", data: ["pool_id", "name"] },
  "route.decided": {
    meaning: "An item was routed. Recorded only in pools with item_events.",
    data: ["pool_id", "outcome", "reason", "recipient_id", "type"],
  },
  "queue.paused": {
    meaning: "A queue was paused: no items are leased. An empty until means that somebody has to resume it.",
    data: ["reason", "until"],
  },
  "queue.resumed": {
    meaning: "A queue was resumed: items are leased again. The reason is pause_ended if its pause had an end.",
    data: ["reason"],
  },
  "queue.drained": { meaning: "Waiting items were removed from a queue.", data: ["count", "reason"] },
  "queue.item.assigned": {
    meaning: "A waiting item was assigned to a recipient. Recorded only in pools with item_events.",
    data: ["pool_id", "recipient_id"],
  },
  "queue.item.offered": {
    meaning: "An item was offered to a recipient, which may accept it until the given time.",
    data: ["pool_id", "recipient_id", "offer_number", "expires_at"],
  },
  "queue.item.offer_accepted": {
    meaning: "A recipient accepted an offer and works on the item.",
    data: ["pool_id", "recipient_id", "offer_number", "attempt"],
  },
  "queue.item.offer_declined": {
    meaning: "A recipient declined an offer; the item goes to the next one.",
    data: ["pool_id", "recipient_id", "offer_number", "reason_code", "reason"],
  },
  "queue.item.offer_expired": {
    meaning: "A recipient let an offer expire; the item goes to the next one.",
    data: ["pool_id", "recipient_id", "offer_number"],
  },
  "queue.item.completed": {
    meaning:
      "An item was completed. Recorded only in pools with item_events. `result` is absent if the worker sent none.",
    data: ["pool_id", "recipient_id", "attempt", "result"],
  },
  "queue.item.progress": {
    meaning: "A worker reported its progress. Recorded only in pools with item_events.",
    data: ["pool_id", "recipient_id", "attempt", "percent", "note"],
  },
  "queue.item.failed": {
    meaning: "An attempt failed and the item will be retried. Recorded only in pools with item_events.",
    data: ["pool_id", "recipient_id", "attempt", "reason_code"],
  },
  "queue.item.dead_lettered": {
    meaning: "An item failed permanently and became a dead letter.",
    data: ["pool_id", "recipient_id", "attempt", "reason_code", "phase"],
  },
  "queue.item.expired": { meaning: "A waiting item expired.", data: ["pool_id"] },
  "queue.item.cancelled": { meaning: "An item was cancelled and removed from its queue.", data: ["pool_id", "reason"] },
  "queue.item.released": {
    meaning:
      "An item is ready again: an operator ended its lease or its back-off or, only in pools with item_events, its worker gave it back.",
    data: ["pool_id", "recipient_id", "reason"],
  },
  "queue.operation.started": {
    meaning: "A bulk operation on the items of a pool was started.",
    data: ["pool_id", "action", "matched_count", "reason"],
  },
  "queue.operation.completed": {
    meaning: "A bulk operation has handled all items.",
    data: ["pool_id", "action", "changed_count", "skipped_count"],
  },
  "queue.operation.cancelled": {
    meaning: "A bulk operation was stopped.",
    data: ["pool_id", "action", "changed_count", "skipped_count"],
  },
  "queue.operation.failed": {
    meaning: "A bulk operation could not be continued.",
    data: ["pool_id", "action", "changed_count", "skipped_count", "error"],
  },
  "schedule.created": { meaning: "A schedule was created.", data: ["pool_id", "name", "cron"] },
  "schedule.updated": { meaning: "A schedule was changed.", data: ["pool_id", "name", "fields"] },
  "schedule.deleted": { meaning: "A schedule was deleted.", data: ["pool_id", "name"] },
  "schedule.paused": {
    meaning: "A schedule was paused by somebody, or by the service because it failed too often in a row.",
    data: ["pool_id", "name", "reason"],
  },
  "schedule.resumed": { meaning: "A schedule was resumed.", data: ["pool_id", "name"] },
  "schedule.fired": {
    meaning: "Somebody fired a schedule outside of its times.",
    data: ["pool_id", "name", "run_id"],
  },
  "schedule.failed": {
    meaning: "A schedule could not route its item.",
    data: ["pool_id", "name", "run_id", "code", "message"],
  },
  "recipient.ejected": {
    meaning: "A recipient failed too often and gets no work until the given time.",
    data: ["pool_id", "until"],
  },
  "admission.group.cleared": {
    meaning: "An operator cleared an admission group.",
    data: ["pool_id", "constraint_kind", "reason"],
  },
  "dead_letter.retried": { meaning: "Dead letters of a pool were put back on its queue.", data: ["count", "all"] },
  "dead_letter.quarantined": { meaning: "Dead letters of a pool were quarantined.", data: ["count", "reason"] },
  "dead_letter.released": {
    meaning: "Dead letters of a pool were released from quarantine.",
    data: ["count", "reason"],
  },
  "dead_letter.purged": {
    meaning: "Dead letters of a pool were deleted permanently.",
    data: ["count", "older_than", "quarantined"],
  },
  "promotion.created": {
    meaning: "A promotion candidate was created; `waiver_reason` says why it needs no traffic, if it does not.",
    data: ["name", "state", "waiver_reason", "environment_id"],
  },
  "promotion.preflight_completed": {
    meaning: "A candidate was checked against its targets; `blocking` has the codes of what blocks it.",
    data: ["name", "state", "blocking", "environment_id"],
  },
  "promotion.guardrails_evaluated": {
    meaning: "The guardrails of a candidate were evaluated.",
    data: ["name", "state", "verdict", "environment_id"],
  },
  "promotion.canary_started": {
    meaning: "The canary of a candidate was started.",
    data: ["name", "state", "percent", "environment_id"],
  },
  "promotion.canary_stopped": {
    meaning: "The canary of a candidate was stopped.",
    data: ["name", "state", "verdict", "environment_id"],
  },
  "promotion.approved": { meaning: "A candidate was approved.", data: ["name", "state", "environment_id"] },
  "promotion.promoted": {
    meaning: "The artifacts of a candidate were activated.",
    data: ["name", "state", "environment_id"],
  },
  "promotion.rolled_back": {
    meaning: "A promotion was rolled back; `forced` if a target had changed since.",
    data: ["name", "state", "forced", "environment_id"],
  },
  "promotion.aborted": {
    meaning: "A candidate was aborted, and its canary was stopped.",
    data: ["name", "state", "environment_id"],
  },
  "pool.version_staged": { meaning: "A version of a pool was staged.", data: ["version", "sha256"] },
  "pool.version_activated": {
    meaning: "A version of a pool was activated: its strategy, config and rules.",
    data: ["version", "sha256"],
  },
  "provider_config.version_staged": {
    meaning: "A version of a provider config was staged.",
    data: ["name", "provider_key", "environment_id", "version", "sha256"],
  },
  "provider_config.version_activated": {
    meaning: "A version of a provider config was activated: its scopes and settings.",
    data: ["name", "provider_key", "environment_id", "version", "sha256"],
  },
  "workflow.definition.staged": {
    meaning: "A version of a workflow definition was published without activating it.",
    data: ["key", "version", "digest"],
  },
  "workflow.definition.activated": {
    meaning: "A version of a workflow definition was activated by a promotion or its rollback.",
    data: ["key", "version", "digest"],
  },
  "experiment.created": {
    meaning: "An experiment was created as a draft.",
    data: ["key", "variants", "environment_id"],
  },
  "experiment.updated": { meaning: "An experiment was changed.", data: ["key", "fields", "environment_id"] },
  "experiment.deleted": { meaning: "A draft of an experiment was deleted.", data: ["key", "environment_id"] },
  "experiment.started": {
    meaning: "An experiment was started, or continued after a pause (`resumed`).",
    data: ["key", "resumed", "environment_id"],
  },
  "experiment.phase_started": {
    meaning: "New weights or a new allocation apply to new units of an experiment.",
    data: ["key", "phase", "weights", "allocation_pct", "environment_id"],
  },
  "experiment.paused": { meaning: "An experiment was paused: no new unit enters it.", data: ["key", "environment_id"] },
  "experiment.completed": {
    meaning: "An experiment was completed with a decision.",
    data: ["key", "variant", "verdict", "reason", "environment_id"],
  },
  "experiment.stopped": {
    meaning: "An experiment was stopped without a decision.",
    data: ["key", "reason", "environment_id"],
  },
  "experiment.verdict_changed": {
    meaning: "The results of an experiment have another verdict than before.",
    data: ["key", "verdict", "previous", "winner", "sentence", "environment_id"],
  },
  "evidence.pack.created": { meaning: "An evidence pack was created.", data: ["digest", "environment_id"] },
  "evidence.pack.updated": {
    meaning: "The demands of an evidence pack were changed.",
    data: ["revision", "digest", "environment_id"],
  },
  "evidence.pack.attached": {
    meaning: "An evidence pack was attached to a promotion.",
    data: ["candidate_id", "revision", "digest", "environment_id"],
  },
  "evidence.pack.exported": {
    meaning: "An evidence pack was exported.",
    data: ["revision", "digest", "manifest_digest", "environment_id"],
  },
  "evidence.pack.archived": { meaning: "An evidence pack was archived.", data: ["environment_id"] },
  "evidence.artifact.added": {
    meaning: "An artifact was added to an evidence pack, or replaced (`replaced_sha256`).",
    data: ["kind", "name", "version", "sha256", "replaced_sha256", "revision", "environment_id"],
  },
  "evidence.receipt.added": {
    meaning: "A receipt was added to an evidence pack.",
    data: ["receipt_id", "type", "result", "producer", "run_id", "candidate_id", "digest", "environment_id"],
  },
  "evidence.gate.opened": {
    meaning: "The gate of an evidence pack opened: every requirement is satisfied.",
    data: ["candidate_id", "digest", "valid_until", "environment_id"],
  },
  "evidence.gate.closed": {
    meaning: "The gate of an evidence pack closed: a requirement is not satisfied any more.",
    data: ["candidate_id", "digest", "reasons", "environment_id"],
  },
  "evidence.run.started": {
    meaning: "A run that collects evidence was started.",
    data: ["type", "mode", "candidate_id", "pack_id", "environment_id"],
  },
  "evidence.run.claimed": {
    meaning: "A worker claimed an evidence run.",
    data: ["fence", "pack_id", "environment_id"],
  },
  "evidence.run.lease_expired": {
    meaning: "The lease of an evidence run expired; another worker can claim the run.",
    data: ["pack_id", "environment_id"],
  },
  "evidence.run.ended": {
    meaning: "An evidence run ended, with its status and its receipt.",
    data: ["status", "receipt_id", "pack_id", "environment_id"],
  },
  "evidence.key.rotated": {
    meaning: "The key that signs evidence was replaced.",
    data: ["retired_key_id", "reason"],
  },
  "webhook.endpoint.created": { meaning: "A webhook endpoint was created.", data: ["event_types"] },
  "webhook.endpoint.updated": { meaning: "A webhook endpoint was changed.", data: ["fields"] },
  "webhook.endpoint.deleted": { meaning: "A webhook endpoint was deleted.", data: [] },
  "webhook.endpoint.disabled": {
    meaning:
      "The service disabled a webhook endpoint that returned HTTP 410 (`gone`) or failed for five days (`failing`).",
    data: ["reason"],
  },
  "webhook.endpoint.secret_rotated": {
    meaning: "A webhook endpoint got a new secret.",
    data: ["previous_valid_until"],
  },
  "webhook.endpoint.test": {
    meaning: "A test event, which is sent only to the webhook endpoint under test.",
    data: [],
  },
  "webhook.endpoint.replayed": {
    meaning: "A replay of a time range to a webhook endpoint was started.",
    data: ["replay_id", "since", "until", "selection"],
  },
  "webhook.delivery.replayed": { meaning: "A delivery to a webhook endpoint was replayed.", data: ["event_id"] },
  "anomaly.detected": {
    meaning: "An anomaly was detected in the outcomes of a pool or of one of its recipients.",
    data: ["pool_id", "recipient_id", "method", "metric", "value", "baseline", "threshold", "actions"],
  },
  "subscriber.created": { meaning: "A subscriber was created.", data: ["external_id"] },
  "subscriber.updated": { meaning: "A subscriber was changed.", data: ["external_id", "fields"] },
  "subscriber.deactivated": {
    meaning: "A subscriber was deactivated: its record is retained, and nothing is sent to it.",
    data: ["external_id"],
  },
  "subscriber.endpoint.added": {
    meaning: "An address was added to a subscriber, or moved to it from another one.",
    data: ["endpoint_id", "channel", "provider_key", "taken_over_from"],
  },
  "subscriber.endpoint.updated": {
    meaning: "A subscriber's address was changed.",
    data: ["endpoint_id", "channel", "fields"],
  },
  "subscriber.endpoint.removed": {
    meaning: "An address of a subscriber was removed, or moved to another one.",
    data: ["endpoint_id", "channel", "provider_key", "taken_over_by"],
  },
  "subscriber.preference.set": {
    meaning: "A preference of a subscriber was set.",
    data: ["preference_id", "layer", "workflow_key", "topic_key"],
  },
  "subscriber.token.created": { meaning: "A token of a subscriber was created.", data: ["token_id", "expires_at"] },
  "subscriber.token.revoked": { meaning: "One token of a subscriber was revoked.", data: ["token_id"] },
  "subscriber.tokens.revoked": { meaning: "All tokens of a subscriber were revoked.", data: [] },
  "notification.workflow.created": { meaning: "A notification workflow was created.", data: ["name", "channels"] },
  "notification.workflow.updated": { meaning: "A notification workflow was replaced.", data: ["name", "channels"] },
  "notification.workflow.deleted": { meaning: "A notification workflow was deleted.", data: ["name", "channels"] },
  "notification.workflow.user.set": {
    meaning: "A user's override of a notification workflow was set.",
    data: ["user_id"],
  },
  "notification.workflow.user.removed": {
    meaning: "A user's override of a notification workflow was removed.",
    data: ["user_id"],
  },
  "notification.delivery.failed": {
    meaning: "A notification could not be sent and became a dead letter.",
    data: ["channel", "subscriber_id", "failure_phase", "failure_code", "dead_letter_id"],
  },
  "notification.delivery.observed": {
    meaning: "A provider reported the status of a notification.",
    data: ["kind", "category"],
  },
  "notification.inbox.marked": {
    meaning: "Messages of an inbox became seen, read or archived, or ceased to be. At most 100 ids are listed.",
    data: ["count", "message_ids", "seen", "read", "archived"],
  },
  "notification.suppression.added": {
    meaning: "Nothing more is sent to an address.",
    data: ["channel", "reason", "delivery_id"],
  },
  "notification.suppression.removed": {
    meaning: "Notifications are sent to an address again.",
    data: ["channel", "reason", "delivery_id"],
  },
  "notification.step.completed": {
    meaning: "A step of a notification workflow ended for one recipient. The subject is the run.",
    data: ["transaction_id", "workflow_key", "subscriber_id", "step", "kind", "outcome", "reason", "delivery_ids"],
  },
  "notification.run.completed": {
    meaning: "A notification passed its last step for one recipient, or was stopped or cancelled before.",
    data: ["transaction_id", "workflow_key", "subscriber_id", "status", "reason"],
  },
  "notification.trigger.cancelled": {
    meaning: "What a trigger had not sent yet was cancelled.",
    data: ["cancelled_runs", "cancelled_deliveries"],
  },
  "notification.partial.created": { meaning: "A partial of templates was created.", data: ["engine"] },
  "notification.partial.updated": { meaning: "A partial of templates was changed.", data: ["engine"] },
  "notification.partial.deleted": { meaning: "A partial of templates was deleted.", data: ["engine"] },
  "notification.broadcast.accepted": {
    meaning: "A notification to the members of a topic was accepted.",
    data: ["workflow_key", "topic_key"],
  },
  "notification.broadcast.completed": {
    meaning: "A broadcast was expanded to all members of its topic.",
    data: ["workflow_key", "topic_key", "expanded"],
  },
  "notification.broadcast.cancelled": {
    meaning: "A broadcast was cancelled: no further member is notified, and waiting messages are skipped.",
    data: ["workflow_key", "topic_key", "expanded"],
  },
  "notification.broadcast.failed": {
    meaning: "A broadcast could not be expanded to all members of its topic.",
    data: ["workflow_key", "topic_key", "expanded", "failure_code"],
  },
  "notification.dead_letter.redriven": {
    meaning: "A dead letter of a notification was queued for another attempt.",
    data: ["kind", "transaction_id", "delivery_id"],
  },
  "provider_config.created": {
    meaning: "A provider config was created as a draft.",
    data: ["name", "provider_key", "environment_id"],
  },
  "provider_config.updated": {
    meaning: "A provider config was changed.",
    data: ["name", "provider_key", "environment_id", "fields"],
  },
  "provider_config.activated": {
    meaning: "A provider config was activated: connect sessions can use it.",
    data: ["name", "provider_key", "environment_id"],
  },
  "provider_config.disabled": {
    meaning: "A provider config was disabled: no connect session can use it, but its connections still work.",
    data: ["name", "provider_key", "environment_id"],
  },
  "provider_config.archived": {
    meaning: "A provider config was archived and its secrets were erased.",
    data: ["name", "provider_key", "environment_id"],
  },
  "connection.created": {
    meaning: "A connection was created.",
    data: ["name", "environment_id", "provider_key", "provider_config_id", "end_user_id"],
  },
  "connection.updated": {
    meaning: "The name, the end user or the credentials of a connection were changed.",
    data: ["name", "environment_id", "provider_key", "provider_config_id", "end_user_id", "fields"],
  },
  "connection.reconnected": {
    meaning: "The end user of a connection granted access again.",
    data: ["name", "environment_id", "provider_key", "provider_config_id", "end_user_id"],
  },
  "connection.reauth_due": {
    meaning: "The grant of a connection ends soon: its end user must grant access again before it does.",
    data: ["name", "environment_id", "provider_key", "provider_config_id", "end_user_id", "grant_expires_at"],
  },
  "connection.needs_reauth": {
    meaning: "A connection is unusable until its end user grants access again.",
    data: ["name", "environment_id", "provider_key", "provider_config_id", "end_user_id", "reason"],
  },
  "connection.revoked": {
    meaning:
      "A connection was revoked. Its grant is revoked at the provider if possible, and its credentials are erased.",
    data: ["name", "environment_id", "provider_key", "provider_config_id", "end_user_id"],
  },
  "connector.manifest.created": {
    meaning: "A version of a connector manifest was created.",
    data: ["key", "version", "digest"],
  },
  "connector.manifest.deleted": {
    meaning: "A version of a connector manifest was deleted.",
    data: ["key", "version", "digest"],
  },
  "connect_session.created": {
    meaning: "A connect session was created for an end user.",
    data: ["end_user_id", "allowed_provider_keys", "connection_id"],
  },
  "connect_session.completed": {
    meaning: "An end user connected an account: the connection was created or reconnected.",
    data: ["end_user_id", "provider_key", "connection_id"],
  },
  "connect_session.failed": {
    meaning: "A connect session ended without a connection.",
    data: ["end_user_id", "provider_key", "error_code", "error_detail"],
  },
  "connect_session.expired": {
    meaning: "A connect session expired before the end user had finished.",
    data: ["end_user_id", "provider_key"],
  },
  "connect_session.revoked": {
    meaning: "A connect session was revoked.",
    data: ["end_user_id", "provider_key"],
  },
  "connector.action.executed": {
    meaning: "A connector action was executed successfully.",
    data: ["action_key", "provider_key", "connection_id", "origin", "origin_id", "attempts", "duration_ms"],
  },
  "connector.action.failed": {
    meaning: "A connector action failed, or its outcome is unknown.",
    data: [
      ...["action_key", "provider_key", "connection_id", "origin", "origin_id", "attempts", "duration_ms"],
      ...["status", "class", "code"],
    ],
  },
  "connector.trigger.created": {
    meaning: "A trigger subscription was created.",
    data: ["environment_id", "name", "trigger_key", "connection_id"],
  },
  "connector.trigger.updated": {
    meaning: "A trigger subscription was changed.",
    data: ["environment_id", "name", "trigger_key", "fields"],
  },
  "connector.trigger.paused": {
    meaning: "A trigger subscription was paused.",
    data: ["environment_id", "name", "trigger_key"],
  },
  "connector.trigger.resumed": {
    meaning: "A trigger subscription was resumed.",
    data: ["environment_id", "name", "trigger_key"],
  },
  "connector.trigger.deleted": {
    meaning: "A trigger subscription was deleted.",
    data: ["environment_id", "name", "trigger_key"],
  },
  "connector.trigger.failing": {
    meaning: "A trigger subscription fails. The service keeps trying.",
    data: ["environment_id", "name", "trigger_key", "message"],
  },
  "connector.trigger.expired": {
    meaning: "The provider ended the registration of a trigger subscription, and it could not be renewed yet.",
    data: ["environment_id", "name", "trigger_key", "message"],
  },
  "connector.trigger.recovered": {
    meaning: "A trigger subscription works again.",
    data: ["environment_id", "name", "trigger_key"],
  },
  "connector.trigger.event_dead": {
    meaning: "An event of a trigger could not be delivered to its target.",
    data: ["environment_id", "event_id", "type", "message"],
  },
  "connector.trigger.replayed": {
    meaning: "Ended events of a trigger subscription are delivered again.",
    data: ["environment_id", "count"],
  },
  "integration.created": { meaning: "An integration was created.", data: ["channel", "name", "provider_key"] },
  "integration.updated": {
    meaning: "An integration was changed.",
    data: ["channel", "name", "provider_key", "fields"],
  },
  "integration.deleted": { meaning: "An integration was deleted.", data: ["channel", "name", "provider_key"] },
  "layout.created": { meaning: "A layout was created.", data: ["name", "channel", "is_default", "copy_of"] },
  "layout.updated": { meaning: "The content of a layout was changed.", data: ["name", "channel", "fields"] },
  "layout.deleted": { meaning: "A layout was deleted.", data: ["name", "channel"] },
  "layout.default_set": {
    meaning: "A layout became the default of its channel and replaced the previous one.",
    data: ["name", "channel", "previous_layout_id"],
  },
  "topic.created": { meaning: "A topic was created.", data: ["name"] },
  "topic.updated": { meaning: "A topic was changed.", data: ["name"] },
  "topic.deleted": { meaning: "A topic was deleted together with `count` subscriptions.", data: ["count"] },
  "topic.import.cancelled": {
    meaning: "An import of members was cancelled after `processed` of `total` names.",
    data: ["import_id", "processed", "total"],
  },
  "topic.members.added": {
    meaning: "`count` subscribers were added to a topic; the context keys of `changed` existing ones were replaced.",
    data: ["count", "changed"],
  },
  "topic.members.removed": { meaning: "`count` subscribers were removed from a topic.", data: ["count"] },
  "workflow.run.started": {
    meaning: "A workflow run started.",
    data: ["definition_id", "definition_key", "version", "trigger_depth", "via", "replay_of_run_id", "from_step"],
  },
  "workflow.run.paused": {
    meaning: "A workflow run was paused.",
    data: ["definition_id", "definition_key", "version", "trigger_depth", "by"],
  },
  "workflow.run.resumed": {
    meaning: "A paused workflow run was resumed.",
    data: ["definition_id", "definition_key", "version", "trigger_depth", "by"],
  },
  "workflow.run.succeeded": {
    meaning: "A workflow run ended with success.",
    data: ["definition_id", "definition_key", "version", "trigger_depth"],
  },
  "workflow.run.failed": {
    meaning: "A workflow run failed.",
    data: ["definition_id", "definition_key", "version", "trigger_depth", "error_code", "step"],
  },
  "workflow.run.cancelled": {
    meaning: "A workflow run was cancelled.",
    data: ["definition_id", "definition_key", "version", "trigger_depth", "error_code", "step"],
  },
  "workflow.run.timed_out": {
    meaning: "A workflow run took longer than its time-out.",
    data: ["definition_id", "definition_key", "version", "trigger_depth", "error_code", "step"],
  },
  "workflow.approval.requested": {
    meaning: "A workflow run waits for an approval.",
    data: ["definition_id", "definition_key", "version", "trigger_depth", "step"],
  },
  "workflow.trigger.created": {
    meaning: "A workflow trigger was created.",
    data: ["environment_id", "name", "definition", "kind"],
  },
  "workflow.trigger.updated": {
    meaning: "A workflow trigger was changed.",
    data: ["environment_id", "name", "fields"],
  },
  "workflow.trigger.deleted": {
    meaning: "A workflow trigger was deleted.",
    data: ["environment_id", "name"],
  },
  "workflow.trigger.failed": {
    meaning: "A workflow trigger could not start `count` runs.",
    data: ["environment_id", "name", "code", "message", "count"],
  },
  "workflow.trigger.disabled": {
    meaning: "The service disabled a workflow trigger that failed too often in a row.",
    data: ["environment_id", "name", "code", "message", "consecutive_failures"],
  },
  "workflow.dead_letter.created": {
    meaning: "A workflow run failed or timed out and became a dead letter.",
    data: ["definition_id", "definition_key", "version", "error_code", "step", "failed_run_id"],
  },
  "workflow.dead_letter.reopened": {
    meaning: "A replay of a dead letter failed or timed out.",
    data: ["definition_id", "definition_key", "version", "error_code", "step", "failed_run_id"],
  },
  "workflow.dead_letter.replayed": {
    meaning: "The run of a dead letter was replayed.",
    data: ["definition_id", "definition_key", "replay_run_id", "replay_count", "by"],
  },
  "workflow.dead_letter.quarantined": {
    meaning: "A dead letter was quarantined; nothing replays it.",
    data: ["definition_id", "definition_key", "reason", "by"],
  },
  "workflow.dead_letter.released": {
    meaning: "A dead letter was released from quarantine.",
    data: ["definition_id", "definition_key", "reason", "by"],
  },
  "workflow.dead_letter.discarded": {
    meaning: "A dead letter was discarded.",
    data: ["definition_id", "definition_key", "reason", "by"],
  },
  "workflow.stream.created": {
    meaning: "A data stream of a workflow run was created.",
    data: ["environment_id", "run_id", "name", "digest"],
  },
  "workflow.stream.closed": {
    meaning: "A data stream of a workflow run was closed; nothing can be appended to it.",
    data: ["environment_id", "run_id", "name", "by"],
  },
  "workflow.stream.consumer_removed": {
    meaning:
      "A consumer of a data stream was removed: by a caller, or because it stopped acknowledging (reason: removed or idle).",
    data: ["environment_id", "run_id", "name", "consumer_id", "reason", "by"],
  },
  "workflow.stream.held": {
    meaning: "A legal hold was set on a data stream of a workflow run; nothing of it is removed.",
    data: ["environment_id", "run_id", "name", "by"],
  },
  "workflow.stream.released": {
    meaning: "The legal hold on a data stream of a workflow run was released.",
    data: ["environment_id", "run_id", "name", "by"],
  },
  "workflow.definition.created": {
    meaning: "A workflow definition was created with a draft.",
    data: ["key", "copy_of"],
  },
  "workflow.definition.updated": { meaning: "The draft of a workflow definition was replaced.", data: ["key"] },
  "workflow.definition.published": {
    meaning: "A version of a workflow definition was published; new runs use it.",
    data: ["key", "version", "digest"],
  },
  "workflow.definition.archived": {
    meaning: "A workflow definition was archived; it starts no new runs.",
    data: ["key", "version"],
  },
  "marketplace.pack.published": {
    meaning: "A version of a pack was published in the tenant.",
    data: ["publisher", "name", "version", "digest", "key_id"],
  },
  "marketplace.pack.yanked": {
    meaning: "A version of a pack was yanked: it can no longer be installed.",
    data: ["publisher", "name", "version", "reason"],
  },
  "marketplace.pack.installed": {
    meaning: "A pack was installed.",
    data: ["publisher", "name", "version", "digest", "records"],
  },
  "marketplace.pack.upgraded": {
    meaning: "An installed pack was upgraded.",
    data: ["publisher", "name", "from_version", "version", "digest", "added_permissions"],
  },
  "marketplace.pack.rolled_back": {
    meaning: "The upgrade of a pack was rolled back; its records are as they were before.",
    data: ["publisher", "name", "from_version", "version"],
  },
  "marketplace.pack.uninstalled": {
    meaning: "A pack was uninstalled.",
    data: ["publisher", "name", "version", "records_kept"],
  },
  "marketplace.key.registered": {
    meaning: "A key of a publisher was registered: the tenant trusts packs that it signed.",
    data: ["publisher"],
  },
  "marketplace.key.revoked": {
    meaning: "A key of a publisher was revoked: packs that it signed can no longer be installed.",
    data: ["publisher", "reason"],
  },
} as const satisfies Record<string, { meaning: string; data: readonly string[] }>;

/** The type of an event that the service records. */
export type EventType = keyof typeof eventTypes;

/** First segments of types that callers cannot publish. */
export const reservedFamilies: ReadonlySet<string> = new Set(
  Object.keys(eventTypes).map((type) => type.split(".")[0]!),
);
