alter table notification_deliveries
  -- Whether the attempt under way may have reached a provider. False from the lease until the moment before it is sent.
  -- True by default: nobody can rule it out for rows that are written without it.
  add column handed_over boolean not null default true,
  -- Counts the redrives after a definite failure. Each of them sends under an idempotency key of its own.
  add column key_generation integer not null default 0,
  -- When an attempt failed for the first time.
  add column first_failed_at timestamptz;

alter table notification_subscribers
  -- Since when nothing is sent to the profile's address: it is gone, or its owner unsubscribed or complained.
  add column email_suppressed_at timestamptz,
  add column phone_suppressed_at timestamptz,
  -- When the address was last changed: what a provider tells of an earlier message is about another address.
  add column email_set_at timestamptz,
  add column phone_set_at timestamptz;
