-- What was asked and decided is only ever read whole: kept as it was written it takes less room, and PostgreSQL does not
-- have to take it apart on its way in.
alter table decisions
  alter column attributes type json,
  alter column requirements type json,
  alter column payload type json,
  alter column evidence type json;
