/** Every event type that the service records, with its meaning and the fields of its data, separated by spaces. */
export const eventTypes = {
  "tenant.created": ["A tenant was created.", "name slug"],
  "tenant.updated": ["A tenant was changed.", "fields"],
  "tenant.deleted": ["A tenant was deleted; its data is purged later.", "purge_at"],
  "environment.created": ["An environment was created.", "key mode"],
  "environment.updated": ["An environment was changed.", "fields"],
  "environment.deleted": ["An environment was deleted.", "key"],
  "member.invited": ["A person was invited.", "roles"],
  "member.updated": ["A member was changed.", "fields"],
  "member.removed": ["A member was removed.", ""],
  "member.signed_out": ["A member was signed out everywhere.", "sessions"],
  "api_key.created": ["An API key was created.", "name prefix roles scopes"],
  "api_key.revoked": ["An API key was revoked.", "name prefix"],
  "login_link.created": ["A link that signs a browser in was created.", "created_by"],
  "browser_session.started": ["Somebody signed in with a browser.", "method member_id connection_id"],
  "browser_session.ended": ["A browser session was ended before it expired.", "member_id reason"],
  "sso_connection.created": ["An identity provider was connected.", "name kind"],
  "sso_connection.updated": ["The connection of an identity provider was changed.", "fields"],
  "sso_connection.deleted": ["The connection of an identity provider was deleted.", "name"],
  "group_roles.changed": ["The roles of a group were set or removed.", "group roles"],
  "scim_user.provisioned": ["A directory provisioned a person.", "member_id active"],
  "scim_user.deactivated": [
    "A directory deactivated or deleted a person, whose sessions and keys were ended.",
    "sessions keys",
  ],
  "scim_group.changed": ["A directory changed a group.", "display_name added removed"],
  "scim_group.deleted": ["A directory deleted a group.", "display_name"],
  "secret.created": ["A secret was created.", "name"],
  "secret.updated": ["A secret was changed.", "name version fields"],
  "secret.deleted": ["A secret was deleted.", "name"],
  "config.changed": ["A tenant set one of its settings.", "key"],
  "config.reset": ["A tenant returned a setting to its default.", "key"],
  "conformance.run.requested": ["A run of a conformance suite was requested.", "suite_id environment_id mode"],
  "conformance.run.completed": [
    "A conformance run ended with a report.",
    "suite_id environment_id mode report_id verdict passed failed blocked not_applicable",
  ],
  "conformance.run.cancelled": ["A conformance run was cancelled.", "suite_id environment_id mode"],
  "conformance.run.expired": ["A conformance run did not end before its deadline.", "suite_id environment_id mode"],
  "conformance.run.failed": ["A conformance run could not be executed.", "suite_id environment_id mode"],
  "entitlement.snapshot.issued": ["The entitlements of a tenant were replaced.", "version source_kind source_ref"],
  "billing.plan.created": ["A plan was created.", "name"],
  "billing.plan.version_created": ["A version was added to a plan.", "version digest"],
  "billing.plan.archived": ["A plan was archived: nobody can subscribe to it any more.", ""],
  "billing.meter.created": ["A meter was created.", "aggregation"],
  "billing.meter.archived": ["A meter was archived: it accepts no more usage.", ""],
  "billing.subscription.created": ["A tenant was subscribed to a plan.", "plan_key plan_version"],
  "billing.subscription.changed": [
    "A subscription was changed, or a change at the end of the period was scheduled.",
    "plan_key plan_version scheduled_plan_key",
  ],
  "billing.subscription.renewed": ["The next period of a subscription began.", "plan_key plan_version period_start"],
  "billing.subscription.canceled": ["A subscription was canceled.", "effective"],
  "billing.invoice.previewed": ["A preview of an invoice was stored.", "number currency total period_start period_end"],
  "billing.invoice.issued": [
    "An invoice was issued. The total is an integer in the smallest unit of the currency.",
    "number currency total period_start period_end",
  ],
  "billing.invoice.voided": ["An invoice that was issued in error was voided.", "number reason"],
  "pool.created": ["A pool was created.", "name strategy environment_id"],
  "pool.updated": ["A pool was changed.", "fields"],
  "pool.enabled": ["A pool was enabled.", "name"],
  "pool.disabled": ["A pool was disabled.", "name"],
  "pool.archived": ["A pool was archived.", "name"],
  "recipient.created": ["A recipient was added to a pool.", "pool_id name"],
  "recipient.updated": ["A recipient was changed.", "pool_id fields"],
  "recipient.paused": [
    "A recipient was paused: it gets no new work. The cause is request or anomaly. An empty until means that somebody has to resume it.",
    "pool_id cause reason actor anomaly_id until",
  ],
  "recipient.resumed": [
    "A recipient was resumed: it gets new work again. The cause is request, cool_down_ended (of an automatic pause) or pause_ended (of one with an end).",
    "pool_id cause actor",
  ],
  "recipient.removed": ["A recipient was removed from its pool.", "pool_id name"],
  "rule.created": ["A rule was added to a pool.", "pool_id name action"],
  "rule.updated": ["A rule was changed.", "pool_id fields"],
  "rule.deleted": ["A rule was deleted.", "pool_id name"],
  "route.decided": [
    "An item was routed. Recorded only in pools with item_events.",
    "pool_id outcome reason recipient_id type",
  ],
  "queue.paused": [
    "A queue was paused: no items are leased. An empty until means that somebody has to resume it.",
    "reason until",
  ],
  "queue.resumed": [
    "A queue was resumed: items are leased again. The reason is pause_ended if its pause had an end.",
    "reason",
  ],
  "queue.drained": ["Waiting items were removed from a queue.", "count reason"],
  "queue.item.assigned": [
    "A waiting item was assigned to a recipient. Recorded only in pools with item_events.",
    "pool_id recipient_id",
  ],
  "queue.item.offered": [
    "An item was offered to a recipient, which may accept it until the given time.",
    "pool_id recipient_id offer_number expires_at",
  ],
  "queue.item.offer_accepted": [
    "A recipient accepted an offer and works on the item.",
    "pool_id recipient_id offer_number attempt",
  ],
  "queue.item.offer_declined": [
    "A recipient declined an offer; the item goes to the next one.",
    "pool_id recipient_id offer_number reason_code reason",
  ],
  "queue.item.offer_expired": [
    "A recipient let an offer expire; the item goes to the next one.",
    "pool_id recipient_id offer_number",
  ],
  "queue.item.completed": [
    "An item was completed. Recorded only in pools with item_events. `result` is absent if the worker sent none.",
    "pool_id recipient_id attempt result",
  ],
  "queue.item.progress": [
    "A worker reported its progress. Recorded only in pools with item_events.",
    "pool_id recipient_id attempt percent note",
  ],
  "queue.item.failed": [
    "An attempt failed and the item will be retried. Recorded only in pools with item_events.",
    "pool_id recipient_id attempt reason_code",
  ],
  "queue.item.dead_lettered": [
    "An item failed permanently and became a dead letter.",
    "pool_id recipient_id attempt reason_code phase",
  ],
  "queue.item.expired": ["A waiting item expired.", "pool_id"],
  "queue.item.cancelled": ["An item was cancelled and removed from its queue.", "pool_id reason"],
  "queue.item.released": [
    "An item is ready again: an operator ended its lease or its back-off or, only in pools with item_events, its worker gave it back.",
    "pool_id recipient_id reason",
  ],
  "queue.operation.started": [
    "A bulk operation on the items of a pool was started.",
    "pool_id action matched_count reason",
  ],
  "queue.operation.completed": [
    "A bulk operation has handled all items.",
    "pool_id action changed_count skipped_count",
  ],
  "queue.operation.cancelled": ["A bulk operation was stopped.", "pool_id action changed_count skipped_count"],
  "queue.operation.failed": [
    "A bulk operation could not be continued.",
    "pool_id action changed_count skipped_count error",
  ],
  "schedule.created": ["A schedule was created.", "pool_id name cron"],
  "schedule.updated": ["A schedule was changed.", "pool_id name fields"],
  "schedule.deleted": ["A schedule was deleted.", "pool_id name"],
  "schedule.paused": [
    "A schedule was paused by somebody, or by the service because it failed too often in a row.",
    "pool_id name reason",
  ],
  "schedule.resumed": ["A schedule was resumed.", "pool_id name"],
  "schedule.fired": ["Somebody fired a schedule outside of its times.", "pool_id name run_id"],
  "schedule.failed": ["A schedule could not route its item.", "pool_id name run_id code message"],
  "recipient.ejected": ["A recipient failed too often and gets no work until the given time.", "pool_id until"],
  "admission.group.cleared": ["An operator cleared an admission group.", "pool_id constraint_kind reason"],
  "dead_letter.retried": ["Dead letters of a pool were put back on its queue.", "count all"],
  "dead_letter.quarantined": ["Dead letters of a pool were quarantined.", "count reason"],
  "dead_letter.released": ["Dead letters of a pool were released from quarantine.", "count reason"],
  "dead_letter.purged": ["Dead letters of a pool were deleted permanently.", "count older_than quarantined"],
  "promotion.created": [
    "A promotion candidate was created; `waiver_reason` says why it needs no traffic, if it does not.",
    "name state waiver_reason environment_id",
  ],
  "promotion.preflight_completed": [
    "A candidate was checked against its targets; `blocking` has the codes of what blocks it.",
    "name state blocking environment_id",
  ],
  "promotion.guardrails_evaluated": [
    "The guardrails of a candidate were evaluated.",
    "name state verdict environment_id",
  ],
  "promotion.canary_started": ["The canary of a candidate was started.", "name state percent environment_id"],
  "promotion.canary_advanced": [
    "The canary of a candidate went on to its next step.",
    "name state step percent environment_id",
  ],
  "promotion.canary_stopped": ["The canary of a candidate was stopped.", "name state verdict environment_id"],
  "promotion.approval_given": ["A person approved a candidate that needs more approvals.", "name state environment_id"],
  "promotion.approved": ["A candidate was approved.", "name state environment_id"],
  "promotion.promoted": ["The artifacts of a candidate were activated.", "name state environment_id"],
  "promotion.rolled_back": [
    "A promotion was rolled back; `forced` if a target had changed since.",
    "name state forced environment_id",
  ],
  "promotion.aborted": ["A candidate was aborted, and its canary was stopped.", "name state environment_id"],
  "pool.version_staged": ["A version of a pool was staged.", "version sha256"],
  "pool.version_activated": ["A version of a pool was activated: its strategy, config and rules.", "version sha256"],
  "provider_config.version_staged": [
    "A version of a provider config was staged.",
    "name provider_key environment_id version sha256",
  ],
  "provider_config.version_activated": [
    "A version of a provider config was activated: its scopes and settings.",
    "name provider_key environment_id version sha256",
  ],
  "workflow.definition.staged": [
    "A version of a workflow definition was published without activating it.",
    "key version digest",
  ],
  "workflow.definition.activated": [
    "A version of a workflow definition was activated by a promotion or its rollback.",
    "key version digest",
  ],
  "experiment.created": ["An experiment was created as a draft.", "key variants environment_id"],
  "experiment.updated": ["An experiment was changed.", "key fields environment_id"],
  "experiment.deleted": ["A draft of an experiment was deleted.", "key environment_id"],
  "experiment.started": [
    "An experiment was started, or continued after a pause (`resumed`).",
    "key resumed environment_id",
  ],
  "experiment.phase_started": [
    "New weights or a new allocation apply to new units of an experiment.",
    "key phase weights allocation_pct environment_id",
  ],
  "experiment.paused": ["An experiment was paused: no new unit enters it.", "key environment_id"],
  "experiment.completed": ["An experiment was completed with a decision.", "key variant verdict reason environment_id"],
  "experiment.stopped": ["An experiment was stopped without a decision.", "key reason environment_id"],
  "experiment.verdict_changed": [
    "The results of an experiment have another verdict than before.",
    "key verdict previous winner sentence environment_id",
  ],
  "evidence.pack.created": ["An evidence pack was created.", "digest environment_id"],
  "evidence.pack.updated": ["The demands of an evidence pack were changed.", "revision digest environment_id"],
  "evidence.pack.attached": [
    "An evidence pack was attached to a promotion.",
    "candidate_id revision digest environment_id",
  ],
  "evidence.pack.exported": ["An evidence pack was exported.", "revision digest manifest_digest environment_id"],
  "evidence.pack.archived": ["An evidence pack was archived.", "environment_id"],
  "evidence.artifact.added": [
    "An artifact was added to an evidence pack, or replaced (`replaced_sha256`).",
    "kind name version sha256 replaced_sha256 revision environment_id",
  ],
  "evidence.receipt.added": [
    "A receipt was added to an evidence pack.",
    "receipt_id type result producer run_id candidate_id digest environment_id",
  ],
  "evidence.gate.opened": [
    "The gate of an evidence pack opened: every requirement is satisfied.",
    "candidate_id digest valid_until environment_id",
  ],
  "evidence.gate.closed": [
    "The gate of an evidence pack closed: a requirement is not satisfied any more.",
    "candidate_id digest reasons environment_id",
  ],
  "evidence.run.started": [
    "A run that collects evidence was started.",
    "type mode candidate_id pack_id environment_id",
  ],
  "evidence.run.claimed": ["A worker claimed an evidence run.", "fence pack_id environment_id"],
  "evidence.run.lease_expired": [
    "The lease of an evidence run expired; another worker can claim the run.",
    "pack_id environment_id",
  ],
  "evidence.run.ended": [
    "An evidence run ended, with its status and its receipt.",
    "status receipt_id pack_id environment_id",
  ],
  "evidence.key.rotated": ["The key that signs evidence was replaced.", "retired_key_id reason"],
  "webhook.endpoint.created": ["A webhook endpoint was created.", "event_types"],
  "webhook.endpoint.updated": ["A webhook endpoint was changed.", "fields"],
  "webhook.endpoint.deleted": ["A webhook endpoint was deleted.", ""],
  "webhook.endpoint.disabled": [
    "The service disabled a webhook endpoint that returned HTTP 410 (`gone`) or failed for five days (`failing`).",
    "reason",
  ],
  "webhook.endpoint.secret_rotated": ["A webhook endpoint got a new secret.", "previous_valid_until"],
  "webhook.endpoint.test": ["A test event, which is sent only to the webhook endpoint under test.", ""],
  "webhook.endpoint.replayed": [
    "A replay of a time range to a webhook endpoint was started.",
    "replay_id since until selection",
  ],
  "webhook.delivery.replayed": ["A delivery to a webhook endpoint was replayed.", "event_id"],
  "anomaly.detected": [
    "An anomaly was detected in the outcomes of a pool or of one of its recipients.",
    "pool_id recipient_id method metric value baseline threshold actions",
  ],
  "subscriber.created": ["A subscriber was created.", "external_id"],
  "subscriber.updated": ["A subscriber was changed.", "external_id fields"],
  "subscriber.deactivated": [
    "A subscriber was deactivated: its record is retained, and nothing is sent to it.",
    "external_id",
  ],
  "subscriber.erased": [
    "All that was stored about a subscriber was erased. The subject is the id of the erasure.",
    "count",
  ],
  "subscriber.endpoint.added": [
    "An address was added to a subscriber, or moved to it from another one.",
    "endpoint_id channel provider_key taken_over_from",
  ],
  "subscriber.endpoint.updated": ["A subscriber's address was changed.", "endpoint_id channel fields"],
  "subscriber.endpoint.removed": [
    "An address of a subscriber was removed, or moved to another one.",
    "endpoint_id channel provider_key taken_over_by",
  ],
  "subscriber.preference.set": ["A preference of a subscriber was set.", "preference_id layer workflow_key topic_key"],
  "subscriber.token.created": ["A token of a subscriber was created.", "token_id expires_at"],
  "subscriber.token.revoked": ["One token of a subscriber was revoked.", "token_id"],
  "subscriber.tokens.revoked": ["All tokens of a subscriber were revoked.", ""],
  "notification.workflow.created": ["A notification workflow was created.", "name channels"],
  "notification.workflow.updated": ["A notification workflow was replaced.", "name channels"],
  "notification.workflow.deleted": ["A notification workflow was deleted.", "name channels"],
  "notification.workflow.user.set": ["A user's override of a notification workflow was set.", "user_id"],
  "notification.workflow.user.removed": ["A user's override of a notification workflow was removed.", "user_id"],
  "notification.delivery.failed": [
    "A notification could not be sent and became a dead letter.",
    "channel subscriber_id failure_phase failure_code dead_letter_id",
  ],
  "notification.delivery.observed": ["A provider reported the status of a notification.", "kind category"],
  "notification.inbox.marked": [
    "Messages of an inbox became seen, read or archived, or ceased to be. At most 100 ids are listed.",
    "count message_ids seen read archived",
  ],
  "notification.suppression.added": ["Nothing more is sent to an address.", "channel reason delivery_id"],
  "notification.suppression.removed": ["Notifications are sent to an address again.", "channel reason delivery_id"],
  "notification.step.completed": [
    "A step of a notification workflow ended for one recipient. The subject is the run.",
    "transaction_id workflow_key subscriber_id step kind outcome reason delivery_ids",
  ],
  "notification.run.completed": [
    "A notification passed its last step for one recipient, or was stopped or cancelled before.",
    "transaction_id workflow_key subscriber_id status reason",
  ],
  "notification.trigger.cancelled": [
    "What a trigger had not sent yet was cancelled.",
    "cancelled_runs cancelled_deliveries",
  ],
  "notification.partial.created": ["A partial of templates was created.", "engine"],
  "notification.partial.updated": ["A partial of templates was changed.", "engine"],
  "notification.partial.deleted": ["A partial of templates was deleted.", "engine"],
  "notification.broadcast.accepted": [
    "A notification to the members of a topic was accepted.",
    "workflow_key topic_key",
  ],
  "notification.broadcast.completed": [
    "A broadcast was expanded to all members of its topic.",
    "workflow_key topic_key expanded",
  ],
  "notification.broadcast.cancelled": [
    "A broadcast was cancelled: no further member is notified, and waiting messages are skipped.",
    "workflow_key topic_key expanded",
  ],
  "notification.broadcast.failed": [
    "A broadcast could not be expanded to all members of its topic.",
    "workflow_key topic_key expanded failure_code",
  ],
  "notification.dead_letter.redriven": [
    "A dead letter of a notification was queued for another attempt.",
    "kind transaction_id delivery_id",
  ],
  "provider_config.created": ["A provider config was created as a draft.", "name provider_key environment_id"],
  "provider_config.updated": ["A provider config was changed.", "name provider_key environment_id fields"],
  "provider_config.activated": [
    "A provider config was activated: connect sessions can use it.",
    "name provider_key environment_id",
  ],
  "provider_config.disabled": [
    "A provider config was disabled: no connect session can use it, but its connections still work.",
    "name provider_key environment_id",
  ],
  "provider_config.archived": [
    "A provider config was archived and its secrets were erased.",
    "name provider_key environment_id",
  ],
  "connection.created": [
    "A connection was created.",
    "name environment_id provider_key provider_config_id end_user_id",
  ],
  "connection.updated": [
    "The name, the end user or the credentials of a connection were changed.",
    "name environment_id provider_key provider_config_id end_user_id fields",
  ],
  "connection.reconnected": [
    "The end user of a connection granted access again.",
    "name environment_id provider_key provider_config_id end_user_id",
  ],
  "connection.reauth_due": [
    "The grant of a connection ends soon: its end user must grant access again before it does.",
    "name environment_id provider_key provider_config_id end_user_id grant_expires_at",
  ],
  "connection.needs_reauth": [
    "A connection is unusable until its end user grants access again.",
    "name environment_id provider_key provider_config_id end_user_id reason",
  ],
  "connection.revoked": [
    "A connection was revoked. Its grant is revoked at the provider if possible, and its credentials are erased.",
    "name environment_id provider_key provider_config_id end_user_id",
  ],
  "connector.manifest.created": ["A version of a connector manifest was created.", "key version digest"],
  "connector.manifest.deleted": ["A version of a connector manifest was deleted.", "key version digest"],
  "connect_session.created": [
    "A connect session was created for an end user.",
    "end_user_id allowed_provider_keys connection_id",
  ],
  "connect_session.completed": [
    "An end user connected an account: the connection was created or reconnected.",
    "end_user_id provider_key connection_id",
  ],
  "connect_session.failed": [
    "A connect session ended without a connection.",
    "end_user_id provider_key error_code error_detail",
  ],
  "connect_session.expired": [
    "A connect session expired before the end user had finished.",
    "end_user_id provider_key",
  ],
  "connect_session.revoked": ["A connect session was revoked.", "end_user_id provider_key"],
  "connector.action.executed": [
    "A connector action was executed successfully.",
    "action_key provider_key connection_id origin origin_id attempts duration_ms",
  ],
  "connector.action.failed": [
    "A connector action failed, or its outcome is unknown.",
    "action_key provider_key connection_id origin origin_id attempts duration_ms status class code",
  ],
  "connector.trigger.created": ["A trigger subscription was created.", "environment_id name trigger_key connection_id"],
  "connector.trigger.updated": ["A trigger subscription was changed.", "environment_id name trigger_key fields"],
  "connector.trigger.paused": ["A trigger subscription was paused.", "environment_id name trigger_key"],
  "connector.trigger.resumed": ["A trigger subscription was resumed.", "environment_id name trigger_key"],
  "connector.trigger.deleted": ["A trigger subscription was deleted.", "environment_id name trigger_key"],
  "connector.trigger.failing": [
    "A trigger subscription fails. The service keeps trying.",
    "environment_id name trigger_key message",
  ],
  "connector.trigger.expired": [
    "The provider ended the registration of a trigger subscription, and it could not be renewed yet.",
    "environment_id name trigger_key message",
  ],
  "connector.trigger.recovered": ["A trigger subscription works again.", "environment_id name trigger_key"],
  "connector.trigger.event_dead": [
    "An event of a trigger could not be delivered to its target.",
    "environment_id event_id type message",
  ],
  "connector.trigger.replayed": ["Ended events of a trigger subscription are delivered again.", "environment_id count"],
  "integration.created": ["An integration was created.", "channel name provider_key"],
  "integration.updated": ["An integration was changed.", "channel name provider_key fields"],
  "integration.deleted": ["An integration was deleted.", "channel name provider_key"],
  "layout.created": ["A layout was created.", "name channel is_default copy_of"],
  "layout.updated": ["The content of a layout was changed.", "name channel fields"],
  "layout.deleted": ["A layout was deleted.", "name channel"],
  "layout.default_set": [
    "A layout became the default of its channel and replaced the previous one.",
    "name channel previous_layout_id",
  ],
  "topic.created": ["A topic was created.", "name"],
  "topic.updated": ["A topic was changed.", "name"],
  "topic.deleted": ["A topic was deleted together with `count` subscriptions.", "count"],
  "topic.import.cancelled": [
    "An import of members was cancelled after `processed` of `total` names.",
    "import_id processed total",
  ],
  "topic.members.added": [
    "`count` subscribers were added to a topic; the context keys of `changed` existing ones were replaced.",
    "count changed",
  ],
  "topic.members.removed": ["`count` subscribers were removed from a topic.", "count"],
  "workflow.run.started": [
    "A workflow run started.",
    "definition_id definition_key version trigger_depth via replay_of_run_id from_step continues_run_id",
  ],
  "workflow.run.paused": ["A workflow run was paused.", "definition_id definition_key version trigger_depth by"],
  "workflow.run.resumed": [
    "A paused workflow run was resumed.",
    "definition_id definition_key version trigger_depth by",
  ],
  "workflow.run.succeeded": [
    "A workflow run ended with success.",
    "definition_id definition_key version trigger_depth",
  ],
  "workflow.run.continued": [
    "A workflow run ended, and the run `next_run_id` continues its work.",
    "definition_id definition_key version trigger_depth next_run_id",
  ],
  "workflow.run.failed": [
    "A workflow run failed.",
    "definition_id definition_key version trigger_depth error_code step",
  ],
  "workflow.run.cancelled": [
    "A workflow run was cancelled.",
    "definition_id definition_key version trigger_depth error_code step",
  ],
  "workflow.run.timed_out": [
    "A workflow run took longer than its time-out.",
    "definition_id definition_key version trigger_depth error_code step",
  ],
  "workflow.approval.requested": [
    "A workflow run waits for an approval.",
    "definition_id definition_key version trigger_depth step",
  ],
  "workflow.trigger.created": ["A workflow trigger was created.", "environment_id name definition kind"],
  "workflow.trigger.updated": ["A workflow trigger was changed.", "environment_id name fields"],
  "workflow.trigger.deleted": ["A workflow trigger was deleted.", "environment_id name"],
  "workflow.trigger.failed": [
    "A workflow trigger could not start `count` runs.",
    "environment_id name code message count",
  ],
  "workflow.trigger.disabled": [
    "The service disabled a workflow trigger that failed too often in a row.",
    "environment_id name code message consecutive_failures",
  ],
  "workflow.dead_letter.created": [
    "A workflow run failed or timed out and became a dead letter.",
    "definition_id definition_key version error_code step failed_run_id",
  ],
  "workflow.dead_letter.reopened": [
    "A replay of a dead letter failed or timed out.",
    "definition_id definition_key version error_code step failed_run_id",
  ],
  "workflow.dead_letter.replayed": [
    "The run of a dead letter was replayed.",
    "definition_id definition_key replay_run_id replay_count by",
  ],
  "workflow.dead_letter.quarantined": [
    "A dead letter was quarantined; nothing replays it.",
    "definition_id definition_key reason by",
  ],
  "workflow.dead_letter.released": [
    "A dead letter was released from quarantine.",
    "definition_id definition_key reason by",
  ],
  "workflow.dead_letter.discarded": ["A dead letter was discarded.", "definition_id definition_key reason by"],
  "workflow.stream.created": ["A data stream of a workflow run was created.", "environment_id run_id name digest"],
  "workflow.stream.closed": [
    "A data stream of a workflow run was closed; nothing can be appended to it.",
    "environment_id run_id name by",
  ],
  "workflow.stream.consumer_removed": [
    "A consumer of a data stream was removed: by a caller, or because it stopped acknowledging (reason: removed or idle).",
    "environment_id run_id name consumer_id reason by",
  ],
  "workflow.stream.held": [
    "A legal hold was set on a data stream of a workflow run; nothing of it is removed.",
    "environment_id run_id name by",
  ],
  "workflow.stream.released": [
    "The legal hold on a data stream of a workflow run was released.",
    "environment_id run_id name by",
  ],
  "workflow.definition.created": ["A workflow definition was created with a draft.", "key copy_of"],
  "workflow.definition.updated": ["The draft of a workflow definition was replaced.", "key"],
  "workflow.definition.published": [
    "A version of a workflow definition was published; new runs use it.",
    "key version digest",
  ],
  "workflow.definition.archived": ["A workflow definition was archived; it starts no new runs.", "key version"],
  "marketplace.pack.published": [
    "A version of a pack was published in the tenant.",
    "publisher name version digest key_id",
  ],
  "marketplace.pack.yanked": [
    "A version of a pack was yanked: it can no longer be installed.",
    "publisher name version reason",
  ],
  "marketplace.pack.installed": ["A pack was installed.", "publisher name version digest records"],
  "marketplace.pack.upgraded": [
    "An installed pack was upgraded.",
    "publisher name from_version version digest added_permissions",
  ],
  "marketplace.pack.rolled_back": [
    "The upgrade of a pack was rolled back; its records are as they were before.",
    "publisher name from_version version",
  ],
  "marketplace.pack.uninstalled": ["A pack was uninstalled.", "publisher name version records_kept"],
  "marketplace.key.registered": [
    "A key of a publisher was registered: the tenant trusts packs that it signed.",
    "publisher",
  ],
  "marketplace.key.revoked": [
    "A key of a publisher was revoked: packs that it signed can no longer be installed.",
    "publisher reason",
  ],
} as const satisfies Record<string, readonly [meaning: string, data: string]>;

/** The type of an event that the service records. */
export type EventType = keyof typeof eventTypes;

/** First segments of types that callers cannot publish. */
export const reservedFamilies: ReadonlySet<string> = new Set(
  Object.keys(eventTypes).map((type) => type.split(".")[0]!),
);
