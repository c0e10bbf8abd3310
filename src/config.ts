import { addressProblem, normalizeAddress, tokenProblem } from "./core/access.ts";
import { type DatabaseAddress, databaseProblem, readDatabase } from "./core/database-address.ts";
import { type LogLevel, logLevels } from "./core/logger.ts";
import { misspeltVariables } from "./core/misspelt-variables.ts";
import * as z from "./core/zod.ts";
import { ConfigError } from "./errors.ts";

/** How events reach the bot: `auto` is the webhook with polling as its fallback. */
export type DeliveryMode = "auto" | "webhook" | "polling";

/** Everything that the environment of a bot can set. Durations are milliseconds. */
export interface Config {
  /** SERVICE_BASE_URL: address of the platform, without `/api/v1` and a slash at its end. */
  readonly baseUrl: string;
  /** SERVICE_API_KEY: the bearer token. */
  readonly apiKey: string;
  /** SERVICE_WEBHOOK_SECRET: every secret that is valid now; empty only with delivery `polling`. */
  readonly webhookSecrets: readonly string[];
  /** DELIVERY, default `auto`. */
  readonly delivery: DeliveryMode;
  /** HOST, default 127.0.0.1. */
  readonly host: string;
  /** PORT, default 3000; 0 takes a free one. */
  readonly port: number;
  /** WEBHOOK_PATH, default `/webhook`. */
  readonly webhookPath: string;
  /** DATABASE_URL, default the file `data/bot.db`. */
  readonly database: DatabaseAddress;
  /** DATABASE_SCHEMA, default `service_bot`: where the tables are in PostgreSQL. */
  readonly databaseSchema: string;
  /** POLL_INTERVAL_MS, default 4000: between two reads of the log while polling. */
  readonly pollIntervalMs: number;
  /** AUDIT_INTERVAL_MS, default 60,000: between two reads while the webhook is healthy. */
  readonly auditIntervalMs: number;
  /** SILENCE_MS, default 45,000: how long the webhook may take to bring an event. */
  readonly silenceMs: number;
  /** START_FROM, default `now`: where the first start begins in the log. */
  readonly startFrom: "now" | "oldest";
  /** CONCURRENCY, default 16: conversations and posts handled at once. */
  readonly concurrency: number;
  /** MAX_ATTEMPTS, default 8: then an event goes to the dead letters. */
  readonly maxAttempts: number;
  /** MAX_BODY_BYTES, default 16 MiB: the largest body of a delivery. */
  readonly maxBodyBytes: number;
  /** MAX_REQUESTS_PER_MINUTE: at most so many requests to the platform in any 60 s; no limit by default. */
  readonly maxRequestsPerMinute: number | undefined;
  /** METRICS_PORT: where Prometheus finds the metrics; 0 takes a free one. No metrics by default. */
  readonly metricsPort: number | undefined;
  /** METRICS_HOST, default 127.0.0.1: the address that port is on. */
  readonly metricsHost: string;
  /** LOG_LEVEL, default `info`. */
  readonly logLevel: LogLevel;
  /** TRACING, default `off`: spans for OpenTelemetry. */
  readonly tracing: "on" | "off";
}

