import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  type Config,
  type ConfigOverrides,
  loadConfig,
  loadDatabase,
  removedVariables,
  variables,
} from "./faces/bot.ts";
import { ConfigError } from "./faces/errors.ts";

type Env = Readonly<Record<string, string | undefined>>;

const required = {
  SERVICE_BASE_URL: "https://platform.example",
  SERVICE_API_KEY: "key-of-this-test",
  SERVICE_WEBHOOK_SECRET: "whsec_of_this_test",
};

const MIB = 1024 * 1024;

function load(env: Env = {}, overrides: ConfigOverrides = {}): Config {
  return loadConfig({ ...required, ...env }, overrides, Number.POSITIVE_INFINITY);
}

function errorOf(env: Env, overrides: ConfigOverrides = {}): ConfigError {
  try {
    loadConfig(env, overrides);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("this configuration is good");
}

function problemsOf(env: Env, overrides: ConfigOverrides = {}): readonly string[] {
  return errorOf({ ...required, ...env }, overrides).problems;
}

describe("a misspelt variable", () => {
  test("is a problem, with a suggested variable", () => {
    expect(problemsOf({ CONCURENCY: "3" })).toEqual([
      "unknown variable CONCURENCY (did you mean CONCURRENCY?)",
    ]);
  });

  test("is reported with every other problem, without its value", () => {
    const error = errorOf({ SERVICE_API_KEYS: "PRIVATE-TOKEN", PORT: "eighty", MAX_ATEMPTS: "3" });
    expect(error.problems).toEqual(
      expect.arrayContaining([
        "SERVICE_API_KEY is missing",
        expect.stringMatching(/^PORT must be/),
        expect.stringMatching(/SERVICE_API_KEYS .*SERVICE_API_KEY\?/),
        expect.stringMatching(/MAX_ATEMPTS .*MAX_ATTEMPTS\?/),
      ]),
    );
    expect(error.message).not.toContain("PRIVATE-TOKEN");
  });

  test("is none of the bot's where an option or a variable has the value that it seems to be for", () => {
    expect(load({ LOGLEVEL: "x" }, { logLevel: "warn" }).logLevel).toBe("warn");
    expect(load({ LOGLEVEL: "x", LOG_LEVEL: "error" }).logLevel).toBe("error");
  });

  test("does not keep a tool from the database, which needs no other variable", () => {
    expect(loadDatabase({ CONCURENCY: "3" }).databaseSchema).toBe("service_bot");
  });
});

test.each(["on", "off"])("LOG_SAMPLING=%s, which is no longer read, stops no bot", (value) => {
  expect(load({ LOG_SAMPLING: value })).toEqual(load());
  expect(removedVariables({ LOG_SAMPLING: value })).toEqual([
    { variable: "LOG_SAMPLING", remedy: expect.stringContaining("Remove it") },
  ]);
  expect(removedVariables({ LOG_SAMPLING: " " })).toEqual([]);
});

describe("defaults", () => {
  test("are those of the documentation", () => {
    expect(load()).toEqual({
      baseUrl: "https://platform.example",
      apiKey: "key-of-this-test",
      webhookSecrets: ["whsec_of_this_test"],
      delivery: "auto",
      host: "127.0.0.1",
      port: 3000,
      webhookPath: "/webhook",
      drainMs: 0,
      database: { kind: "sqlite", file: "data/bot.db" },
      databaseSchema: "service_bot",
      pollIntervalMs: 4_000,
      auditIntervalMs: 60_000,
      silenceMs: 45_000,
      startFrom: "now",
      concurrency: 16,
      maxAttempts: 8,
      maxBodyBytes: 16_777_216,
      maxRequestsPerMinute: undefined,
      statusToken: undefined,
      metricsPort: undefined,
      metricsHost: "127.0.0.1",
      logLevel: "info",
      tracing: "off",
    } satisfies Config);
  });

  test("replace empty variables", () => {
    const names = variables.filter((name) => !(name in required));
    for (const nothing of ["", "  ", "\t", undefined]) {
      expect(load(Object.fromEntries(names.map((name) => [name, nothing])))).toEqual(load());
    }
  });

  test.each([
    [Number.POSITIVE_INFINITY, 16],
    [512, 16],
    [256, 8],
    [128, 4],
    [16, 1],
  ])("the largest body follows the memory: %i MiB, %i MiB", (memory, body) => {
    const memoryBytes = memory * MIB;
    expect(loadConfig(required, {}, memoryBytes).maxBodyBytes).toBe(body * MIB);
    const env = { ...required, MAX_BODY_BYTES: "20000000" };
    expect(loadConfig(env, {}, memoryBytes).maxBodyBytes).toBe(20_000_000);
  });

  test.each([undefined, "", "  "])(
    "there is none for what only the portal knows: %j",
    (nothing) => {
      const names = Object.keys(required);
      expect(errorOf(Object.fromEntries(names.map((name) => [name, nothing]))).problems).toEqual(
        names.map((name) => `${name} is missing`),
      );
    },
  );
});

describe("each variable is read", () => {
  test.each<[string, string, Partial<Config>]>([
    ["SERVICE_BASE_URL", "http://127.0.0.1:4400", { baseUrl: "http://127.0.0.1:4400" }],
    ["SERVICE_BASE_URL", "https://platform.example/", { baseUrl: "https://platform.example" }],
    ["SERVICE_BASE_URL", "https://a.example/social/", { baseUrl: "https://a.example/social" }],
    ["SERVICE_BASE_URL", " https://platform.example ", { baseUrl: "https://platform.example" }],
    ["SERVICE_API_KEY", "~!k", { apiKey: "~!k" }],
    ["DELIVERY", "auto", { delivery: "auto" }],
    ["DELIVERY", "webhook", { delivery: "webhook" }],
    ["DELIVERY", "polling", { delivery: "polling" }],
    ["HOST", "0.0.0.0", { host: "0.0.0.0" }],
    ["HOST", "::1", { host: "::1" }],
    ["PORT", "0", { port: 0 }],
    ["PORT", "65535", { port: 65_535 }],
    ["WEBHOOK_PATH", "/", { webhookPath: "/" }],
    ["WEBHOOK_PATH", "/hooks/service-bot", { webhookPath: "/hooks/service-bot" }],
    ...["other/bot.db", "/var/lib/bot.db", ":memory:"].map(
      (file): [string, string, Partial<Config>] => [
        "DATABASE_URL",
        `file:${file}`,
        { database: { kind: "sqlite", file } },
      ],
    ),
    ...[
      "postgres://localhost/bot",
      "postgresql://me:p%40ss@db.example:6432/bot?sslmode=require",
      "postgres:///bot?host=/var/run/postgresql",
    ].map((url): [string, string, Partial<Config>] => [
      "DATABASE_URL",
      url,
      { database: { kind: "postgres", url } },
    ]),
    ["DATABASE_SCHEMA", "bot_2", { databaseSchema: "bot_2" }],
    ["POLL_INTERVAL_MS", "50", { pollIntervalMs: 50 }],
    ["AUDIT_INTERVAL_MS", "50", { auditIntervalMs: 50 }],
    ["SILENCE_MS", "50", { silenceMs: 50 }],
    ["SILENCE_MS", "2147483647", { silenceMs: 2_147_483_647 }],
    ["DRAIN_MS", "600000", { drainMs: 600_000 }],
    ["START_FROM", "oldest", { startFrom: "oldest" }],
    ["START_FROM", "now", { startFrom: "now" }],
    ["CONCURRENCY", "1", { concurrency: 1 }],
    ["MAX_ATTEMPTS", "1", { maxAttempts: 1 }],
    ["MAX_ATTEMPTS", "1000", { maxAttempts: 1_000 }],
    ["MAX_REQUESTS_PER_MINUTE", "5", { maxRequestsPerMinute: 5 }],
    ["MAX_REQUESTS_PER_MINUTE", "100000", { maxRequestsPerMinute: 100_000 }],
    ["STATUS_TOKEN", "x".repeat(16), { statusToken: "x".repeat(16) }],
    ["METRICS_PORT", "0", { metricsPort: 0 }],
    ["METRICS_PORT", "9464", { metricsPort: 9_464 }],
    ["METRICS_HOST", "0.0.0.0", { metricsHost: "0.0.0.0" }],
    ...(["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const).map(
      (logLevel): [string, string, Partial<Config>] => ["LOG_LEVEL", logLevel, { logLevel }],
    ),
  ])("%s=%s", (name, value, expected) => {
    expect(load({ [name]: value })).toEqual({ ...load(), ...expected });
  });

  test("a slash at the end of WEBHOOK_PATH is dropped, as it is from requests", () => {
    expect(load({ WEBHOOK_PATH: "/hook/" }).webhookPath).toBe("/hook");
  });
});

describe("an invalid value is reported by the variable's name", () => {
  test.each<[string, string]>([
    ["SERVICE_BASE_URL", "platform.example"],
    ["SERVICE_BASE_URL", "ftp://platform.example"],
    ["SERVICE_BASE_URL", "https://platform.example/api/v1"],
    ["SERVICE_BASE_URL", "https://platform.example/social/api/v1/"],
    ["SERVICE_BASE_URL", "https://platform.example/?a=b"],
    ["SERVICE_BASE_URL", "https://platform.example/#there"],
    ["SERVICE_BASE_URL", "https://me:pass@platform.example"],
    ["SERVICE_API_KEY", "two words"],
    ["SERVICE_API_KEY", "line\nbreak"],
    ["SERVICE_API_KEY", "schlüssel"],
    ["SERVICE_WEBHOOK_SECRET", "not-a-secret-at-all"],
    ["SERVICE_WEBHOOK_SECRET", "whsec_"],
    ["SERVICE_WEBHOOK_SECRET", "whsec_short"],
    ["SERVICE_WEBHOOK_SECRET", "WHSEC_of_this_test"],
    ["SERVICE_WEBHOOK_SECRET", ",,"],
    ["SERVICE_WEBHOOK_SECRET", "whsec_of_this_test,other"],
    ["DELIVERY", "push"],
    ["DELIVERY", "AUTO"],
    ["PORT", "65536"],
    ["DRAIN_MS", "600001"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ["PORT", "http"],
    ["PORT", "0x50"],
    ["PORT", "1e3"],
    ["WEBHOOK_PATH", "webhook"],
    ["WEBHOOK_PATH", "/webhook?x=1"],
    ["WEBHOOK_PATH", "/webhook#x"],
    ["WEBHOOK_PATH", "/web hook"],
    ["WEBHOOK_PATH", "https://bot.example/webhook"],
    ["DATABASE_URL", "data/bot.db"],
    ["DATABASE_URL", "file:"],
    ["DATABASE_URL", "file:///var/lib/bot.db"],
    ["DATABASE_URL", "mysql://localhost/bot"],
    ["DATABASE_URL", "postgres://localhost"],
    ["DATABASE_URL", "postgres://localhost/"],
    ["DATABASE_URL", "postgres:///bot"],
    ["DATABASE_URL", "postgres://me:p@ss/word@localhost/bot"],
    ["DATABASE_URL", "postgres://me:50%@localhost/bot"],
    ["DATABASE_URL", "postgresql://localhost/bot?sslmode=maybe"],
    ["DATABASE_SCHEMA", "Bot"],
    ["DATABASE_SCHEMA", "pg_bot"],
    ["DATABASE_SCHEMA", 'bot"; DROP SCHEMA public; --'],
    ["DATABASE_SCHEMA", "a".repeat(64)],
    ["POLL_INTERVAL_MS", "49"],
    ["POLL_INTERVAL_MS", "4s"],
    ["POLL_INTERVAL_MS", "2147483648"],
    ["AUDIT_INTERVAL_MS", "49"],
    ["SILENCE_MS", "49"],
    ["START_FROM", "yesterday"],
    ["CONCURRENCY", "0"],
    ["MAX_ATTEMPTS", "0"],
    ["MAX_BODY_BYTES", "0"],
    ["MAX_BODY_BYTES", "1.5"],
    ["MAX_BODY_BYTES", "16M"],
    ["MAX_BODY_BYTES", "268435457"],
    ["MAX_REQUESTS_PER_MINUTE", "4"],
    ["MAX_REQUESTS_PER_MINUTE", "100001"],
    ["MAX_REQUESTS_PER_MINUTE", "60/min"],
    ["STATUS_TOKEN", "x".repeat(15)],
    ["STATUS_TOKEN", "a token with spaces"],
    ["METRICS_PORT", "65536"],
    ["METRICS_PORT", "on"],
    ["LOG_LEVEL", "verbose"],
    ["LOG_LEVEL", "INFO"],
  ])("%s=%s", (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} `));
  });

  test("the permitted values are listed, if there is a choice", () => {
    expect(problemsOf({ DELIVERY: "push" })[0]).toMatch(/auto.*webhook.*polling/);
    expect(problemsOf({ START_FROM: "x" })[0]).toMatch(/now.*oldest/);
    expect(problemsOf({ LOG_LEVEL: "x" })[0]).toMatch(/debug.*info.*warn/);
    expect(problemsOf({ PORT: "x" })[0]).toMatch(/0 to 65535/);
    expect(problemsOf({ DATABASE_URL: "x" })[0]).toMatch(/file:/);
    expect(problemsOf({ SERVICE_BASE_URL: "https://a.example/api/v1" })[0]).toMatch(
      /must not contain/,
    );
    expect(problemsOf({ SERVICE_WEBHOOK_SECRET: "x".repeat(20) })[0]).toMatch(/whsec_/);
  });

  test("all problems are reported at once, in one message, each variable by name", () => {
    const bad = {
      SERVICE_BASE_URL: "nowhere",
      SERVICE_API_KEY: "",
      SERVICE_WEBHOOK_SECRET: "nothing",
      DELIVERY: "push",
      PORT: "http",
      WEBHOOK_PATH: "webhook",
      DATABASE_URL: "bot.db",
      POLL_INTERVAL_MS: "1",
      AUDIT_INTERVAL_MS: "1",
      SILENCE_MS: "1",
      START_FROM: "x",
      CONCURRENCY: "x",
      MAX_ATTEMPTS: "x",
      MAX_REQUESTS_PER_MINUTE: "x",
      LOG_LEVEL: "x",
    };
    const error = errorOf(bad);
    expect(error.code).toBe("CONFIG_INVALID");
    const named = error.problems.map((problem) => problem.split(" ", 1)[0]);
    expect(named.sort()).toEqual(Object.keys(bad).sort());
    for (const problem of error.problems) expect(error.message).toContain(problem);
  });
});

describe("secrets", () => {
  test("one, or several with commas, blanks and gaps between them", () => {
    const read = (text: string) => load({ SERVICE_WEBHOOK_SECRET: text }).webhookSecrets;
    expect(read("whsec_first_one")).toEqual(["whsec_first_one"]);
    expect(read("whsec_first_one,whsec_second_one")).toEqual([
      "whsec_first_one",
      "whsec_second_one",
    ]);
    expect(read(" whsec_first_one , ,whsec_second_one, ")).toEqual([
      "whsec_first_one",
      "whsec_second_one",
    ]);
  });

  test("each one of several is checked", () => {
    const problems = problemsOf({ SERVICE_WEBHOOK_SECRET: "whsec_first_one,other,whsec_x" });
    expect(problems).toHaveLength(2);
  });

  test("are not needed with DELIVERY=polling, and taken where there are some", () => {
    const { SERVICE_WEBHOOK_SECRET: _none, ...rest } = required;
    expect(loadConfig({ ...rest, DELIVERY: "polling" }).webhookSecrets).toEqual([]);
    expect(load({ DELIVERY: "polling" }).webhookSecrets).toEqual(["whsec_of_this_test"]);
  });

  test.each(["auto", "webhook"])("are needed with DELIVERY=%s", (delivery) => {
    const { SERVICE_WEBHOOK_SECRET: _none, ...rest } = required;
    expect(errorOf({ ...rest, DELIVERY: delivery }).problems).toEqual([
      expect.stringMatching(/^SERVICE_WEBHOOK_SECRET .*missing/),
    ]);
  });

  test("never are in the message, however wrong they are", () => {
    const secretish = fc.stringMatching(/^[a-f0-9]{12,40}$/);
    fc.assert(
      fc.property(secretish, secretish, secretish, (key, one, other) => {
        const error = errorOf({
          SERVICE_BASE_URL: `https://me:${other}@platform.example`,
          SERVICE_API_KEY: `${key} ${key}`,
          SERVICE_WEBHOOK_SECRET: `${one},whsec_${one.slice(0, 7)},${other}`,
          DATABASE_URL: `postgres://me:${other}@db.example`,
        });
        expect(error.problems.length).toBeGreaterThanOrEqual(6);
        const told = `${error.message}${JSON.stringify(error)}${error.stack}`;
        for (const secret of [key, one, other, one.slice(0, 7)]) expect(told).not.toContain(secret);
      }),
    );
  });

  test("never are in the message when others are at fault", () => {
    const told = errorOf({ ...required, PORT: "x" }).message;
    expect(told).toContain("PORT");
    expect(told).not.toContain(required.SERVICE_API_KEY);
    expect(told).not.toContain(required.SERVICE_WEBHOOK_SECRET);
  });
});

