import { MIN_PER_MINUTE } from "./client/request-limiter.ts";
import { addressProblem, normalizeAddress, tokenProblem } from "./core/addresses.ts";
import { type DatabaseAddress, databaseProblem, readDatabase } from "./core/database-address.ts";
import { type LogLevel, logLevels } from "./core/logger.ts";
import { usableMemoryBytes } from "./core/memory.ts";
import { misspeltVariables } from "./core/names.ts";
import { trimEndOf } from "./core/text.ts";
import { ConfigError } from "./errors.ts";

const deliveryModes = ["auto", "webhook", "polling"] as const;

/** Event source. `auto` uses the webhook and falls back to polling. */
export type DeliveryMode = (typeof deliveryModes)[number];

/**
 * Bot options that override environment variables. Each option has the same format as its variable. Durations are in
 * ms.
 */
export interface ConfigOverrides {
  /**
   * SERVICE_BASE_URL: the platform's URL without `/api/v1`. It may have a path, as in `https://host.example/social`.
   * Required.
   */
  readonly baseUrl?: string;
  /** SERVICE_API_KEY: bearer token. Required. */
  readonly apiKey?: string;
  /**
   * SERVICE_WEBHOOK_SECRET: signing secret, `whsec_…`. During a rotation, list several secrets, newest first:
   * comma-separated in the variable, an array in the option. Required unless `DELIVERY=polling`.
   */
  readonly webhookSecret?: string | readonly string[];
  /**
   * DELIVERY: `auto` (webhook, polling as fallback), `webhook` (no polling) or `polling` (no webhook). Default `auto`.
   */
  readonly delivery?: DeliveryMode;
  /** HOST: address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** PORT: port to listen on, 0 to 65,535; 0 picks a free port. Default `3000`. */
  readonly port?: number;
  /** WEBHOOK_PATH: path of the webhook. Default `/webhook`. */
  readonly webhookPath?: string;
  /**
   * DRAIN_MS: time in ms, 0 to 600,000, during which a stopping bot still accepts deliveries while `/readyz` returns
   * 503. It must be longer than the load balancer's health check interval. No effect with `listen: false`. Default `0`.
   */
  readonly drainMs?: number;
  /**
   * DATABASE_URL: `file:relative`, `file:/absolute`, `file::memory:` for tests, or
   * `postgres://user:password@host:port/database`. Default `file:data/bot.db`.
   */
  readonly databaseUrl?: string;
  /**
   * DATABASE_SCHEMA: PostgreSQL schema, 1 to 63 lower-case letters, digits and `_`; must not begin with a digit or
   * `pg_`. Default `service_bot`.
   */
  readonly databaseSchema?: string;
  /** POLL_INTERVAL_MS: interval between reads of the event log while polling, at least 50. Default `4000`. */
  readonly pollIntervalMs?: number;
  /**
   * AUDIT_INTERVAL_MS: interval between reads of the event log while the webhook is working, at least 50. Default
   * `60000`.
   */
  readonly auditIntervalMs?: number;
  /**
   * SILENCE_MS: how long the webhook may take to deliver a new event before the bot switches to polling, at least 50.
   * The default is 1.5 times the platform's retry interval. Default `45000`.
   */
  readonly silenceMs?: number;
  /** START_FROM: position in the event log at which a new bot starts reading, `now` or `oldest`. Default `now`. */
  readonly startFrom?: "now" | "oldest";
  /** CONCURRENCY: conversations and posts handled at once, per instance, 1 to 10,000. Default `16`. */
  readonly concurrency?: number;
  /** MAX_ATTEMPTS: number of runs before an event becomes a dead letter, 1 to 1,000. Default `8`. */
  readonly maxAttempts?: number;
  /**
   * MAX_BODY_BYTES: maximum size of a delivery's body in bytes, up to 256 MiB. Default: 16 MiB, or 1/32 of available
   * memory, whichever is less.
   */
  readonly maxBodyBytes?: number;
  /**
   * MAX_REQUESTS_PER_MINUTE: maximum number of requests to the platform per 60 s, shared by all instances, 5 to
   * 100,000. Default: no limit.
   */
  readonly maxRequestsPerMinute?: number;
  /**
   * STATUS_TOKEN: bearer token for monitoring, at least 16 characters. It grants access to `/readyz?verbose`, as
   * SERVICE_API_KEY does, and the metrics then require it. Default: none.
   */
  readonly statusToken?: string;
  /** METRICS_PORT: port for Prometheus metrics, 0 to 65,535; 0 picks a free port. Default: no metrics. */
  readonly metricsPort?: number;
  /** METRICS_HOST: address that the metrics port listens on. Default `127.0.0.1`. */
  readonly metricsHost?: string;
  /**
   * LOG_LEVEL: minimum level to log: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Default `info`.
   */
  readonly logLevel?: LogLevel;
  /** TRACING: `on` creates OpenTelemetry spans, for an SDK that `node --import` loads. Default `off`. */
  readonly tracing?: "on" | "off";
}

