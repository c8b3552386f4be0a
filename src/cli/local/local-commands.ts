import { type Command, Option } from "commander";
import { addCompletionCommand } from "../completion/completion-command.ts";
import { addProfileCommands } from "../connection/profile-commands.ts";
import type { Io } from "../io.ts";
import type { FormOptions } from "../output/response-text.ts";
import { type SettingsOptions, withSettings } from "./settings-options.ts";

/** Adds the commands that do not call a running service. Each loads what it needs when it runs: most load little. */
export function addLocalCommands(program: Command, io: Io, end: (exitCode: number) => void): void {
  const group = (name: string, description: string) =>
    program.command(name).description(description).helpCommand(false);

  withSettings(program.command("serve"))
    .description("Start the server.")
    .addOption(
      new Option("--role <role>", "Serve requests, run background work, or both.")
        .choices(["all", "api", "worker"])
        .default("all"),
    )
    .action(async (options: SettingsOptions & { role: "all" | "api" | "worker" }) => {
      const { serveCommand } = await import("./serve-command.ts");
      end(await serveCommand(io, options));
    });

  withSettings(program.command("migrate"))
    .description("Bring the database's schema up to date.")
    .action(async (options: SettingsOptions) => {
      const { migrateCommand } = await import("./migrate-command.ts");
      end(await migrateCommand(io, options));
    });

  withSettings(program.command("doctor"))
    .description("Check the settings and what they point to; list every open security control.")
    .option("--json", "Print the findings as JSON.")
    .option("--strict", "Count warnings as failures.")
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

  withSettings(group("config", "Settings of the service, and of a tenant.").command("show"))
    .description("Show every setting with its value and where that came from; secrets are masked.")
    .option("--json", "Print them as JSON.")
    .option("--wide", "Print every value in full.")
    .action(async (options: SettingsOptions & FormOptions) => {
      const { configShowCommand } = await import("./config-show-command.ts");
      end(await configShowCommand(io, options));
    });

  group("audit", "The audit log.")
    .command("verify")
    .description("Check that an audit log is whole and unaltered.")
    .argument("<file>", "The audit log.")
    .option("--json", "Print the verdict as JSON.")
    .action(async (file: string, options: { json?: boolean }) => {
      const { auditVerifyCommand } = await import("./audit-verify-command.ts");
      end(await auditVerifyCommand(io, file, options));
    });

  addProfileCommands(group("profile", "Addresses and keys of services to call."), io);
  addCompletionCommand(program, io);
}
