import { environmentName, environments } from "../../core/environments";
import { environment } from "../../core/router";
import type { Field } from "../../ui/form";
import type { Column } from "../../ui/table";

/** Columns with that of the environment, when the rows can have different ones. */
export function withEnvironment<Row extends { readonly environment_id: string }>(
  columns: readonly Column<Row>[],
): readonly Column<Row>[] {
  if (environment.value !== undefined || environments.value.length < 2) return columns;
  return [
    ...columns,
    { title: "Environment", width: "120px", value: ({ environment_id }) => environmentName(environment_id) },
  ];
}

/** Says of records that belong to no environment that they are shown all the same. */
export function AllEnvironments({ of: records }: { readonly of: string }) {
  if (environment.value === undefined || environments.value.length < 2) return null;
  return <p class="soft">{records} belong to no environment: those of the whole workspace are shown.</p>;
}

/** The field that says where something is created: where the console looks, or in production. */
export function environmentFields(): readonly Field[] {
  const choices = environments.value.map(({ key, name }) => ({ value: key, label: name || key }));
  return choices.length === 0
    ? []
    : [{ name: "environment_id", label: "Environment", kind: "choice", required: true, choices }];
}

/** The environment in which something is created unless somebody chooses another one. */
export function initialEnvironment(): { readonly environment_id: string } {
  return { environment_id: environment.value ?? "production" };
}