interface Settings
  extends Required<
    Omit<
      ConfigOverrides,
      | "webhookSecret"
      | "databaseUrl"
      | "maxBodyBytes"
      | "maxRequestsPerMinute"
      | "statusToken"
      | "metricsPort"
    >
  > {
  readonly webhookSecret: readonly string[] | undefined;
  readonly databaseUrl: DatabaseAddress;
  readonly maxBodyBytes: number | undefined;
  readonly maxRequestsPerMinute: number | undefined;
  readonly statusToken: string | undefined;
  readonly metricsPort: number | undefined;
}

/** A bot's configuration. {@link ConfigOverrides} describes each field. */
export interface Config extends Omit<Settings, "webhookSecret" | "databaseUrl" | "maxBodyBytes"> {
  /** All currently valid secrets. Empty only if DELIVERY=polling. */
  readonly webhookSecrets: readonly string[];
  readonly database: DatabaseAddress;
  readonly maxBodyBytes: number;
}

/** Parses a setting's text. `fail` records a problem, worded to follow the variable's name in a sentence. */
type Read<T> = (text: string, fail: (problem: string) => undefined) => T | undefined;

export interface Setting<T> {
  readonly variable: string;
  readonly read: Read<T>;
  /** The default, as text. Absent if the setting is required or `optional`. */
  readonly fallback?: string;
  /** Effect of omitting an optional setting, for the documentation. */
  readonly optional?: string;
}

/** An interval in ms. The maximum, 24 days, is the longest delay that a Node timer supports. */
const interval = integer(50, 2 ** 31 - 1);

/** Longest drain, in ms. A longer drain is probably a mistake. */
const MAX_DRAIN_MS = 600_000;

/** Minimum length after `whsec_`, in characters. A shorter secret has probably been truncated, and could be guessed. */
const MIN_SECRET_LENGTH = 8;

/** Minimum length of STATUS_TOKEN, in characters. A shorter token could be guessed. */
const MIN_STATUS_TOKEN_LENGTH = 16;

/** Largest accepted limit, in bytes. The text of a larger body might exceed V8's maximum string length. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/**
 * Default limit if memory allows, in bytes. Large enough for 50 events of 320 KiB each, or for the 30,000 ordinary
 * events of a round after an outage.
 */
const USUAL_BODY_BYTES = 16 * 1024 * 1024;

/** Smallest default, in bytes, however little memory is available. */
const MIN_DEFAULT_BODY_BYTES = 1024 * 1024;

/**
 * Number of bodies of the default size that fit into the available memory. Parsing a round takes about 12 times its
 * size, on top of the memory that the bot itself uses.
 */
const BODIES_IN_MEMORY = 32;

/**
 * Table of all settings. The environment parser, the option checks, the error messages and
 * docs/reference/configuration.md are derived from it. The page takes its descriptions from {@link ConfigOverrides}.
 */
