/** The roles that can be given, with what they allow. */
const roles: readonly { readonly value: string; readonly label: string }[] = [
  { value: "viewer", label: "Viewer: reads everything but secrets" },
  { value: "operator", label: "Operator: runs queues, workflows and notifications" },
  { value: "admin", label: "Admin: everything in the workspace" },
  { value: "service", label: "Service: routes, works, triggers" },
  { value: "secret_manager", label: "Secret manager" },
  { value: "config_manager", label: "Configuration manager" },
  { value: "notification_admin", label: "Notification admin" },
  { value: "workflow_approver", label: "Workflow approver" },
  { value: "promotion_approver", label: "Promotion approver" },
  { value: "promotion_waiver", label: "Promotion waiver: promotes without traffic" },
];

/** The hint of a field with a list of roles. */
export const roleHint = `Separated by commas: ${roles.map(({ value }) => value).join(", ")}.`;
