-- Who made a check: `service` for what the service observed itself, else the subject of the caller.
alter table evidence_receipts add column producer text not null default '';
-- The producers whose receipts count; empty for all.
alter table evidence_packs add column accepted_producers json not null default '[]';
-- Why a candidate needs no traffic; empty if it does.
alter table promotion_candidates add column waiver_reason text not null default '';
-- A failed canary is final.
alter table promotion_candidates drop constraint promotion_candidates_state_check,
  add constraint promotion_candidates_state_check check (state in ('created', 'preflight_passed', 'preflight_blocked',
    'guardrails_passed', 'guardrails_failed', 'canary_running', 'canary_stopped', 'canary_failed', 'approved', 'promoted',
    'rolled_back', 'aborted'));
