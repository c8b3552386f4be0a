import { type ConfigSetting, type ConfigValue, createConfigService } from "@client/gen/config";
import { createTenantService } from "@client/gen/tenant";
import { useState } from "preact/hooks";
import { useList, useQuery } from "../../core/query";
import { can, session } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { currentTab, Page, Ready, Tabs } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";
import { Environments } from "./environments";

const config = createConfigService(transport);
const tenants = createTenantService(transport);
const tabs = { settings: "Settings", environments: "Environments", workspace: "Workspace" };

/** Settings: how the workspace behaves. */
export default function Settings() {
  return (
    <Page question="How does this workspace behave?" title="Settings">
      <Tabs label="Parts of the settings" tabs={tabs} />
      <Part />
    </Page>
  );
}

function Part() {
  switch (currentTab(tabs)) {
    case "settings":
      return <Values />;
    case "environments":
      return <Environments />;
    case "workspace":
      return <Workspace />;
  }
}

interface Row {
  readonly setting: ConfigSetting;
  readonly value: ConfigValue | undefined;
}

function Values() {
  const [edited, edit] = useState<Row>();
  const schema = useQuery("config schema", () => config.getSchema());
  const values = useList("config values", (page) => config.listValues({ ...page, limit: 500 }), { live: ["config."] });
  const reset = ({ setting }: Row) =>
    confirm({
      title: `Reset ${setting.key}?`,
      consequence: `It returns to its default, ${JSON.stringify(setting.default_value)}, within a second on every node.`,
      confirm: "Reset setting",
      done: "The setting has its default again.",
      act: () => config.resetValue({ key: setting.key }).then(values.refresh),
    });
  return (
    <Ready query={schema}>
      {({ enabled, settings }) => {
        const rows = settings.map(
          (setting): Row => ({ setting, value: values.rows.find(({ key }) => key === setting.key) }),
        );
        return (
          <>
            {!enabled && (
              <Notice tone="info">Settings of workspaces are off on this instance. The defaults apply.</Notice>
            )}
            <Table
              columns={[
                {
                  title: "Setting",
                  value: ({ setting }) => setting.key,
                  render: ({ setting }) => <code>{setting.key}</code>,
                },
                {
                  title: "Value",
                  width: "160px",
                  value: ({ value, setting }) => JSON.stringify(value?.value ?? setting.default_value),
                },
                { title: "Meaning", value: ({ setting }) => setting.description },
                {
                  title: "Source",
                  width: "110px",
                  value: ({ value }) => (value?.overridden ? "set here" : "default"),
                  render: ({ value }) => (
                    <Status
                      of={value?.overridden ? "Set here" : "Default"}
                      tone={value?.overridden ? "info" : "muted"}
                    />
                  ),
                },
              ]}
              keyOf={({ setting }) => setting.key}
              label="Settings"
              rowActions={
                enabled && can("config:write")
                  ? (row) => (
                      <>
                        <Button onClick={() => edit(row)} small tone="quiet">
                          Change
                        </Button>
                        {row.value?.overridden && (
                          <Button onClick={() => reset(row)} small tone="quiet">
                            Reset
                          </Button>
                        )}
                      </>
                    )
                  : undefined
              }
              rowActionsWidth="160px"
              rows={rows}
            />
            {edited !== undefined && (
              <FormDialog
                done="The setting was changed."
                fields={[
                  {
                    name: "value",
                    label: edited.setting.key,
                    kind: "json",
                    required: true,
                    hint: hintOf(edited.setting),
                  },
                ]}
                initial={{ value: edited.value?.value ?? edited.setting.default_value }}
                onClose={() => edit(undefined)}
                onSubmit={async ({ value }) => {
                  await config.setValue({ key: edited.setting.key, value: value as never });
                  values.refresh();
                }}
                submit="Save"
                title="Change a setting"
              />
            )}
          </>
        );
      }}
    </Ready>
  );
}

function hintOf({ description, type, minimum, maximum, allowed_values }: ConfigSetting): string {
  const range = minimum === undefined ? "" : ` From ${minimum} to ${maximum}.`;
  const allowed = allowed_values.length === 0 ? "" : ` One of ${allowed_values.join(", ")}.`;
  return `${description} ${words(type)}.${range}${allowed}`;
}

function Workspace() {
  const tenantId = session.value!.tenant_id;
  const tenant = useQuery(`tenant ${tenantId}`, () => tenants.get({ tenant_id: tenantId }));
  return (
    <Card title="Workspace">
      <Ready query={tenant}>
        {(data) => (
          <Facts
            of={{
              Name: data.name,
              Address: <code>{`/workspaces/${data.slug}`}</code>,
              Status: <Status of={data.status} />,
              Plan: data.plan,
              Created: <Ago time={data.created_at} />,
              Id: <Id id={data.id} />,
            }}
          />
        )}
      </Ready>
    </Card>
  );
}
