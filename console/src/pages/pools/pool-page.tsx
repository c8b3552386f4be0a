import { createPoolService, type Pool, type UpdatePoolRequest } from "@client/gen/pool";
import { type CreatePoolVersionRequest, createPoolVersionService, type PoolVersion } from "@client/gen/pool-version";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { type Field, FormDialog } from "../../ui/form";
import { formatLimit, formatSeconds, words } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { currentTab, Page, Ready, Tabs } from "../../ui/page";
import { Ago, Facts, Id, Status } from "../../ui/text";
import { toast, toastError } from "../../ui/toast";
import { RouteItemButton } from "../shared/route-item";
import { LiveAssignment } from "./live-assignment";
import { Recipients } from "./recipients";
import { Rules } from "./rules";
import { strategies, strategyMeanings } from "./strategies";

const pools = createPoolService(transport);
const versions = createPoolVersionService(transport);
const tabs = { live: "Live assignment", recipients: "Recipients", rules: "Rules", strategy: "Strategy" };

const strategyField: Field = {
  name: "strategy",
  label: "Strategy",
  kind: "choice",
  required: true,
  choices: strategies,
};

/** One pool: its recipients, rules and strategy, and who gets work right now. */
export function PoolPage({ poolId }: { readonly poolId: string }) {
  const pool = useQuery(`pool ${poolId}`, () => pools.get({ pool_id: poolId }), {
    live: ["pool.", "recipient.", "rule."],
  });
  return (
    <Page
      actions={pool.data && <PoolActions pool={pool.data} refresh={pool.refresh} />}
      badge={<Status of={pool.data?.status} />}
      crumbs={[{ title: "Pools", path: "pools" }]}
      question={pool.data?.description || undefined}
      title={pool.data?.name ?? "Pool"}
    >
      <Tabs label="Parts of the pool" tabs={tabs} />
      <Ready query={pool}>{(data) => <Part pool={data} refresh={pool.refresh} />}</Ready>
    </Page>
  );
}

function Part({ pool, refresh }: { readonly pool: Pool; readonly refresh: () => void }) {
  switch (currentTab(tabs)) {
    case "live":
      return <LiveAssignment pool={pool} />;
    case "recipients":
      return <Recipients pool={pool} />;
    case "rules":
      return <Rules pool={pool} />;
    case "strategy":
      return <Strategy pool={pool} refresh={refresh} />;
  }
}

function PoolActions({ pool, refresh }: { readonly pool: Pool; readonly refresh: () => void }) {
  const isActive = pool.status === "STATUS_ACTIVE";
  const enable = async () => {
    try {
      await pools.setEnabled({ pool_id: pool.id, enabled: true });
      toast("The pool accepts items again.");
      refresh();
    } catch (error) {
      toastError(error);
    }
  };
  const disable = () =>
    confirm({
      title: `Disable ${pool.name}?`,
      consequence:
        "The pool accepts no new items and hands out none. Items that wait stay, and continue when it is enabled.",
      confirm: "Disable pool",
      done: "The pool is disabled.",
      act: () => pools.setEnabled({ pool_id: pool.id, enabled: false }).then(refresh),
    });
  const archive = () =>
    confirm({
      title: `Archive ${pool.name}?`,
      consequence:
        "The pool can only be read afterwards. This cannot be undone. It is refused while items wait or are in progress.",
      confirm: "Archive pool",
      typed: pool.name,
      done: "The pool is archived.",
      act: () => pools.delete({ pool_id: pool.id }).then(() => navigate(href("pools"))),
    });
  if (pool.status === "STATUS_ARCHIVED") return null;
  return (
    <>
      <RouteItemButton poolId={pool.id} />
      {can("pool:write") && <Button onClick={isActive ? disable : enable}>{isActive ? "Disable" : "Enable"}</Button>}
      {can("pool:delete") && (
        <Button onClick={archive} tone="danger-text">
          Archive
        </Button>
      )}
    </>
  );
}

function Strategy({ pool, refresh }: { readonly pool: Pool; readonly refresh: () => void }) {
  const [isEditing, edit] = useState(false);
  const [isStaging, stage] = useState(false);
  return (
    <div class="columns">
      <Card
        actions={
          can("pool:write") && (
            <>
              {can("rule:write") && (
                <Button onClick={() => stage(true)} small>
                  Stage a version
                </Button>
              )}
              <Button onClick={() => edit(true)} small>
                Change
              </Button>
            </>
          )
        }
        title="How it chooses"
      >
        <div class="stack">
          <p class="soft">{strategyMeanings[pool.strategy]}</p>
          <Facts
            of={{
              Strategy: words(pool.strategy),
              "No match": words(pool.config?.fallback?.on_no_match),
              "Maximum depth": formatLimit(pool.config?.queue?.max_depth),
              Lease: formatSeconds(pool.config?.lease?.duration_s ?? 30),
              Attempts: pool.config?.retry?.max_attempts,
              "Keys in turn": pool.config?.admission?.concurrency?.rotate && pool.config.admission.concurrency.key,
              "Events per item": pool.config?.item_events ? "recorded" : "not recorded",
              Created: <Ago time={pool.created_at} />,
              Id: <Id id={pool.id} />,
            }}
          />
        </div>
      </Card>
      <Card title="Configuration">
        <JsonView label="Configuration of the pool" value={pool.config} />
      </Card>
      {isEditing && (
        <FormDialog
          done="The pool was changed."
          fields={[
            { name: "name", label: "Name", required: true },
            { name: "description", label: "Description" },
            strategyField,
            {
              name: "config",
              label: "Configuration",
              kind: "json",
              hint: "Fields that are missing keep their values.",
            },
          ]}
          initial={{ ...pool }}
          onClose={() => edit(false)}
          onSubmit={async (values) => {
            const change = { ...values, pool_id: pool.id, record_version: pool.record_version };
            await pools.update(change as unknown as UpdatePoolRequest);
            refresh();
          }}
          submit="Save changes"
          title={`Change ${pool.name}`}
          wide
        />
      )}
      {isStaging && (
        <FormDialog
          answer={({ version }: PoolVersion) => (
            <div class="stack">
              <p>Version {version} is staged. The pool routes as before until somebody promotes it.</p>
              <a class="link" href={href("promotions", { do: "new", staged: `${pool.id}:${version}` })}>
                Create a candidate for a promotion
              </a>
            </div>
          )}
          fields={[
            strategyField,
            {
              name: "config",
              label: "Configuration",
              kind: "json",
              hint: "Fields that are missing have their defaults.",
            },
            { name: "message", label: "What is new?" },
          ]}
          initial={{ ...pool }}
          onClose={() => stage(false)}
          onSubmit={(values) => versions.create({ ...values, pool_id: pool.id } as unknown as CreatePoolVersionRequest)}
          submit="Stage version"
          title={`Stage a version of ${pool.name}`}
          wide
        />
      )}
    </div>
  );
}