/** Options of a bot that stand in for the environment, each with the form its variable has. */
export interface ConfigOverrides {
  /** SERVICE_BASE_URL: address of the platform, without `/api/v1`; it may have a path. Required, here or in the environment. */
  readonly baseUrl?: string;
  /** SERVICE_API_KEY: the bearer token. Required, here or in the environment. */
  readonly apiKey?: string;
  /** SERVICE_WEBHOOK_SECRET: one secret, or several during a rotation. Required unless polling. */
  readonly webhookSecret?: string | readonly string[];
  /** DELIVERY. Default `auto`: the webhook, with polling as the fallback. */
  readonly delivery?: DeliveryMode;
  /** HOST: listening address. Default 127.0.0.1. */
  readonly host?: string;
  /** PORT, 0 to 65,535; 0 takes a free one. Default 3000. */
  readonly port?: number;
  /** WEBHOOK_PATH. Default `/webhook`. */
  readonly webhookPath?: string;
  /** DATABASE_URL: `file:relative`, `file:/absolute`, `file::memory:` or `postgres://…`. Default `file:data/bot.db`. */
  readonly databaseUrl?: string;
  /** DATABASE_SCHEMA: where the tables are in PostgreSQL. Default `service_bot`. */
  readonly databaseSchema?: string;
  /** POLL_INTERVAL_MS: between two reads of the log while polling, from 50 ms up. Default 4,000. */
  readonly pollIntervalMs?: number;
  /** AUDIT_INTERVAL_MS: between two reads while the webhook is healthy, from 50 ms up. Default 60,000. */
  readonly auditIntervalMs?: number;
  /** SILENCE_MS: how long the webhook may take to bring an event that the log has, from 50 ms up. Default 45,000. */
  readonly silenceMs?: number;
  /** START_FROM: where the first start begins in the log. Default `now`. */
  readonly startFrom?: "now" | "oldest";
  /** CONCURRENCY: lanes handled at once by each instance, 1 to 10,000. Default 16. */
  readonly concurrency?: number;
  /** MAX_ATTEMPTS, 1 to 1,000: then an event goes to the dead letters. Default 8. */
  readonly maxAttempts?: number;
  /** MAX_BODY_BYTES: the largest body of a delivery, 1 to 268,435,456 bytes. Default 16,777,216. */
  readonly maxBodyBytes?: number;
  /** MAX_REQUESTS_PER_MINUTE: requests to the platform in any 60 s, divided among instances, 5 to 100,000. No limit by default. */
  readonly maxRequestsPerMinute?: number;
  /** METRICS_PORT, 0 to 65,535: where Prometheus finds the metrics; 0 takes a free one. No metrics by default. */
  readonly metricsPort?: number;
  /** METRICS_HOST: the address that port is on. Default 127.0.0.1. */
  readonly metricsHost?: string;
  /** LOG_LEVEL. Default `info`. */
  readonly logLevel?: LogLevel;
  /** `on` makes spans, through the package `@opentelemetry/api`. */
  readonly tracing?: "on" | "off";
}

/** The environment's variables by the option that stands in for each. */
export const variables: { readonly [K in keyof ConfigOverrides]-?: string } = {
  baseUrl: "SERVICE_BASE_URL",
  apiKey: "SERVICE_API_KEY",
  webhookSecret: "SERVICE_WEBHOOK_SECRET",
  delivery: "DELIVERY",
  host: "HOST",
  port: "PORT",
  webhookPath: "WEBHOOK_PATH",
  databaseUrl: "DATABASE_URL",
  databaseSchema: "DATABASE_SCHEMA",
  pollIntervalMs: "POLL_INTERVAL_MS",
  auditIntervalMs: "AUDIT_INTERVAL_MS",
  silenceMs: "SILENCE_MS",
  startFrom: "START_FROM",
  concurrency: "CONCURRENCY",
  maxAttempts: "MAX_ATTEMPTS",
  maxBodyBytes: "MAX_BODY_BYTES",
  maxRequestsPerMinute: "MAX_REQUESTS_PER_MINUTE",
  metricsPort: "METRICS_PORT",
  metricsHost: "METRICS_HOST",
  logLevel: "LOG_LEVEL",
  tracing: "TRACING",
};

/**
 * The smallest budget of requests that a bot can work with: an audit that finds something is two, and an
 * answer that begins with reading the conversation two or three.
 */
const LEAST_REQUESTS = 5;

/**
 * In bytes. The platform document bounds neither a round nor a text. A page of 50 events fits with 320 KiB for each, and
 * so does a round of 30,000 ordinary events after an outage.
 */
const DEFAULT_BODY_BYTES = 16 * 1024 * 1024;