export const settings: {
  readonly [K in keyof Settings]: Setting<Settings[K]>;
} = {
  baseUrl: { variable: "SERVICE_BASE_URL", read: checked(addressProblem, normalizeAddress) },
  apiKey: { variable: "SERVICE_API_KEY", read: checked(tokenProblem, String) },
  webhookSecret: {
    variable: "SERVICE_WEBHOOK_SECRET",
    read: readSecrets,
    optional: "required unless `DELIVERY=polling`",
  },
  delivery: {
    variable: "DELIVERY",
    read: oneOf(deliveryModes),
    fallback: "auto",
  },
  host: { variable: "HOST", read: String, fallback: "127.0.0.1" },
  port: { variable: "PORT", read: integer(0, 65_535), fallback: "3000" },
  webhookPath: {
    variable: "WEBHOOK_PATH",
    read: checked(pathProblem, withoutSlash),
    fallback: "/webhook",
  },
  drainMs: { variable: "DRAIN_MS", read: integer(0, MAX_DRAIN_MS), fallback: "0" },
  databaseUrl: {
    variable: "DATABASE_URL",
    read: checked(databaseProblem, readDatabase),
    fallback: "file:data/bot.db",
  },
  databaseSchema: {
    variable: "DATABASE_SCHEMA",
    read: checked(schemaProblem, String),
    fallback: "service_bot",
  },
  pollIntervalMs: { variable: "POLL_INTERVAL_MS", read: interval, fallback: "4000" },
  auditIntervalMs: { variable: "AUDIT_INTERVAL_MS", read: interval, fallback: "60000" },
  silenceMs: { variable: "SILENCE_MS", read: interval, fallback: "45000" },
  startFrom: { variable: "START_FROM", read: oneOf(["now", "oldest"]), fallback: "now" },
  concurrency: { variable: "CONCURRENCY", read: integer(1, 10_000), fallback: "16" },
  maxAttempts: { variable: "MAX_ATTEMPTS", read: integer(1, 1_000), fallback: "8" },
  maxBodyBytes: {
    variable: "MAX_BODY_BYTES",
    read: integer(1, MAX_BODY_BYTES),
    optional: "16 MiB, or 1/32 of available memory, whichever is less",
  },
  maxRequestsPerMinute: {
    variable: "MAX_REQUESTS_PER_MINUTE",
    read: integer(MIN_PER_MINUTE, 100_000),
    optional: "no limit",
  },
  statusToken: {
    variable: "STATUS_TOKEN",
    read: checked(statusTokenProblem, String),
    optional: "none",
  },
  metricsPort: {
    variable: "METRICS_PORT",
    read: integer(0, 65_535),
    optional: "no metrics",
  },
  metricsHost: { variable: "METRICS_HOST", read: String, fallback: "127.0.0.1" },
  logLevel: { variable: "LOG_LEVEL", read: oneOf(logLevels), fallback: "info" },
  tracing: { variable: "TRACING", read: oneOf(["on", "off"]), fallback: "off" },
};

export const variables: readonly string[] = Object.values(settings).map(({ variable }) => variable);

/** Variables from earlier versions, with the remedy. */
const removed: Readonly<Record<string, string>> = {
  LOG_SAMPLING: "Remove it. The bot logs a repeated failure only once.",
};

type Environment = Readonly<Record<string, string | undefined>>;

type Option = keyof Settings;

/**
 * Loads the configuration from the options, then the environment, then the defaults. An empty value counts as unset.
 *
 * @throws {ConfigError} CONFIG_INVALID, listing every problem at once and never a secret
 */
export function loadConfig(
  env: Environment,
  overrides: ConfigOverrides = {},
  memoryBytes: number = usableMemoryBytes(),
): Config {
  const isPolling = textOf("delivery", env, overrides) === "polling";
  const all = Object.keys(settings) as Option[];
  const required = isPolling ? undefined : "webhookSecret";
  const { values, problems } = readSettings(all, env, overrides, required);
  const {
    webhookSecret: webhookSecrets = [],
    databaseUrl: database,
    maxBodyBytes = defaultBodyBytes(memoryBytes),
    ...rest
  } = values;
  refuse([...problems, ...misspelt(env, overrides)]);
  return { ...rest, webhookSecrets, database, maxBodyBytes };
}

export function defaultBodyBytes(memoryBytes: number = usableMemoryBytes()): number {
  const share = Math.floor(memoryBytes / BODIES_IN_MEMORY);
  return Math.max(MIN_DEFAULT_BODY_BYTES, Math.min(USUAL_BODY_BYTES, share));
}

/**
 * Returns the removed variables that are still set. They cause only a warning, because an update must not stop a bot.
 */
export function removedVariables(
  env: Environment,
): readonly { readonly variable: string; readonly remedy: string }[] {
  return Object.entries(removed)
    .filter(([variable]) => (env[variable] ?? "").trim() !== "")
    .map(([variable, remedy]) => ({ variable, remedy }));
}

/**
 * Loads only the inbox settings.
 *
 * @throws {ConfigError} CONFIG_INVALID
 */
export function loadDatabase(env: Environment): Pick<Config, "database" | "databaseSchema"> {
  const { databaseUrl: database, databaseSchema } = load(["databaseUrl", "databaseSchema"], env);
  return { database, databaseSchema };
}

/**
 * Loads only the settings for calls to the platform.
 *
 * @throws {ConfigError} CONFIG_INVALID
 */
export function loadPlatform(env: Environment): Pick<Config, "baseUrl" | "apiKey" | "logLevel"> {
  return load(["baseUrl", "apiKey", "logLevel"], env);
}

