import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { templates } from "../faces/create.ts";
import { everythingIn, root, scaffold, temporaryDirectory } from "./harness.ts";

async function bot(argv: readonly string[] = [], setup: { nodeVersion?: string } = {}) {
  const cwd = await temporaryDirectory();
  const outcome = await scaffold(["bot", ...argv], { cwd, ...setup });
  expect(outcome.err).toBe("");
  expect(outcome.code).toBe(0);
  const directory = join(cwd, "bot");
  return { directory, outcome, read: (path: string) => readFile(join(directory, path), "utf8") };
}

async function manifestOf(argv: readonly string[], setup: { nodeVersion?: string } = {}) {
  return JSON.parse(await (await bot(argv, setup)).read("package.json"));
}

test("every template that is stored can be chosen", async () => {
  // Two of the folders are not templates: files for each store, and files for operators.
  const stored = await readdir(join(root, "templates"));
  expect(stored.sort()).toEqual([...templates, "stores", "operations"].sort());
});

describe.each(templates)("the template %s", (template) => {
  const argv = ["--template", template];

  test("every file of it is there, under its own name", async () => {
    const { directory } = await bot(argv);
    const stored = (await readdir(join(root, "templates", template), { recursive: true })).length;
    const paths = await everythingIn(directory);
    expect(paths).toHaveLength(stored + [".env"].length);
    expect(paths).toContain(".gitignore");
    expect(paths).toContain("package.json");
    expect(paths.filter((path) => /(?:^|\/)_/.test(path))).toEqual([]);
  });

  test("no mark of it is left, and expressions of workflows are no marks", async () => {
    const { directory } = await bot(argv);
    for (const path of await everythingIn(directory)) {
      if (!(await stat(join(directory, path))).isFile()) continue;
      expect(await readFile(join(directory, path), "utf8")).not.toMatch(/(?<!\$)\{\{/);
    }
  });

  test("package.json carries the name of the directory and the scripts of every bot", async () => {
    const manifest = await manifestOf(argv);
    expect(manifest.name).toBe("bot");
    expect(manifest.type).toBe("module");
    expect(manifest.engines.node).toBe(">=22.18");
    for (const script of ["dev", "start", "test", "typecheck", "doctor"]) {
      expect(manifest.scripts).toHaveProperty(script);
    }
  });
});

test("the minimal template is one file of a dozen lines, and its test", async () => {
  const { directory, read } = await bot(["--template", "minimal"]);
  const code = (await everythingIn(directory)).filter((path) => path.endsWith(".ts"));
  expect(code).toEqual(["src/main.ts", "test/main.test.ts"]);
  expect((await read("src/main.ts")).trimEnd().split("\n").length).toBeLessThanOrEqual(12);
});

test("the assistant template, with its tests, has less than 120 lines", async () => {
  const { directory, read } = await bot(["--template", "assistant"]);
  const code = (await everythingIn(directory)).filter((path) => path.endsWith(".ts"));
  expect(code.map((path) => basename(path))).toEqual(["bot.ts", "main.ts", "bot.test.ts"]);
  const texts = await Promise.all(code.map(read));
  expect(texts.join("").trimEnd().split("\n").length).toBeLessThan(120);
});

test("each event type has its own handler file", async () => {
  const { directory } = await bot();
  expect((await readdir(join(directory, "src/handlers"))).sort()).toEqual([
    "comment.ts",
    "dm-message.ts",
    "follow.ts",
    "like.ts",
    "mention.ts",
    "quote.ts",
    "reply.ts",
    "repost.ts",
    "unknown.ts",
  ]);
});

describe(".env", () => {
  test("only the owner can read .env", async () => {
    const { directory } = await bot();
    expect((await stat(join(directory, ".env"))).mode & 0o777).toBe(0o600);
  });

  test("it has local addresses and secrets of the right kind, and the example has no secrets", async () => {
    const { read } = await bot();
    const env = parseEnv(await read(".env"));
    expect(Object.keys(env).sort()).toEqual([
      "SERVICE_API_KEY",
      "SERVICE_BASE_URL",
      "SERVICE_WEBHOOK_SECRET",
    ]);
    expect(env["SERVICE_BASE_URL"]).toBe("http://127.0.0.1:4400");
    expect(env["SERVICE_API_KEY"]).toMatch(/^sbk_[0-9a-f]{48}$/);
    expect(env["SERVICE_WEBHOOK_SECRET"]).toMatch(/^whsec_[0-9a-f]{64}$/);
    const example = parseEnv(await read(".env.example"));
    expect(example["SERVICE_API_KEY"]).toBe("");
    expect(example["SERVICE_WEBHOOK_SECRET"]).toBe("");
  });

  test("two bots never share a secret", async () => {
    const [first, second] = [await bot(), await bot()];
    const values = [...(await secretsOf(first.read)), ...(await secretsOf(second.read))];
    expect(new Set(values).size).toBe(4);
  });

  test("no secret is printed", async () => {
    for (const argv of [[], ["--json"]]) {
      const cwd = await temporaryDirectory();
      const { out, err } = await scaffold(["bot", ...argv], { cwd });
      const read = (path: string) => readFile(join(cwd, "bot", path), "utf8");
      for (const secret of await secretsOf(read)) expect(out + err).not.toContain(secret);
    }
  });

  test("every variable of a bot has its line and its meaning", async () => {
    const { read } = await bot();
    const lines = (await read(".env.example")).split("\n");
    for (const name of [
      "SERVICE_BASE_URL",
      "SERVICE_API_KEY",
      "SERVICE_WEBHOOK_SECRET",
      "DELIVERY",
      "HOST",
      "PORT",
      "WEBHOOK_PATH",
      "DATABASE_URL",
      "POLL_INTERVAL_MS",
      "AUDIT_INTERVAL_MS",
      "START_FROM",
      "CONCURRENCY",
      "MAX_ATTEMPTS",
      "LOG_LEVEL",
      "TRACING",
    ]) {
      const at = lines.findIndex((line) => line.replace(/^#/, "").startsWith(`${name}=`));
      expect(lines[at - 1], name).toMatch(/^# /);
    }
  });
});

describe("package.json", () => {
  test("a published scaffolder depends on its own version", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect((await manifestOf([])).dependencies).toEqual({ "service-bot": `^${version}` });
  });

  test("--service-bot goes before that, letter by letter", async () => {
    const manifest = await manifestOf(["--service-bot", "file:../a path/x.tgz"]);
    expect(manifest.dependencies["service-bot"]).toBe("file:../a path/x.tgz");
  });

  test("on a Node that runs bots, the bot does not install Node", async () => {
    const manifest = await manifestOf([], { nodeVersion: "22.18.0" });
    expect(manifest.devDependencies).not.toHaveProperty("node");
    expect(manifest.allowScripts).toEqual({ node: true, "better-sqlite3": false });
  });

  test("on an older Node, the bot installs its own, and the output mentions it", async () => {
    for (const nodeVersion of ["20.20.2", "v22.17.1"]) {
      const { outcome, read } = await bot([], { nodeVersion });
      const manifest = JSON.parse(await read("package.json"));
      expect(manifest.devDependencies.node).toBe("^24.0.0");
      expect(manifest.allowScripts).toEqual({ node: true, "better-sqlite3": false });
      expect(outcome.out).toContain(`Node ${nodeVersion.replace("v", "")} is older than 22.18`);
    }
  });
});

describe("an existing directory", () => {
  test("the current one, with things of its owner in it, which stay as they are", async () => {
    const cwd = join(await temporaryDirectory(), "my-bot");
    const kept = [".github/CODEOWNERS", ".vscode/settings.json", "LICENSE", "notes/idea.md"];
    for (const path of kept) {
      await mkdir(join(cwd, path, ".."), { recursive: true });
      await writeFile(join(cwd, path), "mine");
    }
    const { code, out } = await scaffold(["."], { cwd });
    expect(code).toBe(0);
    expect(out).not.toContain("cd ");
    for (const path of kept) expect(await readFile(join(cwd, path), "utf8")).toBe("mine");
    expect(JSON.parse(await readFile(join(cwd, "package.json"), "utf8")).name).toBe("my-bot");
  });

  test("directories on the way are made", async () => {
    const cwd = await temporaryDirectory();
    expect((await scaffold(["deep/er/bot"], { cwd })).code).toBe(0);
    expect(await everythingIn(join(cwd, "deep/er/bot"))).toContain("src/main.ts");
  });
});

test("a vendored package is part of the image: nothing in .dockerignore drops it", async () => {
  const { read } = await bot();
  const patterns = (await read(".dockerignore")).split("\n").filter((line) => /^[^#]/.test(line));
  expect(patterns).not.toContain("vendor");
  expect(patterns.filter((pattern) => /tgz|^\*$/.test(pattern))).toEqual([]);
  expect(patterns).toContain(".env");
});

async function secretsOf(read: (path: string) => Promise<string>): Promise<string[]> {
  const env = parseEnv(await read(".env"));
  return [env["SERVICE_API_KEY"] ?? "", env["SERVICE_WEBHOOK_SECRET"] ?? ""];
}
