import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { scaffold, temporaryDirectory } from "../create/harness.ts";

/** The parts of a service that these tests read. */
interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: object;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly env_file?: string;
  readonly stop_grace_period?: string;
  readonly cap_add?: readonly string[];
  readonly mem_limit: string;
}

/** Scaffolds a bot. The tests in test/containers run its files. */
async function starter(store: "sqlite" | "postgres") {
  const cwd = await temporaryDirectory();
  const flags = ["--store", store, "--no-install", "--no-git", "--service-bot", "1.0.0"];
  expect(await scaffold(["bot", ...flags], { cwd })).toMatchObject({ code: 0 });
  const read = (name: string) => readFileSync(join(cwd, "bot", name), "utf8");
  const services: Readonly<Record<string, Service>> = parse(read("compose.yaml")).services;
  return { read, services };
}

test("the Dockerfile names its images by version, and its user is not root", async () => {
  const { read } = await starter("sqlite");
  const dockerfile = read("Dockerfile");
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(images).toEqual([
    expect.stringMatching(/^node:24-slim@sha256:[0-9a-f]{64}$/),
    expect.stringMatching(/^debian:12-slim@sha256:[0-9a-f]{64}$/),
  ]);
  expect(dockerfile.match(/^USER .*$/gm)).toEqual(["USER node"]);
});

/** Capabilities that a service keeps because its image needs them, and its memory limit, by service. */
const confined = {
  bot: { cap_add: [], mem_limit: "512m" },
  caddy: { cap_add: ["NET_BIND_SERVICE"], mem_limit: "256m" },
  postgres: { cap_add: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"], mem_limit: "1g" },
};

describe.each([
  { store: "sqlite", names: ["bot", "caddy"] },
  { store: "postgres", names: ["bot", "postgres", "caddy"] },
] as const)("the compose.yaml for $store", ({ store, names }) => {
  test("gives each container a read-only root, a memory limit and few capabilities", async () => {
    const { services } = await starter(store);
    expect(Object.keys(services)).toEqual(names);
    for (const name of names) {
      expect({ cap_add: [], ...services[name] }, name).toMatchObject({
        read_only: true,
        tmpfs: expect.arrayContaining(["/tmp"]),
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        ...confined[name],
      });
    }
  });

  test("puts Caddy in front of the bot's port once the bot is healthy", async () => {
    const { services, read } = await starter(store);
    const { bot, caddy } = services;
    const port = bot?.environment?.["PORT"];
    expect(read("Dockerfile")).toContain(`EXPOSE ${port}\n`);
    expect(read("Caddyfile")).toContain(`reverse_proxy bot:${port}`);
    expect(caddy?.depends_on).toEqual({ bot: { condition: "service_healthy" } });
    expect(caddy?.ports).toEqual(["80:80", "443:443", "443:443/udp"]);
    expect(bot?.stop_grace_period).toBe("20s");
  });
});

test("a bot on PostgreSQL logs in with the password from .env, as a role that is no superuser", async () => {
  const { services, read } = await starter("postgres");
  const { bot, postgres } = services;
  expect(bot?.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
  expect(bot?.volumes).toBeUndefined();
  const { host, username, pathname } = new URL(bot?.environment?.["DATABASE_URL"] ?? "");
  expect([host, username, pathname]).toEqual(["postgres:5432", "bot", "/bot"]);
  // The server reads the password from a variable, and the bot through env_file.
  expect(parseEnv(read(".env"))["PGPASSWORD"]).toMatch(/^[0-9a-f]{32,}$/);
  expect(bot?.env_file).toBe(".env");
  // Without the variable, Compose must stop instead of starting a server without a password.
  expect(postgres?.environment).toEqual({
    POSTGRES_PASSWORD: expect.stringMatching(/^\$\{PGPASSWORD:\?/),
  });
  expect(postgres?.volumes).toContain(
    "./postgres-init.sql:/docker-entrypoint-initdb.d/postgres-init.sql:ro",
  );
  const init = read("postgres-init.sql");
  expect(init).toContain("CREATE ROLE bot LOGIN PASSWORD :'password';");
  expect(init).toContain("ALTER ROLE postgres PASSWORD NULL;");
  expect(init).not.toMatch(/\bSUPERUSER\b/);
});
