import { inEnvironment, nameSource } from "../name-source.ts";

const definition = `coalesce(
  (select coalesce(nullif(d.name, ''), d.key) from workflow_definitions d
    where d.tenant_id = t.tenant_id and d.id = t.definition_id), '')`;

/** The names of what workflows are made of. A run is known by its workflow and its key. */
export const workflowNames = [
  nameSource("workflow_definition", "workflow_definition:read", "workflow_definitions", {
    name: "coalesce(nullif(name, ''), key)",
    key: { column: "key", exists: "status <> 'archived'" },
  }),
  nameSource("workflow_run", "workflow_run:read", "all_workflow_runs", {
    name: `${definition} || case when run_key = '' then '' else ' · ' || run_key end`,
    parent: "definition_id",
    isAmbiguous: "run_key = ''",
    isVisible: (inProduction) => `(origin ->> 'environment' = 'production') = ${inProduction}`,
  }),
  nameSource("workflow_trigger", "workflow_trigger:read", "workflow_triggers", {
    ...inEnvironment,
    key: { column: "name" },
  }),
  nameSource("workflow_approval", "workflow_run:read", "workflow_approvals", {
    name: "title",
    parent: "run_id",
    ...inEnvironment,
  }),
  nameSource("workflow_stream", "workflow_stream:read", "workflow_streams", {
    parent: "run_id",
    ...inEnvironment,
  }),
];
