import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkEnvironment, type Finding } from "../../faces/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { runAt } from "../command.ts";
import { access, examine, trouble } from "./examine.ts";

const complete = access({ url: "http://127.0.0.1:2" });

/** Includes findings at level "ok". */
async function findingsAt(
  env: Record<string, string>,
  cwd: string = temporaryFolder(),
): Promise<readonly Finding[]> {
  return await runAt({ cwd, env }, () => checkEnvironment().findings);
}

async function troubleAt(...at: Parameters<typeof findingsAt>): Promise<readonly Finding[]> {
  return (await findingsAt(...at)).filter(({ level }) => level !== "ok");
}

function folderWith(lines: Record<string, string>, mode = 0o600): string {
  const cwd = temporaryFolder();
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(cwd, ".env"), text.join(""));
  chmodSync(join(cwd, ".env"), mode);
  return cwd;
}

test("every variable is reported with where it comes from, secrets by their last four characters", async () => {
  const cwd = folderWith({ ...complete, DATABASE_URL: "postgres://bot:pa55@127.0.0.1:2/bot" });
  const findings = await findingsAt({ LOG_LEVEL: "warn" }, cwd);
  expect(findings.map(({ what }) => what)).toEqual([
    ".env is read",
    "SERVICE_BASE_URL = http://127.0.0.1:2 (.env)",
    "SERVICE_API_KEY is set (.env)",
    "SERVICE_WEBHOOK_SECRET is set: …ests (.env)",
    "PORT = 0 (.env)",
    "DATABASE_URL = postgres://127.0.0.1:2/bot (.env)",
    "LOG_LEVEL = warn (environment)",
    expect.stringMatching(
      /^default values: DELIVERY, HOST, .*MAX_REQUESTS_PER_MINUTE, STATUS_TOKEN, METRICS_PORT, METRICS_HOST, TRACING$/,
    ),
  ]);
  expect(JSON.stringify(findings)).not.toMatch(/pa55|sbk_test|whsec_of/);
});

test("of several secrets, each is shown by its last four characters, and a short one not at all", async () => {
  const env = {
    ...complete,
    SERVICE_API_KEY: "sbk_0123456789abcdef",
    SERVICE_WEBHOOK_SECRET: "whsec_0123456789abcnew,whsec_short_old",
    STATUS_TOKEN: "0123456789abstatus",
  };
  const told = (await findingsAt(env)).map(({ what }) => what);
  expect(told).toContain("SERVICE_API_KEY is set: …cdef (environment)");
  expect(told).toContain("SERVICE_WEBHOOK_SECRET has 2 secrets: …cnew, a short one (environment)");
  expect(told).toContain("STATUS_TOKEN is set: …atus (environment)");
});

test("a variable that is no longer read is noted, with what to do", async () => {
  const cwd = folderWith({ ...complete, LOG_SAMPLING: "on" });
  expect(await troubleAt({}, cwd)).toEqual([
    expect.objectContaining({
      ...{ level: "note", what: "LOG_SAMPLING is no longer read" },
      remedy: expect.stringContaining("Remove it"),
    }),
  ]);
});

test("missing and invalid variables are reported, and the other checks still run", async () => {
  const examined = await examine({ PORT: "eighty", SERVICE_API_KEY: "x" });
  expect(examined.code).toBe(1);
  expect(trouble(examined, "environment").slice(1)).toEqual([
    expect.objectContaining({ level: "fail", what: "SERVICE_BASE_URL is missing" }),
    expect.objectContaining({
      what: "SERVICE_WEBHOOK_SECRET is missing",
      remedy: expect.stringContaining("portal"),
    }),
    expect.objectContaining({ what: expect.stringMatching(/^PORT must be a whole number/) }),
  ]);
  const areas = new Set(examined.findings.map(({ area }) => area));
  expect(areas).toEqual(new Set(["node", "environment", "database"]));
});

test("an .env that others can read is reported", async () => {
  expect(await troubleAt({}, folderWith(complete, 0o644))).toEqual([
    expect.objectContaining({ level: "note", remedy: expect.stringContaining("chmod 600 .env") }),
  ]);
});

test("a variable that .env and the environment set differently is reported", async () => {
  const cwd = folderWith({ ...complete, LOG_LEVEL: "info" });
  const found = await troubleAt({ PORT: "0", LOG_LEVEL: "warn" }, cwd);
  expect(found.map(({ what }) => what)).toEqual([
    expect.stringMatching(/^LOG_LEVEL is set in the environment, .*\.env/),
  ]);
});

test("an unknown variable with the prefix of a bot's is reported, but not the control token", async () => {
  const env = { SERVICE_NAME: "x", SERVICE_CONTROL_TOKEN: "y" };
  expect(await troubleAt(env, folderWith(complete))).toEqual([
    expect.objectContaining({
      what: expect.stringMatching(/^SERVICE_NAME is set/),
      remedy: expect.stringContaining("SERVICE_API_KEY"),
    }),
  ]);
});

test("a misspelt required variable is a failure, once", async () => {
  const { SERVICE_API_KEY: _, ...rest } = complete;
  const found = await troubleAt({ SERVICE_APIKEY: "x" }, folderWith(rest));
  expect(found.filter(({ what }) => what.includes("SERVICE_APIKEY"))).toEqual([
    expect.objectContaining({ level: "fail", what: expect.stringContaining("SERVICE_API_KEY?") }),
  ]);
});

test("a variable that is nearly one that is set is noted, and the bot can start", async () => {
  expect(await troubleAt({ SERVICE_APP_KEY: "x" }, folderWith(complete))).toEqual([
    expect.objectContaining({ level: "note", what: expect.stringContaining("SERVICE_APP_KEY") }),
  ]);
});

test("several secrets of a rotation are counted", async () => {
  const secrets = "whsec_the_new_one,whsec_the_old_one";
  const cwd = folderWith({ ...complete, SERVICE_WEBHOOK_SECRET: secrets });
  const found = await findingsAt({}, cwd);
  expect(JSON.stringify(found)).toContain("SERVICE_WEBHOOK_SECRET has 2 secrets");
});

test("a token sent to another machine over plain http is a warning, not a failure", async () => {
  // 0.0.0.0 reaches this machine, but is not a loopback address.
  expect((await troubleAt(access({ url: "http://0.0.0.0:2" }))).slice(1)).toEqual([
    {
      area: "environment",
      level: "warn",
      what: expect.stringContaining("http://0.0.0.0:2"),
      remedy: expect.stringContaining("https"),
    },
  ]);
  expect((await troubleAt(complete)).slice(1)).toEqual([]);
});

test("a budget that is too small for the intervals is reported", async () => {
  const leftBy = async (MAX_REQUESTS_PER_MINUTE: string) => {
    const env = { ...complete, POLL_INTERVAL_MS: "1000", MAX_REQUESTS_PER_MINUTE };
    return (await troubleAt(env)).filter(({ what }) => what.includes(" leaves "));
  };
  expect(await leftBy("10")).toMatchObject([
    { level: "note", remedy: expect.stringContaining("interval") },
  ]);
  expect(await leftBy("600")).toEqual([]);
});
