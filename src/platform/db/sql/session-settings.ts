import { Identifier, Shape } from "./statement/statement.ts";

/** The settings that every session needs, independent of the server's defaults. */
const defaults = {
  // The output formats that the parsers expect.
  ...{ datestyle: "ISO", intervalstyle: "postgres", bytea_output: "hex" },
  // Compiling a statement takes longer than running it: there are no long ones.
  jit: "off",
  // The warning about a commit that was not replicated must arrive.
  client_min_messages: "warning",
};

/** The row of `apply`: the settings by their position, and whether they are those of one transaction only. */
export interface AppliedSettings extends Readonly<Record<string, unknown>> {
  readonly pooled: boolean;
}

/**
 * The PostgreSQL settings of a connection's statements. A connection that ends at the server sets them once. Behind a pooler, two
 * transactions of a connection may run in different sessions, so each transaction brings its settings (decision 60).
 */
export class SessionSettings {
  /** Reads the settings that a statement has. */
  readonly current: Shape;
  /** Sets them until the end of the transaction, and returns no row. */
  readonly local: Shape;
  /** Begins a transaction with them. It takes no snapshot, so that the transaction can still choose its isolation level. */
  readonly begin: string;
  private readonly entries: readonly (readonly [name: string, value: string])[];

  constructor(settings: Readonly<Record<string, string | number>>) {
    this.entries = Object.entries({ ...defaults, ...settings }).map(([name, value]) => [name, String(value)]);
    this.current = new Shape(
      this.select((name) => `current_setting(${literal(name)})`),
      [],
    );
    const unset = this.entries.map(([name, value]) => `set_config(${literal(name)}, ${literal(value)}, true) is null`);
    this.local = new Shape(`select where ${unset.join(" or ")}`, []);
    const sets = this.entries.map(([name, value]) => `set local ${new Identifier(name).text} to ${list(value)}`);
    this.begin = ["begin", ...sets].join("; ");
  }

  /** Sets them for the session if its server process is the one that the connection was announced. */
  apply(processId: number): string {
    const isPooled = `pg_backend_pid() <> ${processId}`;
    return `${this.select((name, value) => `set_config(${literal(name)}, ${literal(value)}, ${isPooled})`)}, ${isPooled} as pooled`;
  }

  /** The values of a row of `current` or `apply`, as PostgreSQL writes them. */
  valuesOf(row: Readonly<Record<string, unknown>>): string {
    return this.entries.map(([name], nth) => `${name}=${row[nth]}`).join(", ");
  }

  private select(expression: (name: string, value: string) => string): string {
    return `select ${this.entries.map(([name, value], nth) => `${expression(name, value)} as "${nth}"`).join(", ")}`;
  }
}

function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** A value that is a list, such as a search path, is one literal for each of its parts. */
function list(value: string): string {
  return value
    .split(",")
    .map((part) => literal(part.trim()))
    .join(", ");
}