/** In bytes. The text of a larger body may not fit into a string of V8. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

const DATABASE: DatabaseAddress = { kind: "sqlite", file: "data/bot.db" };

const DATABASE_SCHEMA = "service_bot";

/**
 * Reads the configuration: options first, then the environment, then the defaults.
 * What is set to nothing counts as not set.
 *
 * @throws {ConfigError} CONFIG_INVALID with every problem at once; values of secrets are never in it
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides = {},
): Config {
  const read = readerOf(env, overrides);
  const delivery = read.value("delivery", oneOf(["auto", "webhook", "polling"]), "auto");
  const config: Config = {
    baseUrl: read.value("baseUrl", address),
    apiKey: read.value("apiKey", token),
    webhookSecrets: read.value("webhookSecret", secrets, delivery === "polling" ? [] : undefined),
    delivery,
    host: read.value("host", z.string(), "127.0.0.1"),
    port: read.value("port", integer(0, 65_535), 3000),
    webhookPath: read.value("webhookPath", path, "/webhook"),
    ...readDatabaseFrom(read),
    pollIntervalMs: read.value("pollIntervalMs", interval, 4_000),
    auditIntervalMs: read.value("auditIntervalMs", interval, 60_000),
    silenceMs: read.value("silenceMs", interval, 45_000),
    startFrom: read.value("startFrom", oneOf(["now", "oldest"]), "now"),
    concurrency: read.value("concurrency", integer(1, 10_000), 16),
    maxAttempts: read.value("maxAttempts", integer(1, 1_000), 8),
    maxBodyBytes: read.value("maxBodyBytes", integer(1, MAX_BODY_BYTES), DEFAULT_BODY_BYTES),
    maxRequestsPerMinute: read.optional("maxRequestsPerMinute", integer(LEAST_REQUESTS, 100_000)),
    metricsPort: read.optional("metricsPort", integer(0, 65_535)),
    metricsHost: read.value("metricsHost", z.string(), "127.0.0.1"),
    logLevel: read.value("logLevel", oneOf(logLevels), "info"),
    tracing: read.value("tracing", oneOf(["on", "off"]), "off"),
  };
  const problems = [...read.problems, ...misspelt(env, overrides)];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** A misspelt variable would silently leave its default in place. */
function misspelt(
  env: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides,
): string[] {
  const options = Object.keys(variables) as (keyof ConfigOverrides)[];
  const isSet = (name: string) =>
    options.some((one) => variables[one] === name && textOf(env, overrides, one) !== undefined);
  return misspeltVariables(env, Object.values(variables), isSet).map(
    ({ name, meant }) => `${name} is not a variable of the bot (did you mean ${meant}?)`,
  );
}

type DatabaseConfig = Pick<Config, "database" | "databaseSchema">;

/**
 * Where the inbox is, for tools that need nothing else.
 *
 * @throws {ConfigError} CONFIG_INVALID
 */
export function loadDatabase(env: Readonly<Record<string, string | undefined>>): DatabaseConfig {
  const read = readerOf(env, {});
  const config = readDatabaseFrom(read);
  if (read.problems.length > 0) throw new ConfigError(read.problems);
  return config;
}

/**
 * How the platform is reached, for tools that are no bot.
 *
 * @throws {ConfigError} CONFIG_INVALID
 */
export function loadPlatform(
  env: Readonly<Record<string, string | undefined>>,
): Pick<Config, "baseUrl" | "apiKey" | "logLevel"> {
  const read = readerOf(env, {});
  const config = { ...readPlatformFrom(read), apiKey: read.value("apiKey", token) };
  if (read.problems.length > 0) throw new ConfigError(read.problems);
  return config;
}

/**
 * The same for a tool that each of its callers brings a token to.
 *
 * @throws {ConfigError} CONFIG_INVALID
 */
export function loadPlatformAddress(
  env: Readonly<Record<string, string | undefined>>,
): Pick<Config, "baseUrl" | "logLevel"> {
  const read = readerOf(env, {});
  const config = readPlatformFrom(read);
  if (read.problems.length > 0) throw new ConfigError(read.problems);
  return config;
}

function readPlatformFrom(read: Reader): Pick<Config, "baseUrl" | "logLevel"> {
  return {
    baseUrl: read.value("baseUrl", address),
    logLevel: read.value("logLevel", oneOf(logLevels), "info"),
  };
}

function readDatabaseFrom(read: Reader): DatabaseConfig {
  return {
    database: read.value("databaseUrl", database, DATABASE),
    databaseSchema: read.value("databaseSchema", schemaName, DATABASE_SCHEMA),
  };
}

function readerOf(
  env: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides,
): Reader {
  return new Reader((option) => textOf(env, overrides, option));
}

