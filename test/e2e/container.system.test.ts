import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestProcess } from "../support/process.ts";
import { reservePort } from "../support/reserve-port.ts";
import { SCAFFOLD_TIMEOUT_MS, scaffoldedBot } from "../support/scaffolded.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PlatformProcess } from "../support/world/platform-process.ts";
import { type Compose, readCompose } from "./container/compose.ts";
import { Build, type Image, nodeFor, type User } from "./container/image.ts";
import { caddy } from "./proxy/caddy.ts";
import { makeCertificates } from "./proxy/certificates.ts";
import { startProxy, whyNoProxy } from "./proxy/proxy.ts";

/** A user without any files, in place of the image's user `node`. Only root can switch users. */
const node: User | undefined = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
if (node === undefined) {
  process.stderr.write("the image is not run as another user: only root can do that\n");
}

describe("the container of a scaffolded bot", { timeout: 60_000 }, () => {
  let folder: string;
  let project: string;
  let bin: string;
  let image: Image;
  let compose: Compose;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "container-"));
    chmodSync(folder, 0o755);
    // The image needs only the lock file, because it installs its own packages instead of using the project's
    // node_modules.
    const lockOnly = { npm_config_package_lock_only: "true" };
    project = (await scaffoldedBot(folder, "project", ["--no-git"], lockOnly)).dir;
    bin = nodeFor(folder);
    image = new Build({ context: project, folder: join(folder, "stages"), node }).run();
    compose = readCompose(join(project, "compose.yaml"));
  }, SCAFFOLD_TIMEOUT_MS);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function inside([command = "", ...args]: readonly string[], env: Record<string, string> = {}) {
    return new TestProcess(args, {
      command: command === "node" ? join(bin, "node") : command,
      cwd: image.workdir,
      bareEnv: true,
      user: node,
      env: { NODE_DISABLE_COMPILE_CACHE: "1", ...image.env, ...env, PATH: bin },
    });
  }

  async function exitCode(command: readonly string[], env?: Record<string, string>) {
    return (await inside(command, env).exited).code;
  }

  async function runBot(platform: PlatformProcess) {
    // Each test needs a new volume, because another platform's events have the same ids.
    const data = join(image.workdir, "data");
    for (const name of readdirSync(data)) rmSync(join(data, name));
    const port = String(await reservePort());
    const env = {
      ...compose.service("bot").environment,
      SERVICE_BASE_URL: platform.url,
      SERVICE_API_KEY: platform.apiKey,
      SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
      PORT: port,
    };
    const running = inside(image.command, env);
    await running.message("ready");
    return { running, port, url: `http://127.0.0.1:${port}` };
  }

  test("its image is built from Node and Debian alone and runs as its user", () => {
    expect(new Set(image.bases)).toEqual(new Set(["node:24-slim", "debian:12-slim"]));
    expect(image.user).toBe("node");
  });

  test("the image contains what the bot runs, and nothing else from the project", () => {
    expect(readdirSync(image.workdir).sort()).toEqual([
      "data",
      "node_modules",
      "package.json",
      "src",
    ]);
    const modules = readdirSync(join(image.workdir, "node_modules"));
    expect(modules).toContain("service-bot");
    expect(modules).not.toContain("typescript");
  });

  test.skipIf(node === undefined)("the bot's user can write only to data/", async () => {
    const write = (path: string) => ["node", "-e", `fs.writeFileSync(${JSON.stringify(path)}, "")`];
    for (const path of ["x", "src/main.ts", "package.json", "node_modules/x"]) {
      expect(await exitCode(write(path)), path).toBe(1);
    }
    expect(await exitCode(write("data/x"))).toBe(0);
  });

  test("it accepts a signed delivery, is healthy, and exits with 0 on SIGTERM", async () => {
    const platform = await PlatformProcess.start();
    const { running, port, url } = await runBot(platform);
    await platform.deliverTo(url);
    const written = await platform.write("ada", "from a container");
    expect(await platform.delivery(written)).toMatchObject({ status: 200 });
    await platform.says("Hi Ada! You wrote: from a container");
    expect(readdirSync(join(image.workdir, "data"))).toContain("bot.db");
    expect(await exitCode(image.healthcheck, { PORT: port })).toBe(0);
    running.kill("SIGTERM");
    expect(await running.exited).toEqual({ code: 0, signal: null });
    expect(await exitCode(image.healthcheck, { PORT: port })).toBe(1);
  });

  test("compose.yaml, the Dockerfile and the Caddyfile agree on names and ports", () => {
    const caddyfile = readFileSync(join(project, "Caddyfile"), "utf8");
    expect(compose.problems(project)).toEqual([]);
    expect(unconfined(compose)).toEqual([]);
    const bot = compose.service("bot");
    expect(caddyfile).toContain(`reverse_proxy bot:${bot.environment["PORT"]}`);
    expect(image.port).toBe(bot.environment["PORT"]);
    expect(bot.volumes).toEqual([`data:${image.workdirName}/data`]);
    expect(bot.environment["DATABASE_URL"]).toMatch(/^file:data\//);
    const proxy = compose.service("caddy");
    // Caddy waits until the bot is healthy, so the bot needs a health check.
    expect(proxy.depends_on).toEqual({ bot: { condition: "service_healthy" } });
    expect(image.healthcheck).not.toEqual([]);
    expect(caddyfile).toContain("{$BOT_DOMAIN}");
    expect(proxy.environment["BOT_DOMAIN"]).toMatch(/^\$\{BOT_DOMAIN:-\}$/);
    expect(proxy.ports).toEqual(expect.arrayContaining(["80:80", "443:443"]));
  });

  test("with --store postgres, compose.yaml starts a server that the bot waits for and can log in to", async () => {
    const flags = ["--store", "postgres", "--no-install", "--no-git", "--service-bot", "1.0.0"];
    const { dir } = await scaffoldedBot(temporaryFolder(), "bot", flags);
    const stack = readCompose(join(dir, "compose.yaml"));
    expect(stack.problems(dir)).toEqual([]);
    const [bot, server] = [stack.service("bot"), stack.service("postgres")];
    expect(bot.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
    expect(bot.volumes).toEqual([]);
    const { host, username, pathname } = new URL(bot.environment["DATABASE_URL"] ?? "");
    const { POSTGRES_USER, POSTGRES_PASSWORD } = server.environment;
    expect({ host, username, pathname }).toEqual({
      host: "postgres:5432",
      username: "bot",
      pathname: "/bot",
    });
    // The server's superuser is another role, which cannot log in.
    expect(POSTGRES_USER).toBeUndefined();
    const init = readFileSync(join(dir, "postgres-init.sql"), "utf8");
    expect(init).toContain("CREATE ROLE bot LOGIN PASSWORD :'password';");
    expect(init).toContain("ALTER ROLE postgres PASSWORD NULL;");
    expect(init).not.toMatch(/\bSUPERUSER\b/);
    expect(server.volumes).toContain(
      "./postgres-init.sql:/docker-entrypoint-initdb.d/postgres-init.sql:ro",
    );
    expect(unconfined(stack)).toEqual([]);
    // Both services read the password from .env: the bot through env_file, and the server through a variable.
    const { PGPASSWORD } = parseEnv(readFileSync(join(dir, ".env"), "utf8"));
    expect(PGPASSWORD).toMatch(/^[0-9a-f]{32,}$/);
    expect(POSTGRES_PASSWORD).toMatch(/^\$\{PGPASSWORD:\?/);
    expect(bot.env_file).toBe(".env");
  });

  const reason = whyNoProxy(caddy);
  if (reason !== undefined) process.stderr.write(`${reason}\n`);

  test.skipIf(reason !== undefined)("it is reachable over https behind its Caddyfile", async () => {
    const home = temporaryFolder();
    const certificates = makeCertificates(home);
    const platform = await PlatformProcess.start({ trusted: certificates.authority.cert });
    const { url } = await runBot(platform);
    const port = await reservePort();
    const caddyfile = join(project, "Caddyfile");
    await startProxy(caddy, { folder: home, certificates, port, bot: url, caddyfile });
    await platform.deliverTo(`https://localhost:${port}`);
    const written = await platform.write("ada", "by https");
    expect(await platform.delivery(written)).toMatchObject({ status: 200 });
    await platform.says("Hi Ada! You wrote: by https");
    expect(await platform.answers()).toEqual(["Hi Ada! You wrote: by https"]);

    await platform.control.saveWebhook({ url: `https://localhost:${port}/healthz` });
    const lost = await platform.write("ada", "to the wrong path");
    expect(await platform.delivery(lost)).toMatchObject({ status: 404 });
  });
});

/** Capabilities that a service keeps because its image needs them. */
const kept: Readonly<Record<string, readonly string[]>> = {
  bot: [],
  caddy: ["NET_BIND_SERVICE"],
  postgres: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"],
};

function unconfined(compose: Compose): string[] {
  return compose.names.filter((name) => {
    const { read_only, tmpfs, cap_drop, cap_add, security_opt, mem_limit } = compose.service(name);
    const isConfined =
      read_only &&
      tmpfs.includes("/tmp") &&
      cap_drop.includes("ALL") &&
      cap_add.join() === kept[name]?.join() &&
      security_opt.includes("no-new-privileges:true") &&
      mem_limit !== undefined;
    return !isConfined;
  });
}
