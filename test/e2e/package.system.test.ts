import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { entryPoints } from "../../scripts/reference/reference.ts";
import { exportedBy } from "../../scripts/reference/surface.ts";
import { commandsOf } from "../../scripts/registry/toolchain.ts";
import { toolVersions } from "../../tools/install.ts";
import { documentedBlock, root } from "../docs/markdown.ts";
import { commands } from "../faces/cli.ts";
import { run } from "../faces/create.ts";
import { examples } from "../guides/files.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { PostgresServer } from "../support/postgres/server.ts";
import { reservePort } from "../support/reserve-port.ts";
import { SCAFFOLD_TIMEOUT_MS, scaffoldedBot, withoutBotVariables } from "../support/scaffolded.ts";
import { CLI, type Env, InstalledBot } from "./installed-bot.ts";
import { strictApp, strictConfigs } from "./strict-app.ts";

// A checkout has development dependencies, which hide that a feature needs a package that no bot installs. Therefore
// these tests use every documented feature in a bot outside the checkout.

/** A message for each bot of examples/, which the bot answers. */
const ASKED: Readonly<Record<string, string>> = {
  commands: "/roll 20",
  express: "hello",
  reminders: "/remind 10m tea",
  "slow-model": "What is a lane?",
};

let parent: string;
let bot: InstalledBot;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "package e2e "));
  const { dir } = await scaffoldedBot(parent, "bot", ["--template", "starter", "--no-git"]);
  const [oldest = ""] = await commandsOf("node22", "npm");
  // A bot contains all that it needs, so its folder can be moved.
  const moved = join(parent, "moved");
  await rename(dir, moved);
  bot = new InstalledBot(moved, join(oldest, "node"));
}, 2 * SCAFFOLD_TIMEOUT_MS);

afterAll(() => rm(parent, { recursive: true, force: true }));

