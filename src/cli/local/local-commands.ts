import { type Command, Option } from "commander";
import { addCompletionCommands } from "../completion/completion-commands.ts";
import { commonOptions } from "../connection/common-options.ts";
import { addProfileCommands } from "../connection/profile-commands.ts";
import type { Io } from "../io.ts";
import type { FormOptions } from "../output/response-text.ts";
import { addProveCommand } from "../prove/prove-options.ts";
import { addBackupCommands } from "./backup/backup-command-options.ts";
import { type SettingsOptions, withSettings } from "./settings-options.ts";

/** The options of API calls that `service top` has. */
const topOptions = new Set(["--profile", "--address", "--key", "--json", "--timeout"]);

/** Adds the commands that do not call a running service. Their modules are imported on demand for a fast start. */
export function addLocalCommands(program: Command, io: Io, end: (exitCode: number) => void): void {
  const group = (name: string, description: string) =>
    program.command(name).description(description).helpCommand(false);

  withSettings(program.command("serve"))
    .description("Start the server.")
    .addOption(
      new Option("--role <role>", "Whether to serve requests (api), run background work (worker), or both (all).")
        .choices(["all", "api", "worker"])
        .default("all"),
    )
    .option(
      "--demo",
      "Create a tenant with pools, workflows, an experiment and notifications, and keep light traffic going.",
    )
    .action(async (options: SettingsOptions & { role: "all" | "api" | "worker"; demo?: boolean }) => {
      const { serveCommand } = await import("./serve-command.ts");
      end(await serveCommand(io, options));
    });

  const top = program.command("top").description("Show what the processes and queues of a running service are doing.");
  for (const option of commonOptions().filter(({ long }) => topOptions.has(long!))) top.addOption(option);
  top.option("--once", "Print one screen and end.").action(async (_: unknown, command: Command) => {
    const { topCommand } = await import("../top/top-command.ts");
    end(await topCommand(io, command.optsWithGlobals()));
  });

  addProveCommand(program, io, end);

  withSettings(program.command("migrate"))
    .description("Apply pending schema migrations to the database.")
    .action(async (options: SettingsOptions) => {
      const { migrateCommand } = await import("./migrate-command.ts");
      end(await migrateCommand(io, options));
    });

  const database = group("database", "Move the database to another PostgreSQL; repair a restored one.");
  withSettings(database.command("move"))
    .description("Move everything to another PostgreSQL. Stop all nodes first.")
    .requiredOption("--to <url>", "URL of an empty database of PostgreSQL 15 or newer. Required.")
    .action(async (options: SettingsOptions & { to: string }) => {
      const { moveDatabaseCommand } = await import("./database-commands.ts");
      end(await moveDatabaseCommand(io, options));
    });
  withSettings(database.command("repair"))
    .description("Check a database that was restored from a backup, and mend what depends on its server.")
    .action(async (options: SettingsOptions) => {
      const { repairDatabaseCommand } = await import("./database-commands.ts");
      end(await repairDatabaseCommand(io, options));
    });

  addBackupCommands(group("backup", "Back up the embedded PostgreSQL, and restore it."), io, end);
  const keyFile = "--key-file <file>";
  withSettings(program.command("export"))
    .description("Export all that belongs to a tenant to a file.")
    .argument("<tenant>", "Id or slug of the tenant.")
    .requiredOption("--to <file>", "Path of the new file, or - for stdout. Required.")
    .option(
      keyFile,
      "Path of a file with a key (32 bytes as base64) that seals the tenant's secrets; without it, they are left out.",
    )
    .option("--move", "Suspend the tenant, so that the installation that imports the file continues its work.")
    .action(async (tenant: string, options: SettingsOptions & { to: string; keyFile?: string; move?: boolean }) => {
      const { exportCommand } = await import("./transfer-commands.ts");
      end(await exportCommand(io, tenant, options));
    });
  withSettings(program.command("import"))
    .description("Import a tenant from a file.")
    .argument("<file>", "Path of the file, or - for stdin.")
    .option(keyFile, "Path of the file with the key of the export. Required if it has secrets.")
    .action(async (file: string, options: SettingsOptions & { keyFile?: string }) => {
      const { importCommand } = await import("./transfer-commands.ts");
      end(await importCommand(io, file, options));
    });

  withSettings(program.command("doctor"))
    .description("Check the settings and dependencies, and list insecure settings.")
    .option("--json", "Print JSON.")
    .option("--strict", "Treat warnings as failures.")
    .action(async (options: SettingsOptions & { json?: boolean; strict?: boolean }) => {
      const { doctorCommand } = await import("../doctor/doctor-command.ts");
      end(await doctorCommand(io, options));
    });

  withSettings(program.command("rotate-keys"))
    .description("Re-encrypt all secrets with the active master key.")
    .action(async (options: SettingsOptions) => {
      const { rotateKeysCommand } = await import("./rotate-keys-command.ts");
      end(await rotateKeysCommand(io, options));
    });

  withSettings(group("config", "Show the service's settings; read and change a tenant's settings.").command("show"))
    .description("Show every setting with its value and source. Secrets are masked.")
    .option("--json", "Print JSON.")
    .option("--wide", "Print every value in full.")
    .action(async (options: SettingsOptions & FormOptions) => {
      const { configShowCommand } = await import("./config-show-command.ts");
      end(await configShowCommand(io, options));
    });

  group("audit", "Verify audit logs.")
    .command("verify")
    .description("Verify that an audit log is complete and unchanged.")
    .argument("<file>", "Path of the audit log.")
    .option("--json", "Print JSON.")
    .action(async (file: string, options: { json?: boolean }) => {
      const { auditVerifyCommand } = await import("./audit-verify-command.ts");
      end(await auditVerifyCommand(io, file, options));
    });

  const pack = group("pack", "Find, install, export, sign and publish packs of the marketplace.");
  pack
    .command("keygen")
    .description("Create a key that signs packs. Prints the public key to register.")
    .argument("<file>", "Path of the new file with the private key. Keep it secret.")
    .action(async (file: string) => {
      const { packKeygenCommand } = await import("./pack-commands.ts");
      end(await packKeygenCommand(io, file));
    });
  pack
    .command("sign")
    .description("Sign a pack. Prints it as JSON, ready to be published.")
    .argument("<file>", "Path of the pack, as YAML or JSON.")
    .requiredOption("--key <file>", "Path of the file with the private key. Required.")
    .action(async (file: string, options: { key: string }) => {
      const { packSignCommand } = await import("./pack-commands.ts");
      end(await packSignCommand(io, file, options));
    });
  pack
    .command("check")
    .description("Check the form and the digest of a pack.")
    .argument("<file>", "Path of the pack, as YAML or JSON.")
    .action(async (file: string) => {
      const { packCheckCommand } = await import("./pack-commands.ts");
      end(await packCheckCommand(io, file));
    });

  addProfileCommands(group("profile", "Manage connection profiles."), io);
  addCompletionCommands(program, io);
}
