import { createBillingSubscriptionService } from "@client/gen/billing-subscription";
import { createEntitlementService } from "@client/gen/entitlement";
import { createInvoiceService } from "@client/gen/invoice";
import { createMeterService } from "@client/gen/meter";
import { createPlanService } from "@client/gen/plan";
import { useState } from "preact/hooks";
import { useList, useQuery } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { formatCount, formatMoney, formatTime, words } from "../../ui/format";
import { currentTab, ListTable, Page, Ready, Tabs } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago, Chips, Facts, Notice, Status } from "../../ui/text";

const subscriptions = createBillingSubscriptionService(transport);
const plans = createPlanService(transport);
const meters = createMeterService(transport);
const invoices = createInvoiceService(transport);
const entitlements = createEntitlementService(transport);
const tabs = { usage: "Usage", plan: "Plan", invoices: "Invoices" };

/** Plan and usage: what the workspace may use, and what it has used. */
export default function Plan() {
  return (
    <Page question="What may we use, and what have we used?" title="Plan and usage">
      <Tabs label="Parts of plan and usage" tabs={tabs} />
      <Part />
    </Page>
  );
}

function Part() {
  switch (currentTab(tabs)) {
    case "usage":
      return <Usage />;
    case "plan":
      return <Subscription />;
    case "invoices":
      return <Invoices />;
  }
}

function Usage() {
  const usage = useQuery(can("usage:read") ? "usage" : undefined, () => meters.getUsage(), { everyMs: 15_000 });
  if (!can("usage:read")) return <Notice tone="info">You may not see the usage.</Notice>;
  return (
    <Ready query={usage}>
      {({ usage: rows, since, until, watermark }) => (
        <>
          <p class="soft">
            From {formatTime(since)} to {formatTime(until)}. The service has counted until <Ago time={watermark} />.
          </p>
          {rows.length === 0 ? (
            <Empty
              samples={{
                curl: `curl -sS '$ORIGIN/api/v2/billing/usage' -H "X-API-Key: $SWITCHYARD_KEY"`,
                cli: "service usage get",
                sdk: "await client.meters.getUsage();",
              }}
              title="No usage in this period"
            >
              The service counts routed items, notifications, workflow runs and connector executions by itself.
            </Empty>
          ) : (
            <Table
              columns={[
                { title: "Meter", value: ({ meter_key }) => meter_key },
                {
                  title: "Quantity",
                  width: "140px",
                  isNumber: true,
                  value: ({ quantity }) => Number(quantity),
                  render: ({ quantity }) => formatCount(Number(quantity)),
                },
                {
                  title: "Events",
                  width: "140px",
                  isNumber: true,
                  value: ({ events }) => Number(events),
                  render: ({ events }) => formatCount(Number(events)),
                },
              ]}
              keyOf={({ meter_key }) => meter_key}
              label="Usage"
              rows={rows}
            />
          )}
        </>
      )}
    </Ready>
  );
}

function Subscription() {
  const [isChanging, change] = useState(false);
  const entitled = useQuery(can("entitlement:read") ? "entitlements" : undefined, () => entitlements.get(), {
    live: ["entitlement.", "billing."],
  });
  // A subscription always comes with entitlements, so that without any there is none to read.
  const subscription = useQuery(
    entitled.data === undefined ? undefined : `subscription ${entitled.data.snapshot?.id ?? "none"}`,
    async () => (entitled.data?.snapshot === undefined ? null : subscriptions.get()),
    { live: ["billing."] },
  );
  const offered = useQuery(isChanging ? "plans" : undefined, () => plans.list({ limit: 100 }).page());
  return (
    <div class="columns">
      <Card
        actions={
          can("billing:write") && (
            <Button onClick={() => change(true)} small>
              Change plan
            </Button>
          )
        }
        title="Subscription"
      >
        <Ready query={subscription}>
          {(data) =>
            data === null ? (
              <p class="soft">This workspace has no subscription. Nothing is limited by a plan.</p>
            ) : (
              <Facts
                of={{
                  Plan: `${data.plan_key} · version ${data.plan_version}`,
                  Status: <Status of={data.status} />,
                  Period: `${formatTime(data.period_start)} to ${formatTime(data.period_end)}`,
                  Scheduled: data.scheduled && `${data.scheduled.plan_key} at the end of the period`,
                }}
              />
            )
          }
        </Ready>
      </Card>
      <Card title="Entitlements">
        <Ready query={entitled}>
          {(data) => (
            <Facts
              of={{
                Enforcement: words(data.mode.replace("ENTITLEMENT_MODE_", "")),
                Allowed: <Chips none="everything" of={data.snapshot?.allow ?? []} />,
                Denied: <Chips none="nothing" of={data.snapshot?.deny ?? []} />,
                Limits: (
                  <Chips
                    none="none"
                    of={Object.entries(data.snapshot?.limits ?? {}).map(
                      ([name, limit]) => `${name}: ${formatCount(limit)}`,
                    )}
                  />
                ),
              }}
            />
          )}
        </Ready>
      </Card>
      {isChanging && offered.data && (
        <FormDialog
          done="The plan was changed."
          fields={[
            {
              name: "plan_key",
              label: "Plan",
              kind: "choice",
              required: true,
              choices: offered.data.items.map(({ key, name }) => ({ value: key, label: name || key })),
            },
            {
              name: "effective",
              label: "When",
              kind: "choice",
              required: true,
              choices: [
                { value: "EFFECTIVE_NOW", label: "Now; the rest of the period is credited" },
                { value: "EFFECTIVE_PERIOD_END", label: "At the end of the period" },
              ],
            },
          ]}
          onClose={() => change(false)}
          onSubmit={async (values) => {
            await subscriptions.set(values as Parameters<typeof subscriptions.set>[0]);
            subscription.refresh();
          }}
          submit="Change plan"
          title="Change the plan"
        />
      )}
    </div>
  );
}

function Invoices() {
  const list = useList(can("invoice:read") ? "invoices" : undefined, (page) => invoices.list(page), {
    live: ["billing.invoice"],
  });
  if (!can("invoice:read")) return <Notice tone="info">You may not see the invoices.</Notice>;
  return (
    <ListTable
      columns={[
        { title: "Number", width: "100px", isNumber: true, value: ({ number }) => Number(number) },
        {
          title: "Status",
          width: "120px",
          value: ({ status }) => status,
          render: ({ status }) => <Status of={status} />,
        },
        {
          title: "Period",
          value: ({ period_start, period_end }) => `${formatTime(period_start)} – ${formatTime(period_end)}`,
        },
        {
          title: "Total",
          width: "140px",
          isNumber: true,
          value: ({ total }) => Number(total),
          render: ({ total, currency }) => formatMoney(total, currency),
        },
        {
          title: "Created",
          width: "120px",
          value: ({ created_at }) => created_at,
          render: ({ created_at }) => <Ago time={created_at} />,
        },
      ]}
      empty={
        <Empty title="No invoice">Invoices are issued an hour after the end of each period of a subscription.</Empty>
      }
      keyOf={({ id }) => id}
      label="Invoices"
      list={list}
    />
  );
}