/**
 * Loads the platform's URL without a token, for tools whose callers supply their own.
 *
 * @throws {ConfigError} CONFIG_INVALID
 */
export function loadPlatformAddress(env: Environment): Pick<Config, "baseUrl" | "logLevel"> {
  return load(["baseUrl", "logLevel"], env);
}

/** @throws {ConfigError} CONFIG_INVALID */
function load<K extends Option>(options: readonly K[], env: Environment): Pick<Settings, K> {
  const { values, problems } = readSettings(options, env);
  refuse(problems);
  return values;
}

/**
 * Parses settings. If there are problems, the values are incomplete and must not be used.
 *
 * @param required an optional setting that this call requires
 */
function readSettings<K extends Option>(
  options: readonly K[],
  env: Environment,
  overrides: ConfigOverrides = {},
  required?: Option,
): { readonly values: Pick<Settings, K>; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const values: Partial<Pick<Settings, K>> = {};
  for (const option of options) {
    const { variable, read, fallback, optional }: Setting<Settings[K]> = settings[option];
    const text = textOf(option, env, overrides) ?? fallback;
    if (text === undefined) {
      if (optional === undefined || option === required) problems.push(`${variable} is missing`);
      continue;
    }
    const value = read(text, (problem) => void problems.push(`${variable} ${problem}`));
    if (value !== undefined) values[option] = value;
  }
  return { values: values as Pick<Settings, K>, problems };
}

/** Returns the text of an option or, if the option is empty, of its variable. */
function textOf(option: Option, env: Environment, overrides: ConfigOverrides): string | undefined {
  return [overrides[option], env[settings[option].variable]]
    .map((value) => String(value ?? "").trim())
    .find((text) => text !== "");
}

/** Reports misspelt variables, which would otherwise silently leave the default in place. */
function misspelt(env: Environment, overrides: ConfigOverrides): string[] {
  const options = Object.keys(settings) as Option[];
  const isSet = (name: string) =>
    options.some(
      (one) => settings[one].variable === name && textOf(one, env, overrides) !== undefined,
    );
  return misspeltVariables(env, variables, isSet).map(
    ({ name, meant }) => `unknown variable ${name} (did you mean ${meant}?)`,
  );
}

/** @throws {ConfigError} CONFIG_INVALID if there is a problem */
function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigError(problems);
}

function oneOf<const T extends string>(values: readonly T[]): Read<T> {
  return (text, fail) =>
    values.find((known) => known === text) ??
    fail(`must be one of ${values.join(", ")} (got "${text}")`);
}

function integer(min: number, max: number): Read<number> {
  return (text, fail) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    return fail(`must be a whole number from ${min} to ${max} (got "${text}")`);
  };
}

function checked<T>(
  problemOf: (text: string) => string | undefined,
  read: (text: string) => T,
): Read<T> {
  return (text, fail) => {
    const problem = problemOf(text);
    return problem === undefined ? read(text) : fail(problem);
  };
}

function readSecrets(text: string, fail: (problem: string) => undefined): readonly string[] {
  const values = text
    .split(",")
    .map((secret) => secret.trim())
    .filter((secret) => secret !== "");
  if (values.length === 0) fail("contains no secret");
  for (const value of values) {
    const rest = value.startsWith("whsec_") ? value.slice("whsec_".length) : undefined;
    if (rest === undefined) {
      fail(`must begin with whsec_ (got ${value.length} other characters)`);
    } else if (rest.length < MIN_SECRET_LENGTH) {
      fail(`is too short: only ${rest.length} characters follow whsec_`);
    }
  }
  return values;
}

function statusTokenProblem(text: string): string | undefined {
  const isShort = text.length < MIN_STATUS_TOKEN_LENGTH;
  return (
    tokenProblem(text) ??
    (isShort ? `must have at least ${MIN_STATUS_TOKEN_LENGTH} characters` : undefined)
  );
}

function pathProblem(text: string): string | undefined {
  return /^\/[\x21-\x7e]*$/.test(text) && !/[?#]/.test(text)
    ? undefined
    : "must be a path such as /webhook, without a query";
}

/** Removes trailing slashes, because routing ignores them: `/webhook/` equals `/webhook`. */
function withoutSlash(path: string): string {
  return path.charAt(0) + trimEndOf(path.slice(1), "/");
}

/** Accepts names that PostgreSQL allows without quotes and does not reserve. */
function schemaProblem(text: string): string | undefined {
  return /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(text)
    ? undefined
    : "must be 1 to 63 lower-case letters, digits and _, and must not begin with a digit or pg_";
}
