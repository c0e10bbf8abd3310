import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { needsOf, templates } from "../faces/create.ts";
import { everythingIn, root, scaffold, temporaryDirectory } from "./harness.ts";

async function bot(template: string, store: string) {
  const cwd = await temporaryDirectory();
  const argv = ["bot", "--template", template, "--store", store, "--no-install", "--no-git"];
  const outcome = await scaffold(argv, { cwd });
  expect(outcome.code, outcome.err).toBe(0);
  const directory = join(cwd, "bot");
  const read = (path: string) => readFile(join(directory, path), "utf8");
  return { outcome, directory, read, paths: await everythingIn(directory) };
}

const packagesOf: Readonly<Record<string, readonly string[]>> = { assistant: ["zod"] };

function interpolated(text: string): string[] {
  return [...text.matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name);
}

describe.each(templates)("the template %s on PostgreSQL", (template) => {
  test("the driver and the command that starts a server are in package.json", async () => {
    const { read } = await bot(template, "postgres");
    const { dependencies, scripts } = JSON.parse(await read("package.json"));
    expect(Object.keys(dependencies)).toEqual([
      "pg",
      "service-bot",
      ...(packagesOf[template] ?? []),
    ]);
    expect(scripts.db).toContain("--file compose.dev.yaml");
    expect(scripts.dev).toBe("service-bot dev");
  });

  test(".env has the address and a password of its own, which the example leaves blank", async () => {
    const { read, outcome } = await bot(template, "postgres");
    const [env, example] = [parseEnv(await read(".env")), parseEnv(await read(".env.example"))];
    expect(env["DATABASE_URL"]).toBe("postgres://bot@127.0.0.1:5432/bot");
    expect(env["PGPASSWORD"]).toMatch(/^[0-9a-f]{48}$/);
    expect(env["SERVICE_API_KEY"]).not.toContain(env["PGPASSWORD"]);
    expect(env["SERVICE_WEBHOOK_SECRET"]).not.toContain(env["PGPASSWORD"]);
    expect(outcome.out + outcome.err).not.toContain(env["PGPASSWORD"]);
    expect(example).toEqual({
      ...env,
      SERVICE_API_KEY: "",
      SERVICE_WEBHOOK_SECRET: "",
      PGPASSWORD: "",
    });
    const other = parseEnv(await (await bot(template, "postgres")).read(".env"));
    expect(other["PGPASSWORD"]).not.toBe(env["PGPASSWORD"]);
  });

  test("the server of compose.dev.yaml is the one that .env names", async () => {
    const { read } = await bot(template, "postgres");
    const compose = await read("compose.dev.yaml");
    const { DATABASE_URL = "" } = parseEnv(await read(".env"));
    const { username, hostname, port, pathname } = new URL(DATABASE_URL);
    const init = await read("postgres-init.sql");
    expect(init).toContain(`CREATE ROLE ${username} LOGIN `);
    expect(init).toContain(`CREATE DATABASE ${pathname.slice(1)} OWNER ${username};`);
    expect(compose).toContain("./postgres-init.sql:/docker-entrypoint-initdb.d/");
    expect(compose).toContain(`"${hostname}:${port}:5432"`);
    expect(new Set(interpolated(compose))).toEqual(new Set(["PGPASSWORD"]));
  });

  test(".env.example lists the kinds of addresses and the default", async () => {
    const lines = (await (await bot(template, "postgres")).read(".env.example")).split("\n");
    const at = lines.findIndex((line) => line.startsWith("DATABASE_URL="));
    expect(lines[at - 1]).toMatch(/^# .*postgres:\/\/.*file:data\/bot\.db\.$/);
    expect(lines.join("\n")).not.toContain("install pg");
  });

  test("the next steps begin with the server", async () => {
    const { outcome } = await bot(template, "postgres");
    expect(outcome.out).toMatch(/ {2}npm install\n {2}npm run db +# PostgreSQL.*\n {2}npm run dev/);
  });

  test("no mark is left in its texts, and SQLite is not spoken of as its store", async () => {
    const { read, paths } = await bot(template, "postgres");
    for (const path of paths.filter((name) => /\.(?:md|ya?ml|example)$/.test(name))) {
      const text = await read(path);
      expect(text, path).not.toMatch(/(?<!\$)\{\{/);
      expect(text, path).not.toMatch(/DATABASE_URL[:=] ?file:/);
    }
  });
});

describe.each(templates)("the template %s on SQLite", (template) => {
  test("has nothing of PostgreSQL but the word that it can be had", async () => {
    const { read, paths } = await bot(template, "sqlite");
    const { dependencies, scripts } = JSON.parse(await read("package.json"));
    expect(Object.keys(dependencies)).toEqual(["service-bot", ...(packagesOf[template] ?? [])]);
    expect(scripts).not.toHaveProperty("db");
    expect(paths).not.toContain("compose.dev.yaml");
    expect(paths).not.toContain("postgres-init.sql");
    expect(parseEnv(await read(".env"))).not.toHaveProperty("PGPASSWORD");
    for (const path of paths.filter((name) => /\.ya?ml$/.test(name))) {
      expect(await read(path), path).not.toMatch(/postgres/i);
    }
  });
});

test.each([
  ["my.bot", "my-bot-dev"],
  ["1.0", "1-0-dev"],
  ["a_b-c", "a_b-c-dev"],
])("Compose takes the name of the bot %s for its own server", async (name, project) => {
  const cwd = await temporaryDirectory();
  const { code } = await scaffold([name, "--store", "postgres", "--no-install"], { cwd });
  expect(code).toBe(0);
  const compose = await readFile(join(cwd, name, "compose.dev.yaml"), "utf8");
  expect(compose).toContain(`\nname: ${project}\n`);
  expect(project).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
  expect(JSON.parse(await readFile(join(cwd, name, "package.json"), "utf8")).name).toBe(name);
});

test("the driver is one that service-bot works with", async () => {
  const { peerDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  expect(needsOf.postgres.dependencies).toEqual({ pg: peerDependencies.pg });
});

test("the compose file of the starter has a server beside the bot, with a volume of its own", async () => {
  const compose = await (await bot("starter", "postgres")).read("compose.yaml");
  expect(compose).toContain("DATABASE_URL: postgres://bot@postgres:5432/bot\n");
  expect(compose).toContain("      postgres:\n        condition: service_healthy\n");
  expect(compose).toContain("      - postgres:/var/lib/postgresql\n");
  expect(compose).not.toContain("data:/bot/data");
  expect(new Set(interpolated(compose))).toEqual(new Set(["BOT_DOMAIN", "PGPASSWORD"]));
  const plain = await (await bot("starter", "sqlite")).read("compose.yaml");
  expect(plain).toContain("DATABASE_URL: file:data/bot.db\n");
  expect(plain).toContain("data:/bot/data");
});