describe("a bot with nothing but its own packages, on the oldest Node", {
  timeout: 120_000,
}, () => {
  test("imports every entry, with the exported names", async () => {
    const entries = entryPoints().map((point) => {
      const values = exportedBy(point).filter((each) => each.startsWith("value "));
      return [point.name, values.map((each) => each.slice("value ".length))] as const;
    });
    const script = `
      const names = {};
      for (const entry of ${JSON.stringify(entries.map(([name]) => name))}) {
        names[entry] = Object.keys(await import(entry)).sort();
      }
      const { default: manifest } = await import("service-bot/package.json", { with: { type: "json" } });
      console.log(JSON.stringify({ names, exports: Object.keys(manifest.exports) }));
    `;
    const { stdout, output } = await bot.run(["--input-type=module", "--eval", script]);
    const { names, exports } = JSON.parse(stdout);
    expect(names, output).toEqual(Object.fromEntries(entries));
    expect([...Object.keys(names), "service-bot/package.json"].sort()).toEqual(
      exports.map((path: string) => path.replace(".", "service-bot")).sort(),
    );
  });

  test("passes its own tests, and has no type errors", async () => {
    for (const script of ["typecheck", "test"]) {
      const options = { cwd: bot.folder, env: withoutBotVariables() };
      const { code, output } = await run("npm", ["run", script], options);
      expect(code, output).toBe(0);
    }
  });

  test("is compiled as in its image, and answers without loading the compiler of Node", async () => {
    // An image has the other files of src too.
    await writeFile(join(bot.folder, "src/greeting.txt"), "hi");
    const dockerfile = await readFile(join(bot.folder, "Dockerfile"), "utf8");
    const [, line = ""] = /^RUN (cp -R src dist .*)$/m.exec(dockerfile) ?? [];
    const options = { cwd: bot.folder, env: withoutBotVariables() };
    const { code, output } = await run("sh", ["-c", line], options);
    expect(code, output).toBe(0);
    expect(await readFile(join(bot.folder, "dist/greeting.txt"), "utf8")).toBe("hi");
    const [, entry = ""] = /^CMD \["node", "(.*)"\]$/m.exec(dockerfile) ?? [];
    const { env } = await bot.startBoth({}, ["--no-experimental-strip-types"], entry);
    expect(await bot.answerTo("dm.message", env)).toMatchObject({ text: expect.any(String) });
  });

  test("the client works on its own, and loads neither the database nor a web server", async () => {
    const script = `
      import { createRequire } from "node:module";
      import { Client } from "service-bot/client";
      import { TestPlatform } from "service-bot/testing";
      const { fetch } = new TestPlatform();
      const client = new Client({ baseUrl: "http://platform.test", apiKey: "x", fetch });
      await client.posts.create({ text: "hi", images: ["https://example.com/a.png"] });
      const { items } = await client.feed();
      const loaded = Object.keys(createRequire(import.meta.url).cache);
      const heavy = loaded.filter((path) => /express/.test(path));
      console.log(JSON.stringify({ images: items[0].images.length, heavy }));
    `;
    const { stdout, output } = await bot.run(["--input-type=module", "--eval", script]);
    expect(JSON.parse(stdout), output).toEqual({ images: 1, heavy: [] });
  });

  test.each(strictConfigs)("compiles against every entry with %s", async (name, options) => {
    const folder = join(bot.folder, `strict-${name}`);
    await mkdir(folder);
    await writeFile(join(folder, "app.ts"), strictApp);
    const type = name === "commonjs" ? name : "module";
    await writeFile(join(folder, "package.json"), JSON.stringify({ type }));
    const config = { compilerOptions: options, include: ["*.ts"] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join("node_modules", "typescript", "bin", "tsc");
    const { code, output } = await bot.run([tsc, "--project", folder]);
    expect(output).toBe("");
    expect(code).toBe(0);
  });

  test("runs with metrics, tracing and MCP on, and doctor and inbox find nothing wrong", async () => {
    const both = await bot.startBoth({ METRICS_PORT: "0", TRACING: "on" });
    const { env, apiKey, process, ready } = both;
    expect(await bot.answerTo("dm.message", env)).toMatchObject({ status: 201 });
    const metrics = await (await fetch(String(ready["metrics"]))).text();
    expect(metrics).toMatch(/^service_bot_events_total\{type="dm.message",source="webhook"\} 1$/m);
    expect(metrics).toMatch(/^process_cpu_seconds_total \d/m);
    // Without an SDK, there are no spans.
    expect(process.logLines.filter(({ level }) => level === "warn")).toHaveLength(1);

    const { ok, findings } = await bot.json(["doctor"], env);
    expect(ok, JSON.stringify(findings)).toBe(true);
    const { events } = await bot.json(["inbox", "list", "--state", "done"], env);
    const [{ id, trace }] = events as readonly [{ id: string; trace: string }];
    expect(trace).toMatch(/^[\da-f]{32}$/);
    expect(await bot.json(["inbox", "show", id], env)).toMatchObject({ id, state: "done" });

    const url = new URL(`${env["SERVICE_BASE_URL"]}/mcp`);
    expect(await toolsAt(url, apiKey)).toContain("service_create_post");
    process.kill("SIGTERM");
    expect(await process.exited, process.output()).toEqual({ code: 0, signal: null });
  });

  test("runs every command, and every action of the inbox", async () => {
    expect(await bot.cli(["--version"])).toMatch(/^\d+\.\d+\.\d+/);
    const names = [...(await bot.cli(["--help"])).matchAll(/^ {2}([a-z]+) /gm)].map(
      ([, name]) => name,
    );
    expect(names).toEqual(Object.keys(commands));
    for (const name of Object.keys(commands)) {
      expect(await bot.cli([name, "--help"])).toContain(`service-bot ${name}`);
    }
    const { env, process } = await bot.startBoth();
    await bot.answerTo("dm.message", env);
    const act = (...words: readonly string[]) => bot.cli(["inbox", ...words], env);
    const backup = join(bot.folder, "backup.db");
    for (const words of [
      ["stats"],
      ["list", "--state", "all"],
      ["retry", "--code", "NOT_FOUND", "--dry-run"],
      ["discard", "--code", "NOT_FOUND", "--reason", "none", "--dry-run"],
      ["state"],
      ["timers"],
      ["backup", backup],
    ]) {
      expect(await act(...words)).not.toBe("");
    }
    process.kill("SIGTERM");
    await process.exited;
    await act("restore", backup, "--move-old");
    expect(await bot.json(["inbox", "stats"], env)).toMatchObject({ done: 1 });
  });

  test("serves MCP over stdio and over HTTP", async () => {
    const { env, apiKey } = await bot.startBoth();
    const client = new Client({ name: "test", version: "1" });
    onTestFinished(() => client.close());
    const program = { command: bot.node, args: [CLI, "mcp"], cwd: bot.folder, env };
    await client.connect(new StdioClientTransport(program));
    const called = await client.callTool({ name: "service_get_me", arguments: {} });
    expect(called.structuredContent).toMatchObject({ username: "bot" });
    const server = bot.command(["mcp", "--http", "0"], env);
    const line = await server.line((each) => each.includes("/mcp"));
    const [url = ""] = /http:\S+\/mcp/.exec(line) ?? [];
    expect(await toolsAt(new URL(url), apiKey)).toContain("service_create_post");
  });

  test("dev prints the log with pino-pretty, and as JSON without it", async () => {
    const lastLine = async () => {
      const ports = [await reservePort(), await reservePort()];
      const env = { SERVICE_BASE_URL: `http://127.0.0.1:${ports[0]}`, PORT: String(ports[1]) };
      const dev = bot.command(["dev"], env);
      await dev.line((line) => line.includes("bot ready"));
      expect(await bot.answerTo("dm.message", env)).toMatchObject({ status: 201 });
      dev.kill("SIGINT");
      expect(await dev.exited, dev.output()).toEqual({ code: 0, signal: null });
      return dev.stdout.at(-1);
    };
    const pretty = join(bot.folder, "node_modules", "pino-pretty");
    expect(await lastLine()).toMatch(/INFO.*stopped/);
    await rename(pretty, `${pretty}-away`);
    onTestFinished(() => rename(`${pretty}-away`, pretty));
    expect(await lastLine()).toMatch(/^\{.*"msg":"stopped"\}$/);
  });

  test("sends images without sharp, and the local platform shows no previews", async () => {
    const { env, apiKey } = await bot.startBoth();
    expect(await previewOf(env, apiKey)).toBeNull();
  });

  test("names the package that PostgreSQL needs", async () => {
    const env = {
      DATABASE_URL: "postgres://bot@127.0.0.1:9/bot",
      SERVICE_BASE_URL: "http://127.0.0.1:9",
    };
    const process = bot.start(env);
    expect((await process.exited).code).not.toBe(0);
    expect(process.output()).toContain("npm install pg");
    expect(JSON.stringify(await bot.json(["doctor"], env, 1))).toContain("npm install pg");
    const inbox = await bot.run([CLI, "inbox", "stats"], env);
    expect(inbox.output).toContain("npm install pg");
  });
});

describe("a bot with the optional packages", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    const { devDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const { pg, sharp } = devDependencies;
    const optional = Object.entries({ ...toolVersions(), pg, sharp }).filter(([name]) =>
      /^(?:@opentelemetry\/.*|@types\/express|express|pg|sharp)$/.test(name),
    );
    const specs = optional.map(([name, version]) => `${name}@${version}`);
    const args = ["install", "--no-audit", "--no-fund", ...specs];
    const { code, output } = await run("npm", args, { cwd: bot.folder, env: process.env });
    expect(code, output).toBe(0);
  }, SCAFFOLD_TIMEOUT_MS);

  test.each(examples)("runs examples/%s", async (name) => {
    const folder = join("examples", name);
    const copy = join(bot.folder, folder);
    await cp(join(root, folder), copy, { recursive: true });
    await writeFile(
      join(copy, "tsconfig.json"),
      JSON.stringify({ extends: "../../tsconfig.json", include: ["src", "test"] }),
    );
    const checks = [
      [join("node_modules", "typescript", "bin", "tsc"), "--project", copy],
      ["--test", join(folder, "test", "*.test.ts")],
    ];
    for (const check of checks) {
      const { code, output } = await bot.run(check);
      expect(code, output).toBe(0);
    }
    const { env } = await bot.startBoth({}, [], join(folder, "src", "main.ts"));
    expect(await bot.answerTo("dm.message", env, ASKED[name])).toMatchObject({ status: 201 });
  });

  test("runs on PostgreSQL with pg, and copies an inbox there", async () => {
    const server = await PostgresServer.start("18");
    onTestFinished(() => server.stop());
    const DATABASE_URL = server.url();
    const { env } = await bot.startBoth({ DATABASE_URL });
    expect(await bot.answerTo("dm.message", env)).toMatchObject({ status: 201 });
    expect(await bot.json(["inbox", "stats"], env)).toMatchObject({ done: 1 });
    expect(await bot.json(["doctor"], env)).toMatchObject({ ok: true });

    const inFile = await bot.startBoth();
    await bot.answerTo("dm.message", inFile.env);
    inFile.process.kill("SIGTERM");
    await inFile.process.exited;
    const copied = { DATABASE_URL, DATABASE_SCHEMA: "copied" };
    await bot.cli(["inbox", "copy", "--from", inFile.env["DATABASE_URL"] ?? ""], copied);
    expect(await bot.json(["inbox", "stats"], copied)).toMatchObject({ done: 1 });
  });

  test("gets previews of its images from the local platform with sharp", async () => {
    const { env, apiKey } = await bot.startBoth();
    expect(await previewOf(env, apiKey)).toMatch(/^http/);
  });

  test("exports spans with the SDK that the documentation sets up", async () => {
    const spans = Promise.withResolvers<string>();
    const collector = createServer(async (request, response) => {
      const body = await buffer(request);
      response.end("{}");
      if (body.includes("process dm.message")) spans.resolve(String(request.url));
    });
    const { url } = await listenUntilEnd(collector);
    const setUp = documentedBlock("docs/operate/tracing.md", "tracing").replace(
      /http:[^"]+(?=\/v1)/,
      url,
    );
    await writeFile(join(bot.folder, "tracing.ts"), setUp);
    const { env } = await bot.startBoth({ TRACING: "on", OTEL_BSP_SCHEDULE_DELAY: "100" }, [
      "--import",
      "./tracing.ts",
    ]);
    await bot.answerTo("dm.message", env);
    expect(await spans.promise).toBe("/v1/traces");
  });
});

/** Returns the names of the tools that an MCP server has. */
async function toolsAt(url: URL, token: string): Promise<readonly string[]> {
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return (await client.listTools()).tools.map(({ name }) => name);
}

/** Makes the bot answer with a picture, and returns the URL of its preview. */
async function previewOf(env: Env, apiKey: string): Promise<unknown> {
  const answer = await bot.answerTo("mention", env);
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${env["SERVICE_BASE_URL"]}/api/v1${answer["path"]}`, { headers });
  const { items } = JSON.parse(await response.text());
  return items[0].images[0].thumbUrl;
}
