// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonValue } from "../json.ts";

/** Workflow triggers: what starts runs without a call, at the times of a schedule or for events of the log. */
export interface WorkflowTriggerService {
  /** Creates a trigger. A schedule starts runs from now on, an event trigger for events from now on. */
  create(request: CreateWorkflowTriggerRequest, options?: CallOptions): Promise<WorkflowTrigger>;

  /** Returns one trigger. */
  get(request: GetWorkflowTriggerRequest, options?: CallOptions): Promise<WorkflowTrigger>;

  /** Lists the triggers of the caller's tenant. */
  list(request?: ListWorkflowTriggersRequest, options?: CallOptions): List<WorkflowTrigger>;

  /** Changes the fields that are present. A trigger that is enabled again starts runs from then on. */
  update(request: UpdateWorkflowTriggerRequest, options?: CallOptions): Promise<WorkflowTrigger>;

  /** Deletes a trigger. Runs that it started go on. */
  delete(request: DeleteWorkflowTriggerRequest, options?: CallOptions): Promise<WorkflowTrigger>;

  /** Starts a run now, whether the trigger is enabled or not, and whatever its overlap policy and condition are. */
  fire(request: FireWorkflowTriggerRequest, options?: CallOptions): Promise<FireWorkflowTriggerResponse>;

  /** Shows the next ten times of a schedule, or whether an event would start a run, and with which input. Nothing is stored and no run starts. */
  preview(request?: PreviewWorkflowTriggerRequest, options?: CallOptions): Promise<PreviewWorkflowTriggerResponse>;
}

const workflowTriggerServiceOperations = {
  create: { verb: "POST", path: "/api/workflow-triggers", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/workflow-triggers/{trigger_id}" },
  list: { verb: "GET", path: "/api/workflow-triggers", result: "cursor" },
  update: { verb: "PATCH", path: "/api/workflow-triggers/{trigger_id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/workflow-triggers/{trigger_id}", keyed: true },
  fire: { verb: "POST", path: "/api/workflow-triggers/{trigger_id}:fire", body: "*", keyed: true },
  preview: { verb: "POST", path: "/api/workflow-triggers:preview", body: "*" },
} as const satisfies Record<keyof WorkflowTriggerService, Operation>;

/** Creates the service over a transport. */
export function createWorkflowTriggerService(transport: Transport): WorkflowTriggerService {
  return bindOperations<WorkflowTriggerService>(transport, workflowTriggerServiceOperations);
}

/** The times at which runs start. */
export type WorkflowScheduleInput = {
  /** A cron expression with five fields, or six with seconds first: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** The IANA time zone of the expression (for example: Europe/Berlin); UTC when empty. A local time that does not exist runs right after, and one that occurs twice runs once. An expression for every hour runs by elapsed time. */
  readonly timezone?: string;
  /** What happens while a run of the trigger is in progress: skip (default), allow, cancel_running, or queue_one, which starts one run when the others have ended. */
  readonly overlap?: "" | "skip" | "allow" | "cancel_running" | "queue_one";
  /** Delays all starts of the trigger by the same part of this time, so that triggers with the same times spread. */
  readonly jitter_s?: number;
  /** No run starts before this time. */
  readonly start_at?: string | Date;
  /** No run starts after this time. */
  readonly end_at?: string | Date;
  /** How late a missed time may still start a run; default 60. Of several missed times, only the last one starts a run. */
  readonly catch_up_s?: number;
};

/** The events for which runs start: those of the environment of the trigger, and those without an environment. */
export type WorkflowEventFilterInput = {
  /** Exact types, and families such as queue.item.*. Events of runs of the trigger's own definition never start a run. */
  readonly types: readonly string[];
  /** CEL over event (id, type, subject, time, data); always true when empty. An error counts as false. */
  readonly condition?: string;
};

/** Request to create a trigger: exactly one of schedule and event is present. */
export type CreateWorkflowTriggerRequest = {
  /** The name, unique in the environment. */
  readonly name: string;
  /** The key or the id of the definition. It need not be published yet. */
  readonly definition: string;
  /** The version; 0 for the version that is active when a run starts. */
  readonly version?: number;
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** Whether it starts runs; default true. */
  readonly enabled?: boolean;
  /** The times at which runs start. */
  readonly schedule?: WorkflowScheduleInput;
  /** The events for which runs start. */
  readonly event?: WorkflowEventFilterInput;
  /** The input of the runs: a template that may use schedule.time, or event; null when absent. */
  readonly input?: unknown;
  /** The run key: a template like the input. */
  readonly run_key?: string;
};

/** Starts runs of a definition: at the times of its schedule, or for each event that matches. */
export type WorkflowTrigger = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment of the runs. */
  readonly environment_id: string;
  /** The name, unique in the environment. */
  readonly name: string;
  /** The key or the id of the definition. */
  readonly definition: string;
  /** The version; 0 for the version that is active when a run starts. */
  readonly version: number;
  /** Whether it starts runs. */
  readonly enabled: boolean;
  /** Why it is not enabled: manual, or failing after 20 permanent failures in a row; empty if it is enabled. */
  readonly disabled_reason: string;
  /** The times at which runs start; absent for an event trigger. */
  readonly schedule?: WorkflowSchedule;
  /** The events for which runs start; absent for a schedule. */
  readonly event?: WorkflowEventFilter;
  /** The input of the runs: a template that may use schedule.time, or event. */
  readonly input?: JsonValue;
  /** The run key: a template like the input; empty for runs without a key. */
  readonly run_key: string;
  /** The next time of the schedule; absent if there is none. */
  readonly next_at?: string;
  /** When it last started a run. */
  readonly last_fired_at?: string;
  /** The run that it started last; empty if it never did. */
  readonly last_run_id: string;
  /** When it last started nothing because another run was in progress. */
  readonly last_skipped_at?: string;
  /** Why it last did not start a run; empty after a successful start. */
  readonly last_error: string;
  /** The number of permanent failures since the last successful start. */
  readonly consecutive_failures: number;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** The times at which runs start. */
export type WorkflowSchedule = {
  /** A cron expression with five fields, or six with seconds first: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** The IANA time zone of the expression (for example: Europe/Berlin); UTC when empty. A local time that does not exist runs right after, and one that occurs twice runs once. An expression for every hour runs by elapsed time. */
  readonly timezone: string;
  /** What happens while a run of the trigger is in progress: skip (default), allow, cancel_running, or queue_one, which starts one run when the others have ended. */
  readonly overlap: string;
  /** Delays all starts of the trigger by the same part of this time, so that triggers with the same times spread. */
  readonly jitter_s: number;
  /** No run starts before this time. */
  readonly start_at?: string;
  /** No run starts after this time. */
  readonly end_at?: string;
  /** How late a missed time may still start a run; default 60. Of several missed times, only the last one starts a run. */
  readonly catch_up_s?: number;
};

/** The events for which runs start: those of the environment of the trigger, and those without an environment. */
export type WorkflowEventFilter = {
  /** Exact types, and families such as queue.item.*. Events of runs of the trigger's own definition never start a run. */
  readonly types: readonly string[];
  /** CEL over event (id, type, subject, time, data); always true when empty. An error counts as false. */
  readonly condition: string;
};

/** Identifies a trigger. */
export type GetWorkflowTriggerRequest = {
  /** The trigger's id. */
  readonly trigger_id: string;
};

/** Request for a page of triggers. */
export type ListWorkflowTriggersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only triggers of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only triggers of this definition: its key or its id, whichever the trigger was given. */
  readonly definition?: string;
};

