-- Approvals that runs wait for: one row per approval step in progress. Only the advance of its run writes it.
create table workflow_approvals (
  tenant_id ulid not null,
  id ulid not null,
  run_id ulid not null,
  -- The step, with the positions in the maps around it.
  step_key text not null,
  environment_id ulid not null,
  environment_key text not null,
  definition_id ulid not null,
  definition_key text not null,
  run_key text not null,
  title text not null,
  -- Null if they are too large to be listed.
  details json,
  -- Who may decide: role:<role> or user:<subject>.
  approvers text[] not null,
  quorum integer not null,
  comment_required boolean not null,
  -- What was decided so far, as a list of {by, approved, comment, at}.
  decisions json not null,
  -- The subjects of those decisions.
  decided_by text[] not null,
  opened_at timestamptz not null,
  due_at timestamptz not null,
  primary key (tenant_id, run_id, step_key)
);
-- For lists, the oldest first.
create unique index workflow_approvals_id on workflow_approvals (tenant_id, id);

-- The approvals that runs wait for already. The id starts with the time of the run.
do $$
declare
  run record;
begin
  for run in select * from workflow_runs where state::text like '%"s":"approval"%' loop
    begin
      insert into workflow_approvals
      select run.tenant_id, left(run.id, 10) || upper(left(md5(run.id || a.key), 16)), run.id, a.key, run.environment_id,
        run.origin ->> 'environment', run.definition_id, run.origin ->> 'definition', run.run_key,
        left(coalesce(a.value #>> '{request,title}', ''), 1000),
        case when octet_length((a.value #> '{request,details}')::text) <= 32768 then a.value #> '{request,details}' end,
        array(select jsonb_array_elements_text(step.approval -> 'by')), coalesce((step.approval ->> 'quorum')::integer, 1),
        coalesce(step.approval ->> 'comment', '') = 'required', a.value -> 'decisions',
        array(select d ->> 'by' from json_array_elements(a.value -> 'decisions') d),
        to_timestamp((a.value ->> 'sinceMs')::float8 / 1000), to_timestamp((a.value ->> 'dueMs')::float8 / 1000)
      from json_each(run.state -> 'active') a
      join workflow_definition_versions v
        on v.tenant_id = run.tenant_id and v.definition_id = run.definition_id and v.version = run.version,
        jsonb_path_query_first(v.document::jsonb, 'strict $.** ? (@.id == $id).approval',
          jsonb_build_object('id', split_part(a.key, '[', 1))) as step(approval)
      where a.value ->> 's' = 'approval';
    exception when untranslatable_character then
      -- The run has a text with U+0000, which SQL cannot read. Its approvals are not listed; they can be decided.
      null;
    end;
  end loop;
end $$;
