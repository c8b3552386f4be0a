import type { NotificationWorkflow, UpsertNotificationWorkflowRequest } from "@client/gen/notification-workflow";

/** A workflow as a request that changes nothing. A request replaces the whole workflow, so every field is sent back. */
export function wholeWorkflow(workflow: NotificationWorkflow): UpsertNotificationWorkflowRequest {
  const { tenant_id, created_at, updated_at, ...fields } = workflow;
  return fields as UpsertNotificationWorkflowRequest;
}
