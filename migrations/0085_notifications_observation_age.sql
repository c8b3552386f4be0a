-- Finds observations after their retention.
create index notification_observations_by_age on notification_observations (received_at);