describe("options", () => {
  const all: Required<ConfigOverrides> = {
    baseUrl: "https://other.example",
    apiKey: "other-key",
    webhookSecret: "whsec_from_options",
    delivery: "webhook",
    host: "0.0.0.0",
    port: 8080,
    webhookPath: "/other",
    drainMs: 1_000,
    databaseUrl: "file::memory:",
    databaseSchema: "other",
    pollIntervalMs: 100,
    auditIntervalMs: 200,
    silenceMs: 300,
    startFrom: "oldest",
    concurrency: 2,
    maxAttempts: 3,
    maxBodyBytes: 4_096,
    maxRequestsPerMinute: 60,
    statusToken: "token-from-options",
    metricsPort: 9464,
    metricsHost: "::1",
    logLevel: "silent",
    tracing: "on",
  };
  const { databaseUrl: _url, webhookSecret: _secret, ...same } = all;
  const expected = {
    ...same,
    webhookSecrets: ["whsec_from_options"],
    database: { kind: "sqlite", file: ":memory:" },
  } satisfies Config;

  test("are enough by themselves", () => {
    expect(loadConfig({}, all)).toEqual(expected);
  });

  test("win over the environment, each of them", () => {
    const env = {
      ...required,
      DELIVERY: "polling",
      HOST: "h",
      PORT: "1",
      WEBHOOK_PATH: "/env",
      DATABASE_URL: "file:env.db",
      POLL_INTERVAL_MS: "51",
      AUDIT_INTERVAL_MS: "52",
      SILENCE_MS: "53",
      START_FROM: "now",
      CONCURRENCY: "4",
      MAX_BODY_BYTES: "1",
      MAX_ATTEMPTS: "5",
      MAX_REQUESTS_PER_MINUTE: "61",
      STATUS_TOKEN: "token-from-the-env",
      LOG_LEVEL: "trace",
      TRACING: "off",
    };
    expect(loadConfig(env, all)).toEqual(expected);
    expect(loadConfig(env, {})).not.toEqual(expected);
  });

  test("win also where the environment could not be used", () => {
    expect(load({ PORT: "http" }, { port: 0 }).port).toBe(0);
  });

  test("that are undefined leave the environment in place", () => {
    // Callers that compile without exactOptionalPropertyTypes can pass undefined.
    const unset = { port: undefined } as unknown as ConfigOverrides;
    expect(load({ PORT: "8080" }, unset).port).toBe(8080);
  });

  test("are checked like the variables, and reported by the variable's name", () => {
    expect(problemsOf({}, { port: 70_000, concurrency: 1.5, maxAttempts: Number.NaN })).toEqual([
      expect.stringMatching(/^PORT /),
      expect.stringMatching(/^CONCURRENCY /),
      expect.stringMatching(/^MAX_ATTEMPTS /),
    ]);
  });

  test("take several secrets as a list", () => {
    const webhookSecret = ["whsec_first_one", "whsec_second_one"];
    expect(load({}, { webhookSecret }).webhookSecrets).toEqual(webhookSecret);
  });

  test("that are empty count as not set, as variables do", () => {
    expect(load({}, { webhookSecret: [], baseUrl: "", host: " " })).toEqual(load());
  });

  test("can be the options of a bot, which has more of them", () => {
    expectTypeOf<{ port: number; handlerTimeoutMs: number }>().toExtend<ConfigOverrides>();
    expect(load({}, { ...all, handlerTimeoutMs: 5 } as ConfigOverrides)).toEqual(expected);
  });
});

test("unrelated variables are ignored", () => {
  expect(load({ PATH: "/bin", SERVICE_OTHER: "x" })).toEqual(load());
});

describe("the database alone", () => {
  test("needs no other variable", () => {
    const standard = { kind: "sqlite", file: "data/bot.db" };
    expect(loadDatabase({})).toEqual({ database: standard, databaseSchema: "service_bot" });
    expect(loadDatabase({ DATABASE_URL: " " }).database).toEqual(standard);
    const own = { kind: "sqlite", file: "/srv/bot.db" };
    expect(loadDatabase({ DATABASE_URL: "file:/srv/bot.db" }).database).toEqual(own);
  });

  test("is checked like the whole", () => {
    expect(() => loadDatabase({ DATABASE_URL: "bot.db" })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("file:"),
      }),
    );
  });
});
