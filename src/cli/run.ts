import { maxOf } from "../core/extremes.ts";
import { fill } from "../core/fill.ts";
import { version } from "../core/manifest.ts";
import { printable, showError } from "../core/safe-text.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import { type Command, CommandError, ownCommand, UsageError } from "./command.ts";
import { dev } from "./dev/dev.ts";
import { doctor } from "./doctor/doctor.ts";
import { inbox } from "./inbox/inbox.ts";
import { optionalCommands } from "./optional-commands.ts";
import { print, printError } from "./output.ts";
import { platform } from "./platform.ts";
import { trigger } from "./trigger/trigger.ts";

export const commands: Readonly<Record<string, Command>> = {
  dev,
  platform,
  trigger,
  inbox,
  doctor,
  ...optionalCommands,
};

/** Runs `service-bot`. Resolves with the exit code: 0 for success, 2 for wrong usage, 1 for any other failure. */
export async function run(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--version" || name === "-v") return succeed(version());
  if (name === undefined || name === "help" || name === "--help" || name === "-h")
    return succeed(help());
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const { message } = UsageError.unknown("command", name, Object.keys(commands));
    return fail(2, `${printable(message)}\nRun \`${ownCommand()} --help\` to list the commands.`);
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    const { summary, usage, details } = command;
    const title = fill("", `${summary}.`);
    return succeed([title, `Usage: ${ownCommand()} ${usage}`, details].join("\n\n"));
  }
  try {
    return await command.run(rest);
  } catch (error) {
    if (error instanceof UsageError) {
      const help = `Run \`${ownCommand()} ${name} --help\` for usage.`;
      return fail(2, `${printable(error.message)}\n${help}`);
    }
    if (error instanceof CommandError) return fail(error.exitCode, error.message);
    if (error instanceof ServiceBotError) {
      // The message has one problem per line.
      if (error.code === "CONFIG_INVALID") return fail(2, error.message);
      return fail(1, printable(error.message));
    }
    return fail(1, showError(error).stack ?? messageOf(error));
  }
}

function help(): string {
  const width = maxOf(Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) =>
    fill(`  ${name.padEnd(width)}  `, summary),
  );
  return [
    `service-bot ${version()}`,
    `Usage: ${ownCommand()} COMMAND [flags]`,
    lines.join("\n"),
    `Run \`${ownCommand()} COMMAND --help\` to list its flags.`,
  ].join("\n\n");
}

function succeed(text: string): number {
  print(text);
  return 0;
}

function fail(code: number, text: string): number {
  printError(text);
  return code;
}