/** Changes the fields that are present. */
export type UpdateWorkflowTriggerRequest = {
  /** The trigger's id. */
  readonly trigger_id: string;
  /** The name. */
  readonly name?: string;
  /** The key or the id of the definition. */
  readonly definition?: string;
  /** The version; 0 for the active one. */
  readonly version?: number;
  /** Whether it starts runs. */
  readonly enabled?: boolean;
  /** Replaces the schedule. An event trigger cannot become a schedule. */
  readonly schedule?: WorkflowScheduleInput;
  /** Replaces the events. A schedule cannot become an event trigger. */
  readonly event?: WorkflowEventFilterInput;
  /** The template of the input. */
  readonly input?: unknown;
  /** The template of the run key. */
  readonly run_key?: string;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Selects the trigger to delete. */
export type DeleteWorkflowTriggerRequest = {
  /** The trigger's id. */
  readonly trigger_id: string;
};

/** An event, as the templates and the condition of a trigger see it. */
export type WorkflowTriggerEvent = {
  /** The id; any text when empty. */
  readonly id?: string;
  /** The type. */
  readonly type: string;
  /** What the event is about. */
  readonly subject?: string;
  /** When it happened; now when absent. */
  readonly time?: string | Date;
  /** The data. */
  readonly data?: object;
};

/** Request to start a run now. */
export type FireWorkflowTriggerRequest = {
  /** The trigger's id. */
  readonly trigger_id: string;
  /** The event for the templates of an event trigger. Required if they use it. */
  readonly event?: WorkflowTriggerEvent;
};

/** The run of a trigger. */
export type FireWorkflowTriggerResponse = {
  /** The run. */
  readonly run_id: string;
  /** False if a run with the same run key was in progress: it is that run. */
  readonly started: boolean;
};

/** A trigger to try: exactly one of schedule and event is present. */
export type PreviewWorkflowTriggerRequest = {
  /** The times. */
  readonly schedule?: WorkflowScheduleInput;
  /** The events. */
  readonly event?: WorkflowEventFilterInput;
  /** The event to try. Required for an event trigger. */
  readonly sample?: WorkflowTriggerEvent;
  /** The template of the input. */
  readonly input?: unknown;
  /** The template of the run key. */
  readonly run_key?: string;
  /** The time after which the times of a schedule are shown; now when absent. */
  readonly after?: string | Date;
};

/** What a trigger would do. */
export type PreviewWorkflowTriggerResponse = {
  /** The next ten times of a schedule, without jitter. */
  readonly times: readonly string[];
  /** Whether a run would start: at the first of the times, or for the sample. */
  readonly starts: boolean;
  /** Why not, or why a template failed; empty if a run would start. */
  readonly reason: string;
  /** The input of the run. */
  readonly input?: JsonValue;
  /** The run key. */
  readonly run_key: string;
};
