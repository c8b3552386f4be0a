// What the connections of a database wait for, and how often.

/** Events in which a connection waits for its client, or on purpose. */
const others = ["Client", "Timeout", "Activity", "Extension"];

/**
 * Samples until `isOver`. Returns the shares of the samples in which at least one connection was in an event, with the statement if
 * it was a lock.
 */
export async function sampleWaits(sql, database, isOver) {
  const counts = new Map();
  let samples = 0;
  while (!isOver()) {
    const rows = await sql`
      select distinct wait_event_type || ':' || wait_event ||
        case when wait_event_type like '%Lock' then ' ' || left(regexp_replace(query, '\\s+', ' ', 'g'), 60) else '' end as event
      from pg_stat_activity
      where datname = ${database} and state = 'active' and wait_event_type <> all (${others})`;
    samples++;
    for (const { event } of rows) counts.set(event, (counts.get(event) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, sampleMs));
  }
  return { samples, counts: Object.fromEntries(counts) };
}

const sampleMs = 20;

/** The events of several samplings, most frequent first, with the share of the samples that had them. */
export function sumWaits(all) {
  const samples = all.reduce((total, each) => total + each.samples, 0);
  const counts = new Map();
  for (const each of all) {
    for (const [event, count] of Object.entries(each.counts)) counts.set(event, (counts.get(event) ?? 0) + count);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([event, count]) => ({ event, share: count / samples }));
}
