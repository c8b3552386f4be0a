// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonValue } from "../json.ts";

/** Dynamic configuration: settings that a tenant can change at run time. */
export interface ConfigService {
  /** Describes every setting that a tenant can change. */
  getSchema(request?: GetConfigSchemaRequest, options?: CallOptions): Promise<GetConfigSchemaResponse>;

  /** Lists the effective values of the caller's tenant. */
  listValues(request?: ListConfigValuesRequest, options?: CallOptions): List<ConfigValue>;

  /** Returns the effective value of one setting. */
  getValue(request: GetConfigValueRequest, options?: CallOptions): Promise<ConfigValue>;

  /** Sets one value. */
  setValue(request: SetConfigValueRequest, options?: CallOptions): Promise<ConfigValue>;

  /** Restores the default of one setting. */
  resetValue(request: ResetConfigValueRequest, options?: CallOptions): Promise<ConfigValue>;

  /** Exports the writable values of the caller's tenant as YAML. */
  export(request?: ExportConfigRequest, options?: CallOptions): Promise<Response>;
}

const configServiceOperations = {
  getSchema: { verb: "GET", path: "/api/config/schema" },
  listValues: { verb: "GET", path: "/api/config/values", result: "cursor" },
  getValue: { verb: "GET", path: "/api/config/values/{key}" },
  setValue: { verb: "PUT", path: "/api/config/values/{key}", body: "*", keyed: true },
  resetValue: { verb: "DELETE", path: "/api/config/values/{key}", keyed: true },
  export: { verb: "GET", path: "/api/config/export", result: "raw" },
} as const satisfies Record<keyof ConfigService, Operation>;

/** Creates the service over a transport. */
export function createConfigService(transport: Transport): ConfigService {
  return bindOperations<ConfigService>(transport, configServiceOperations);
}

/** Request for the schema. */
export type GetConfigSchemaRequest = Record<never, never>;

/** The schema. */
export type GetConfigSchemaResponse = {
  /** Whether values can be changed. */
  readonly enabled: boolean;
  /** The settings, by key. */
  readonly settings: readonly ConfigSetting[];
};

/** A setting that a tenant can change. */
export type ConfigSetting = {
  /** The dotted key. */
  readonly key: string;
  /** The type of its value: boolean, integer, number, string or string_list. */
  readonly type: string;
  /** The description. */
  readonly description: string;
  /** The default value. */
  readonly default_value?: JsonValue;
  /** The minimum, for numbers. */
  readonly minimum?: number;
  /** The maximum, for numbers. */
  readonly maximum?: number;
  /** The allowed values, if they are enumerated. */
  readonly allowed_values: readonly string[];
};

/** Request for a page of values. */
export type ListConfigValuesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** The effective value of a setting. */
export type ConfigValue = {
  /** The dotted key. */
  readonly key: string;
  /** The effective value. */
  readonly value?: JsonValue;
  /** Whether the tenant set it; otherwise the default applies. */
  readonly overridden: boolean;
  /** Who set it. */
  readonly updated_by: string;
  /** When it was set. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** Identifies a setting. */
export type GetConfigValueRequest = {
  /** The dotted key. */
  readonly key: string;
};

/** Sets one value. */
export type SetConfigValueRequest = {
  /** The dotted key. */
  readonly key: string;
  /** The new value. */
  readonly value: unknown;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Identifies a setting. */
export type ResetConfigValueRequest = {
  /** The dotted key. */
  readonly key: string;
};

/** Request for the export. */
export type ExportConfigRequest = Record<never, never>;
