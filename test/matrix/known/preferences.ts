import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";

/** Subscriber preferences, and notification workflows with per-user overrides. */
export const preferenceRequests: Known = {
  "SubscriberService/ListPreferences": async (party) => {
    const { body } = await must("SubscriberService/UpsertSubscriber", party, { external_id: freshWord() });
    await must("SubscriberService/UpsertPreference", party, { subscriber_id: body.data.id, all: false });
    return { subscriber_id: body.data.id };
  },
  // Any text that a tenant chooses.
  "SubscriberService/PreviewPreferences": () => ({ user_id: freshWord() }),

  "NotificationWorkflowService/GetNotificationWorkflow": workflow,
  "NotificationWorkflowService/ListNotificationWorkflows": async (party) => {
    await workflow(party);
    return {};
  },
  "NotificationWorkflowService/DeleteNotificationWorkflow": workflow,
  "NotificationWorkflowService/UpsertNotificationWorkflowUser": async (party) => ({
    ...(await workflow(party)),
    user_id: freshWord(),
  }),
  "NotificationWorkflowService/GetNotificationWorkflowUser": workflowUser,
  "NotificationWorkflowService/ListNotificationWorkflowUsers": (party) =>
    workflowUser(party).then(({ workflow_key }) => ({ workflow_key })),
  "NotificationWorkflowService/DeleteNotificationWorkflowUser": workflowUser,
};

async function workflow(party: Party): Promise<Json> {
  const workflow_key = freshWord();
  await must("NotificationWorkflowService/UpsertNotificationWorkflow", party, { workflow_key });
  return { workflow_key };
}

async function workflowUser(party: Party): Promise<Json> {
  const named = { ...(await workflow(party)), user_id: freshWord() };
  await must("NotificationWorkflowService/UpsertNotificationWorkflowUser", party, named);
  return named;
}
