import { createPoolService } from "@client/gen/pool";
import { createQueueService, type QueueItem } from "@client/gen/queue";
import { createRoutingService, type Decision, type RouteRequest } from "@client/gen/routing";
import { createRuleService } from "@client/gen/rule";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickPool } from "../../palette/picker-sources";
import { Button } from "../../ui/button";
import { type Example, type Field, FormDialog, type Texts } from "../../ui/form";
import { schemaFields, schemaOf } from "../../ui/form/schema-fields";
import { formatAgo, formatClock, words } from "../../ui/format";
import { Name } from "../../ui/name";
import { Notice, type Tone } from "../../ui/text";

const routing = createRoutingService(transport);
const pools = createPoolService(transport);
const queues = createQueueService(transport);
const rules = createRuleService(transport);
const examplesMax = 20;

/** Routes an item to a pool. Its form has the attributes that the pool's rules and admission keys read and that its last items have. */
export function RouteItemButton({ poolId }: { readonly poolId?: string }) {
  const [isOpen, open] = useState(false);
  if (!can("route:write")) return null;
  return (
    <>
      <Button icon="plus" onClick={() => open(true)}>
        Route item
      </Button>
      {isOpen && <RouteItemDialog onClose={() => open(false)} poolId={poolId} />}
    </>
  );
}

function RouteItemDialog({ poolId, onClose }: { readonly poolId: string | undefined; readonly onClose: () => void }) {
  const [texts, enter] = useState<Texts>({});
  const chosen = texts.pool_id || poolId;
  const known = useQuery(chosen && `route form ${chosen}`, () => readKnown(chosen!));
  const { items = [], attributes = [], required = [] } = known.data ?? {};
  const schema = schemaOf(
    items.map((item) => item.attributes),
    [...required, ...attributes],
  );
  const fields: readonly Field[] = [
    {
      name: "pool_id",
      label: "Pool",
      from: pickPool,
      hint: "Without one, the rules of the pools choose.",
      row: "what",
    },
    { name: "type", label: "Type", required: true, placeholder: "ticket", row: "what" },
    { name: "key", label: "Key", hint: "What it belongs to, such as a customer.", row: "order" },
    { name: "priority", label: "Priority", kind: "number", row: "order" },
    ...schemaFields("attributes", "Attributes", { ...schema, required }),
    ...schemaFields("payload", "Payload", schemaOf(items.map((item) => item.payload))),
  ];
  return (
    <FormDialog
      answer={(decision: Decision) => <Answer decision={decision} />}
      examples={items.map(exampleOf)}
      fields={fields}
      initial={{ pool_id: poolId, type: items[0]?.type }}
      onClose={onClose}
      onEnter={enter}
      onSubmit={async (values) => {
        const decision = await routing.route(values as unknown as RouteRequest);
        known.refresh();
        return decision;
      }}
      submit="Route item"
      title="Route an item"
      wide
    />
  );
}

interface Known {
  readonly items: readonly QueueItem[];
  readonly attributes: readonly string[];
  /** The attributes without which the item has no admission key. */
  readonly required: readonly string[];
}

/** The last items of a pool, and the attributes that its rules and its admission keys read. */
async function readKnown(pool_id: string): Promise<Known> {
  const [items, read, pool] = await Promise.all([
    can("queue:read") ? queues.listItems({ pool_id, limit: examplesMax }).page() : { items: [] },
    can("rule:read") ? rules.list({ pool_id, limit: 200 }).page() : { items: [] },
    can("pool:read") ? pools.get({ pool_id }) : undefined,
  ]);
  const { singleton, debounce, throttle, concurrency } = pool?.config?.admission ?? {};
  const keys = [singleton, debounce, throttle, concurrency].map((constraint) => constraint?.key ?? "");
  return {
    items: items.items,
    attributes: attributesIn(read.items.map(({ condition }) => condition)),
    // A key that asks whether there is an attribute, or has another value, does without it.
    required: attributesIn(keys.filter((key) => !/\bhas\(|\?/.test(key))),
  };
}

function attributesIn(expressions: readonly string[]): string[] {
  const reads = expressions.flatMap((expression) => [...expression.matchAll(/\bitem\.attributes\.(\w+)/g)]);
  return [...new Set(reads.map(([, name]) => name!))];
}

function exampleOf({ type, key, attributes = {}, payload = {}, priority, enqueued_at }: QueueItem): Example {
  const name = key === "" ? type : `${type} · ${key}`;
  return {
    label: `${name}, ${formatAgo(enqueued_at, Date.now())} (${formatClock(enqueued_at)})`,
    values: { type, key, attributes, payload, priority: priority || undefined },
  };
}

const tones: Readonly<Record<string, Tone>> = { routed: "ok", queued: "ok", rejected: "bad" };

/** What came of the item. */
function Answer({ decision }: { readonly decision: Decision }) {
  const { decision_id, queue_item_id, pool_id, recipient_id, outcome, reason } = decision;
  return (
    <div class="stack">
      <Notice tone={tones[outcome] ?? "info"}>
        <strong>
          {words(outcome)}
          {recipient_id !== "" && (
            <>
              {" "}
              to <Name id={recipient_id} kind="recipient" plain />
            </>
          )}
          .{" "}
        </strong>
        {reason !== "" && `${words(reason)}.`}
      </Notice>
      <div class="actions">
        <a class="link" href={href(`decisions/${decision_id}`)}>
          Why? Open the decision
        </a>
        {queue_item_id !== "" && (
          <a class="link" href={href(`queues/${pool_id}`, { open: queue_item_id })}>
            Open the item
          </a>
        )}
      </div>
    </div>
  );
}