/** The text of an option, or of its variable; `undefined` if neither is set to anything. */
function textOf(
  env: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides,
  option: keyof ConfigOverrides,
): string | undefined {
  const values = [overrides[option], env[variables[option]]].map((value) =>
    String(value ?? "").trim(),
  );
  return values.find((value) => value !== "");
}

/** Reads one option after the other and keeps every problem, so that all are told at once. */
class Reader {
  readonly problems: string[] = [];
  readonly #text: (option: keyof ConfigOverrides) => string | undefined;

  constructor(text: (option: keyof ConfigOverrides) => string | undefined) {
    this.#text = text;
  }

  /** The value, or the fallback. After a problem the result is of no use and is never handed out. */
  value<T>(option: keyof ConfigOverrides, schema: z.ZodType<T, string>, fallback?: T): T {
    const text = this.#text(option);
    if (text === undefined) {
      if (fallback === undefined) this.problems.push(`${variables[option]} is missing`);
      return fallback as T;
    }
    return this.#parse(option, schema, text) ?? (fallback as T);
  }

  /** The value; undefined where there is none. */
  optional<T>(option: keyof ConfigOverrides, schema: z.ZodType<T, string>): T | undefined {
    const text = this.#text(option);
    return text === undefined ? undefined : this.#parse(option, schema, text);
  }

  #parse<T>(
    option: keyof ConfigOverrides,
    schema: z.ZodType<T, string>,
    text: string,
  ): T | undefined {
    const result = schema.safeParse(text);
    if (result.success) return result.data;
    for (const { message } of result.error.issues) {
      this.problems.push(`${variables[option]} ${message}`);
    }
    return undefined;
  }
}

function oneOf<const T extends string>(values: readonly T[]): z.ZodType<T, string> {
  return z.string().transform((text, context) => {
    const value = values.find((known) => known === text);
    if (value !== undefined) return value;
    context.addIssue(`must be one of ${values.join(", ")} (got "${text}")`);
    return z.NEVER;
  });
}

function integer(min: number, max: number): z.ZodType<number, string> {
  return z.string().transform((text, context) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    context.addIssue(`must be a whole number from ${min} to ${max} (got "${text}")`);
    return z.NEVER;
  });
}

/** Milliseconds; 24 days is the longest that a timer takes. */
const interval = integer(50, 2 ** 31 - 1);

const token = checked(tokenProblem);

/** Fewer characters after `whsec_` are a slip of the clipboard, and could be guessed. */
const SHORTEST_SECRET = 8;

const secrets: z.ZodType<readonly string[], string> = z.string().transform((text, context) => {
  const values = text
    .split(",")
    .map((secret) => secret.trim())
    .filter((secret) => secret !== "");
  if (values.length === 0) context.addIssue("holds no secret");
  for (const value of values) {
    const rest = value.startsWith("whsec_") ? value.slice("whsec_".length) : undefined;
    if (rest === undefined) {
      context.addIssue(`must begin with whsec_ (got ${value.length} other characters)`);
    } else if (rest.length < SHORTEST_SECRET) {
      context.addIssue(`is cut off: only ${rest.length} characters follow whsec_`);
    }
  }
  return values;
});

/** A slash at the end is dropped, as it is from requests: `/webhook/` and `/webhook` are one. */
const path: z.ZodType<string, string> = z
  .string()
  .refine((text) => /^\/[\x21-\x7e]*$/.test(text) && !/[?#]/.test(text), {
    error: "must be a path such as /webhook, without query",
  })
  .transform((text) => text.replace(/(?<=.)\/+$/, ""));

const address: z.ZodType<string, string> = checked(addressProblem).transform((text) =>
  URL.canParse(text) ? normalizeAddress(text) : "",
);

function checked(problemOf: (text: string) => string | undefined): z.ZodType<string, string> {
  return z.string().superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem !== undefined) context.addIssue(problem);
  });
}

const database: z.ZodType<DatabaseAddress, string> =
  checked(databaseProblem).transform(readDatabase);

/** As PostgreSQL takes it without quotes, and none of its own. */
const schemaName: z.ZodType<string, string> = checked((text) =>
  /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(text)
    ? undefined
    : "must be a name of lower-case letters, digits and _, of 63 at most, that does not begin with pg_",
);
