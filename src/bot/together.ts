import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { showDatabase } from "../core/database-address.ts";
import { ConfigError } from "../errors.ts";
import type { StartOptions } from "../options.ts";
import { exitWith, type Lifecycle } from "./lifecycle.ts";

export async function startTogether(
  bots: readonly Lifecycle[],
  options: StartOptions,
): Promise<void> {
  const { listen = true, standalone = listen } = options;
  const problems = problemsOf(bots, listen);
  if (problems.length > 0) {
    const error = new ConfigError(problems);
    if (standalone) return await exitWith(error);
    throw error;
  }
  try {
    for (const bot of bots) await bot.start(options);
  } catch (error) {
    await Promise.allSettled(bots.map((bot) => bot.stop()));
    throw error;
  }
}

interface Configured {
  readonly name: string;
  readonly config: Config;
}

function problemsOf(bots: readonly Lifecycle[], listen: boolean): string[] {
  if (bots.length < 2) return [];
  const unnamed = bots.filter(({ name }) => name === undefined).length;
  if (unnamed > 0)
    return ["name is missing; every bot in a shared process needs a name for its log lines"];
  const configured = bots.flatMap((bot) => readConfig(bot));
  return [
    ...shared(configured, "name: ", ({ name }) => name),
    ...(listen ? shared(configured, "PORT: ", ({ config }) => addressOf(config)) : []),
    ...shared(configured, "METRICS_PORT: ", ({ config }) => portOf(config.metricsPort)),
    ...shared(configured, "DATABASE_URL: ", ({ config }) => inboxOf(config)),
  ];
}

/** Skips a bot with an invalid configuration, because the bot reports the error when it starts. */
function readConfig(bot: Lifecycle): readonly Configured[] {
  try {
    return [{ name: bot.name ?? "", config: bot.config }];
  } catch {
    return [];
  }
}

function shared(
  bots: readonly Configured[],
  setting: string,
  read: (bot: Configured) => string | undefined,
): string[] {
  return [...Map.groupBy(bots, read)].flatMap(([value, group]) => {
    if (value === undefined || group.length < 2) return [];
    const names = group.map(({ name }) => `"${name}"`);
    return [`${setting}bots ${names.join(" and ")} share ${value}; give each its own`];
  });
}

/** `undefined` for port 0, because each bot gets its own free port. */
function addressOf({ host, port }: Config): string | undefined {
  return port === 0 ? undefined : `${host}:${port}`;
}

function portOf(port: number | undefined): string | undefined {
  return port ? String(port) : undefined;
}

function inboxOf({ database, databaseSchema }: Config): string | undefined {
  if (database.kind === "postgres") return `${showDatabase(database)} (${databaseSchema})`;
  return database.file === ":memory:" ? undefined : resolve(database.file);
}
