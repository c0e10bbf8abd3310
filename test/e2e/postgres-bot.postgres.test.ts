import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serviceBot } from "../cli/cli.ts";
import { root, scaffold, temporaryDirectory } from "../create/harness.ts";
import { look } from "../support/postgres/look.ts";
import { giveToServer, PostgresServer } from "../support/postgres/server.ts";
import { TestProcess } from "../support/process.ts";
import { reservePort } from "../support/reserve-port.ts";

async function bot(port: number) {
  const cwd = await temporaryDirectory();
  const argv = ["bot", "--store", "postgres", "--no-install", "--no-git"];
  expect((await scaffold(argv, { cwd })).code).toBe(0);
  const folder = join(cwd, "bot");
  const installed = join(folder, "node_modules/service-bot");
  await mkdir(installed, { recursive: true });
  const exports = {
    ".": "./src/index.ts",
    "./env": "./src/env.ts",
    "./testing": "./src/testing/index.ts",
  };
  await writeFile(
    join(installed, "package.json"),
    JSON.stringify({ name: "service-bot", type: "module", exports }),
  );
  await symlink(join(root, "src"), join(installed, "src"));
  const env = (await readFile(join(folder, ".env"), "utf8")).replace(":5432/", `:${port}/`);
  const write = (text: string) => writeFile(join(folder, ".env"), text);
  await write(env);
  return { folder, env, write };
}

function dev(folder: string): TestProcess {
  return serviceBot(["dev", "--port", "0"], { cwd: folder, env: { PORT: "0" } });
}

describe("npm run dev for a bot on PostgreSQL", () => {
  let server: PostgresServer;
  let rules: string;

  beforeAll(async () => {
    // Every connection to the bot's database needs the password, as in the image.
    rules = await mkdtemp(join(tmpdir(), "pg-hba-"));
    const hba = join(rules, "pg_hba.conf");
    await writeFile(hba, "host bot all all scram-sha-256\nhost all all all trust\n");
    for (const path of [rules, hba]) giveToServer(path);
    server = await PostgresServer.start("18", [`hba_file=${hba}`]);
  });

  afterAll(async () => {
    await server?.stop();
    await rm(rules, { recursive: true, force: true });
  });

  test("handles events in the database named in .env, with the password from .env", async () => {
    const { folder, env } = await bot(server.port);
    const { PGPASSWORD: password = "" } = parseEnv(env);
    await look({ url: server.url() }, `ALTER ROLE bot PASSWORD '${password}'`);
    await look({ url: server.url() }, "CREATE DATABASE bot");
    const running = dev(folder);
    const line = await running.line((text) => /portal +http/.test(text));
    await running.line((text) => text.includes("ready"));
    const [platform = ""] = /http\S+/.exec(line) ?? [];
    const said = ["dm.message", "--text", "hello", "--wait", "--json", "--platform", platform];
    const trigger = serviceBot(["trigger", ...said], { cwd: folder });
    expect(await trigger.exited, trigger.output()).toMatchObject({ code: 0 });
    expect(JSON.parse(trigger.stdout.join(""))).toMatchObject({ outcome: "answered" });
    const url = `postgres://bot:${password}@127.0.0.1:${server.port}/bot`;
    const [{ events } = { events: 0 }] = await look<{ events: number }>(
      { url },
      "SELECT count(*)::integer AS events FROM service_bot.event",
    );
    expect(events).toBe(1);
    const stats = serviceBot(["inbox", "stats", "--json"], { cwd: folder });
    expect(await stats.exited, stats.output()).toMatchObject({ code: 0 });
    expect(await running.end("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  test.each([
    ["Correct the password in DATABASE_URL or PGPASSWORD.", /^PGPASSWORD=.*$/m, "PGPASSWORD=wrong"],
    ["Set the password in DATABASE_URL or PGPASSWORD.", /^PGPASSWORD=.*$/m, ""],
    [
      "Create the database (createdb), or correct DATABASE_URL.",
      /^(DATABASE_URL=.*)\/bot$/m,
      "$1/other",
    ],
    ["The host name is unknown. Correct DATABASE_URL.", "@127.0.0.1:", "@nowhere.invalid:"],
  ])("says: %s", async (remedy, part, instead) => {
    const { folder, env, write } = await bot(server.port);
    await write(env.replace(part, instead));
    const running = dev(folder);
    await running.line((text) => text.includes(remedy));
  });
});

test("npm run dev reports a missing server and the remedy", async () => {
  const { folder } = await bot(await reservePort());
  const running = dev(folder);
  const line = await running.line((text) => text.includes("ECONNREFUSED"));
  expect(line).toContain("Start PostgreSQL, or correct DATABASE_URL.");
});

test("its own tests need no server", async () => {
  const { folder } = await bot(await reservePort());
  const tests = new TestProcess(["--test", "test/**/*.test.ts"], { cwd: folder });
  expect(await tests.exited, tests.output()).toMatchObject({ code: 0 });
});
