import { describe, expect, test } from "vitest";
import { variables } from "../faces/bot.ts";
import { misspeltVariables } from "../faces/core.ts";
import { commonVariables } from "./common-variables.ts";

const known = variables;

/** `set` lists the known variables that have a value. */
function found(env: Readonly<Record<string, string>>, set: readonly string[] = []) {
  return misspeltVariables(env, known, (name) => set.includes(name));
}

const common = commonVariables.flatMap((line) => line.split(" "));

describe("a variable that is nearly one of a bot's is found", () => {
  test.each([
    ["CONCURENCY", "CONCURRENCY"],
    ["CONCURRENCYS", "CONCURRENCY"],
    ["CONCURRENYC", "CONCURRENCY"],
    ["concurrency", "CONCURRENCY"],
    ["SERVICE_API_KEYS", "SERVICE_API_KEY"],
    ["SERVICE_APIKEY", "SERVICE_API_KEY"],
    ["SERVICE_BASE_URI", "SERVICE_BASE_URL"],
    ["SERVICE_WEBHOOK_SECRETS", "SERVICE_WEBHOOK_SECRET"],
    ["DATABASE_URI", "DATABASE_URL"],
    ["LOGLEVEL", "LOG_LEVEL"],
    ["DELIVERYS", "DELIVERY"],
    ["MAX_ATEMPTS", "MAX_ATTEMPTS"],
    ["POLL_INTERVAL_SM", "POLL_INTERVAL_MS"],
  ])("%s: %s", (name, meant) => {
    expect(found({ [name]: "3" })).toEqual([{ name, meant }]);
  });
});

describe("is not found", () => {
  test("any variable that shells, containers, CI systems, hosts and other programs set", () => {
    expect(common.length).toBeGreaterThan(300);
    expect(found(Object.fromEntries(common.map((name) => [name, "3"])))).toEqual([]);
  });

  test("any variable of a bot", () => {
    expect(found(Object.fromEntries(known.map((name) => [name, "3"])))).toEqual([]);
  });

  test("any variable of this process", () => {
    const env = Object.entries(process.env).map(([name, value = ""]) => [name, value] as const);
    expect(found(Object.fromEntries(env))).toEqual([]);
  });

  test("what Kubernetes and Docker inject for a service of any name", () => {
    for (const service of [
      "SERVICE",
      "SERVICE_BOT",
      "METRIC",
      "METRICS",
      "DATABASE",
      "WEBHOOK",
      "BOT",
    ]) {
      const address = "tcp://10.0.0.1:80";
      const env = {
        [`${service}_SERVICE_HOST`]: "10.0.0.1",
        [`${service}_SERVICE_PORT`]: "80",
        [`${service}_SERVICE_PORT_HTTP`]: "80",
        [`${service}_PORT`]: address,
        [`${service}_PORT_80_TCP`]: address,
        [`${service}_PORT_80_TCP_PROTO`]: "tcp",
        [`${service}_PORT_80_TCP_PORT`]: "80",
        [`${service}_PORT_80_TCP_ADDR`]: "10.0.0.1",
      };
      expect(found(env)).toEqual([]);
    }
  });

  test("a name without a value", () => {
    expect(found({ CONCURENCY: "", LOGLEVEL: " " })).toEqual([]);
  });

  test("a name of another program, where the bot's own variable is set", () => {
    expect(found({ DATABASE_URI: "x", LOGLEVEL: "x" }, ["DATABASE_URL", "LOG_LEVEL"])).toEqual([]);
    const set = ["SERVICE_API_KEY", "SERVICE_WEBHOOK_SECRET"];
    expect(found({ SERVICE_APP_KEY: "x", SERVICE_WEBHOOK_SECRETS: "x" }, set)).toEqual([]);
  });

  test.each([
    ...[
      "DATABASE_SSL",
      "DATABASE_DSN",
      "WEBHOOK_AUTH",
      "WEBHOOK_DATA",
      "WEBHOOK_HASH",
      "LOG_LABELS",
    ],
    ...["CURRENCY", "METRICS_SORT_BY", "POLL_INTERVALS"],
  ])("%s, which differs in more than one letter", (name) => {
    expect(found({ [name]: "x" })).toEqual([]);
  });

  test("a name in another case that the system takes for the same one", () => {
    expect(found({ Service_Api_Key: "x" }, ["SERVICE_API_KEY"])).toEqual([]);
  });
});
