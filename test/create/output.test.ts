import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { quote } from "../faces/create.ts";
import { everythingIn, root, scaffold, temporaryDirectory } from "./harness.ts";

describe("what is printed", () => {
  test("every choice, and which of them are defaults", async () => {
    const cwd = await temporaryDirectory();
    const { out } = await scaffold(["bot", "--store", "sqlite", "--no-git"], { cwd });
    expect(out).toMatch(/^┌ create-service-bot \d+\.\d+\.\d+\n/);
    expect(out).toMatch(/◇ Template +starter \(default\)\n/);
    expect(out).toMatch(/◇ Store +sqlite\n/);
    expect(out).toMatch(/◇ Install +npm install \(default\)\n/);
    expect(out).toMatch(/◇ Git +no \(--no-git\)\n/);
  });

  test("the package name, where it is not the directory's", async () => {
    const cwd = await temporaryDirectory();
    const renamed = await scaffold(["My Bot!"], { cwd });
    expect(renamed.out).toContain('my-bot (from "My Bot!")');
    expect((await scaffold(["bot"], { cwd })).out).not.toContain("Name");
  });

  test("steps with the seconds that they took", async () => {
    const cwd = await temporaryDirectory();
    const { out } = await scaffold(["bot"], { cwd });
    expect(out).toMatch(/✔ \d+ files → bot +0\.0 s\n/);
    expect(out).toMatch(/✔ npm install +0\.0 s\n/);
  });

  test("at a terminal, the seconds of a step while it runs, and nothing of them at its end", async () => {
    const cwd = await temporaryDirectory();
    let now = 0;
    let isStopped = false;
    let tick = () => {};
    const { out } = await scaffold(["bot", "--no-git"], {
      cwd,
      rewrites: { out: true, err: true },
      now: () => now,
      every: (_ms, what) => {
        tick = what;
        return () => {
          isStopped = true;
        };
      },
      run: () => {
        now += 1_200;
        tick();
        return {};
      },
    });
    const clear = "\r\x1b[K";
    expect(out).toContain(
      `${clear}⠋ npm install  0 s${clear}⠙ npm install  1 s${clear}✔ npm install `,
    );
    expect(isStopped).toBe(true);
  });

  test("--yes changes nothing without questions", async () => {
    const cwd = await temporaryDirectory();
    const { code, out } = await scaffold(["bot", "--yes"], { cwd });
    expect({ code, defaults: out.includes("(default)") }).toEqual({ code: 0, defaults: true });
  });

  test("a stray -- is ignored anywhere", async () => {
    const cwd = await temporaryDirectory();
    const { code, calls } = await scaffold(["--", "bot", "--", "--no-install", "--no-git", "--"], {
      cwd,
    });
    expect({ code, calls }).toEqual({ code: 0, calls: [] });
  });
});

describe("paths can be pasted", () => {
  test.each([
    ["plain/path-1.2", "plain/path-1.2"],
    ["my bot", "'my bot'"],
    ["it's", "'it'\\''s'"],
    ["a$b`c", "'a$b`c'"],
    ["~", "'~'"],
  ])("%s", (path, quoted) => {
    expect(quote(path, "linux")).toBe(quoted);
  });

  test("on Windows with double quotes", () => {
    expect(quote("my bot", "win32")).toBe('"my bot"');
    expect(quote("C:\\bots\\one", "win32")).toBe("C:\\bots\\one");
  });

  test("the printed cd is quoted", async () => {
    const cwd = await temporaryDirectory();
    expect((await scaffold(["My Bot"], { cwd })).out).toContain("  cd 'My Bot'\n");
  });
});

describe("--dry-run", () => {
  test("lists every file and writes, packs, installs none", async () => {
    const cwd = await temporaryDirectory();
    const origin = { root, origin: "checkout" as const };
    const { code, out, calls } = await scaffold(["bot", "--dry-run"], { cwd, origin });
    expect({ code, calls }).toEqual({ code: 0, calls: [] });
    for (const path of [".env", "package.json", "src/handlers/like.ts"]) {
      expect(out).toContain(`    ${path}\n`);
    }
    expect(out).toMatch(/ {4}vendor\/service-bot-.+\.tgz\n/);
    expect(await everythingIn(cwd)).toEqual([]);
  });

  test("what it lists is what is written without it", async () => {
    const cwd = await temporaryDirectory();
    const dry = await scaffold(["bot", "--dry-run", "--json"], { cwd });
    const wet = await scaffold(["bot", "--json", "--no-install", "--no-git"], { cwd });
    expect(JSON.parse(dry.out)).toMatchObject({ dryRun: true, installed: false, git: false });
    expect(JSON.parse(dry.out).files).toEqual(JSON.parse(wet.out).files);
    const written = await everythingIn(join(cwd, "bot"));
    expect(written).toEqual(expect.arrayContaining(JSON.parse(dry.out).files));
  });

  test("it finds what a real run would find", async () => {
    const cwd = await temporaryDirectory();
    await scaffold(["bot"], { cwd });
    const { code, err, out } = await scaffold(["bot", "--dry-run", "--json"], { cwd });
    expect(code).toBe(2);
    const { conflicts } = JSON.parse(out).error;
    expect(conflicts).toContain("package.json");
    expect(err.match(/\(exists\)$/gm)).toHaveLength(10);
    expect(err).toContain(`… and ${conflicts.length - 10} more\n`);
  });
});

describe("--json", () => {
  test("one object on standard output, and text for users on standard error", async () => {
    const cwd = await temporaryDirectory();
    const { out, err } = await scaffold(["My Bot", "--json", "--no-git"], { cwd });
    expect(out.trimEnd()).not.toContain("\n");
    expect(JSON.parse(out)).toEqual({
      dir: join(cwd, "My Bot"),
      name: "my-bot",
      template: "starter",
      store: "sqlite",
      packageManager: "npm",
      serviceBot: expect.stringMatching(/^\^\d/),
      files: expect.arrayContaining([".env", "package.json", "src/main.ts"]),
      dryRun: false,
      installed: true,
      git: false,
      committed: false,
      next: ["cd 'My Bot'", "npm run dev", "npm test"],
    });
    expect(err).toContain("create-service-bot");
  });
});

describe("questions about the command itself", () => {
  test("docs/reference/command-line.md and --help name the same flags", async () => {
    const { code, out } = await scaffold(["--help"], { cwd: "/" });
    expect(code).toBe(0);
    const text = await readFile(join(root, "docs/reference/command-line.md"), "utf8");
    const [chapter = ""] = /## create-bot\.js\n.*?(?=\n## )/s.exec(text) ?? [];
    const flags = (of: string) => new Set(of.match(/--[a-z][a-z-]+/g));
    expect([...flags(chapter)].sort()).toEqual([...flags(out)].sort());
  });

  test("--json goes for them, too", async () => {
    const help = await scaffold(["--help", "--json"], { cwd: "/" });
    expect(JSON.parse(help.out).help).toContain("Exit codes:");
    const version = await scaffold(["--json", "--version"], { cwd: "/" });
    expect(JSON.parse(version.out)).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  });

  test("--version prints the version alone", async () => {
    const { code, out } = await scaffold(["--version"], { cwd: "/" });
    expect(code).toBe(0);
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
