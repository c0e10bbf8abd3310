import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { isAttended, stores, templates } from "../faces/create.ts";
import {
  everythingIn,
  type Outcome,
  root,
  type Setup,
  scaffold,
  temporaryDirectory,
} from "./harness.ts";
import { keys } from "./keys.ts";
import { Screen } from "./screen.ts";

class Session {
  readonly screen: Screen = new Screen();
  readonly input: PassThrough = new PassThrough();
  readonly outcome: Promise<Outcome>;

  constructor(argv: readonly string[], setup: Setup) {
    const output = new Writable({
      write: (chunk, _, done) => {
        this.screen.print(String(chunk));
        done();
      },
    });
    const terminal = { input: this.input, output };
    this.outcome = scaffold(argv, { ...setup, terminal }).finally(() => this.screen.end());
  }

  async answer(
    ...answers: readonly (readonly [question: string, answer: string])[]
  ): Promise<void> {
    for (const [question, answer] of answers) {
      await this.screen.shows(`◆ ${question}`);
      this.input.write(answer);
    }
  }
}

const quick = ["--no-install", "--no-git"];
const defaults = [
  ["Template", keys.enter],
  ["Store", keys.enter],
] as const;

describe("a question", () => {
  test("is asked for each choice without a flag, and for no other", async () => {
    const cwd = await temporaryDirectory();
    const session = new Session(["bot", "--store", "sqlite", "--pm", "pnpm"], { cwd });
    await session.answer(
      ["Template", keys.enter],
      ["Install with pnpm?", "n"],
      ["Initialize git?", "n"],
    );
    const { code, out, calls } = await session.outcome;
    expect({ code, calls }).toEqual({ code: 0, calls: [] });
    expect(session.screen.text).not.toContain("Store");
    expect(session.screen.text).not.toContain("Directory");
    // The answered questions are already on the screen, so only the other settings are printed.
    expect(out).toContain("◇ Store           sqlite\n");
    expect(out).not.toContain("Template");
    expect(out).not.toContain("Install ");
  });

  test("takes the default with Enter alone, which is yes for install and git", async () => {
    const cwd = await temporaryDirectory();
    const session = new Session([], { cwd });
    await session.answer(
      ["Directory", keys.enter],
      ...defaults,
      ["Install with npm?", keys.enter],
      ["Initialize git?", keys.enter],
    );
    const { calls } = await session.outcome;
    expect(calls.map(({ command }) => command)).toEqual(["npm", "git", "git", "git"]);
    expect(session.screen.text).toMatch(/◇ Directory +my-bot\n/);
    expect(session.screen.text).toMatch(/◇ Store +sqlite\n/);
    expect(await everythingIn(join(cwd, "my-bot"))).toContain("src/main.ts");
  });

  test("about install and git is not asked if a flag answers it", async () => {
    const cwd = await temporaryDirectory();
    const session = new Session(["bot", "--install", "--git"], { cwd });
    await session.answer(...defaults);
    const { code, calls, out } = await session.outcome;
    expect(code).toBe(0);
    expect(calls.map(({ command }) => command)).toEqual(["npm", "git", "git", "git"]);
    expect(session.screen.text).not.toContain("?");
    expect(out).toMatch(/◇ Install +npm install\n◇ Git +yes\n/);
  });

  test("of git is not asked inside of a repository, be the directory there or not", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, ".git"));
    const session = new Session(["deep/er/bot", "--no-install"], { cwd });
    await session.answer(...defaults);
    const { code, out } = await session.outcome;
    expect(code).toBe(0);
    expect(session.screen.text).not.toContain("git");
    expect(out).toContain("already in a repository");
  });

  test("offers every template and every store, with a word about each", async () => {
    const cwd = await temporaryDirectory();
    const session = new Session(["bot", ...quick], { cwd });
    for (const values of [templates, stores]) {
      for (const [index, value] of values.entries()) {
        await session.screen.shows(`● ${value}  `);
        if (index < values.length - 1) session.input.write(keys.down);
      }
      for (const _ of values.slice(1)) session.input.write(keys.up);
      await session.screen.shows(`● ${values[0]}  `);
      session.input.write(keys.enter);
    }
    expect((await session.outcome).code).toBe(0);
  });
});

describe("the question for the directory", () => {
  test("is asked again until the answer is valid", async () => {
    const cwd = await temporaryDirectory();
    const session = new Session(quick, { cwd });
    await session.answer(["Directory", `con${keys.enter}`]);
    await session.screen.shows("▲ Directory");
    await session.screen.shows('Windows reserves the name "con".');
    session.input.write(`-bot${keys.enter}`);
    await session.answer(...defaults);
    expect((await session.outcome).code).toBe(0);
    expect(await everythingIn(cwd)).toContain("con-bot/package.json");
  });

  test("takes ~ for the home, since no shell has seen it", async () => {
    const cwd = await temporaryDirectory();
    const home = join(cwd, "home");
    await mkdir(home);
    const session = new Session(quick, { cwd, env: { HOME: home } });
    await session.answer(["Directory", `~/bot${keys.enter}`], ...defaults);
    expect((await session.outcome).code).toBe(0);
    expect(await everythingIn(cwd)).toContain("home/bot/package.json");
    expect(await everythingIn(cwd)).not.toContain("~");
  });

  test.each([
    ["full", "full/package.json exists. Choose another directory."],
    ["file", "file is not a directory. Choose another directory."],
    ["full/package.json/below", "below is not a directory. Choose another directory."],
  ])("is asked again at once if no bot fits, as in %s", async (answer, problem) => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "full"));
    await writeFile(join(cwd, "full/package.json"), "mine");
    await writeFile(join(cwd, "file"), "mine");
    const session = new Session(quick, { cwd });
    await session.answer(["Directory", `${answer}${keys.enter}`]);
    await session.screen.shows(problem);
    expect(session.screen.text).not.toContain("Template");
    session.input.write(`${"\x7f".repeat(answer.length)}bot${keys.enter}`);
    await session.answer(...defaults);
    expect((await session.outcome).code).toBe(0);
    expect(await everythingIn(cwd)).toContain("bot/package.json");
  });

  test("shows what else would be overwritten after the answers, and nothing is written", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot"));
    await writeFile(join(cwd, "bot/README.md"), "mine");
    const session = new Session(quick, { cwd });
    await session.answer(["Directory", `bot${keys.enter}`], ...defaults);
    const { code, err } = await session.outcome;
    expect(code).toBe(2);
    expect(err).toContain("README.md  (exists)");
    expect(await everythingIn(cwd)).toEqual(["bot", "bot/README.md"]);
  });
});

describe("no questions", () => {
  test("for a directory that cannot take a bot anyway", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "full"));
    await writeFile(join(cwd, "full/package.json"), "mine");
    await symlink("loop", join(cwd, "loop"));
    for (const dir of ["full", "loop", "con", "full/package.json/bot"]) {
      const session = new Session([dir], { cwd });
      expect((await session.outcome).code).toBe(2);
      expect(session.screen.text).toBe("");
    }
  });

  test("and no prompts are loaded without a terminal, in CI and under an agent", () => {
    expect(isAttended({})).toBe(true);
    expect(isAttended({ CI: "false", TERM: "xterm" })).toBe(true);
    for (const env of [{ CI: "1" }, { CI: "true" }, { CLAUDECODE: "1" }, { TERM: "dumb" }]) {
      expect(isAttended(env)).toBe(false);
    }
  });

  test("and a fresh clone gets no dependencies if the flags answer every question", async () => {
    const cwd = await temporaryDirectory();
    const prepare = () => {
      throw new Error("npm ci");
    };
    const origin = { root, origin: "checkout" as const, prepare };
    const flags = ["--template", "starter", "--store", "sqlite", "--service-bot", "file:x"];
    const session = new Session(["bot", ...flags, ...quick], { cwd, origin });
    expect((await session.outcome).code).toBe(0);
    expect(session.screen.text).toBe("");
  });

  test.each([
    ["with --yes", ["--yes"], {}],
    ["with npm's own --yes", [], { npm_config_yes: "true" }],
    ["with --json", ["--json"], {}],
    ["where the flags have said everything", ["--template=starter", "--store=sqlite"], {}],
    ["in CI", [], { CI: "true" }],
  ])("%s", async (_, argv, env) => {
    const cwd = await temporaryDirectory();
    const session = new Session(["bot", ...quick, ...argv], { cwd, env });
    expect((await session.outcome).code).toBe(0);
    expect(session.screen.text).toBe("");
  });
});

describe("a run ends with 130, and nothing is written,", () => {
  test.each(["ctrlC", "escape", "ctrlD"] as const)("on %s", async (key) => {
    const cwd = await temporaryDirectory();
    const session = new Session(["bot"], { cwd });
    await session.answer(["Template", keys.enter], ["Store", keys[key]]);
    await expectCancelled(session, cwd);
  });

  test("when the terminal goes away", async () => {
    const cwd = await temporaryDirectory();
    const session = new Session(["bot"], { cwd });
    await session.screen.shows("◆ Template");
    session.input.end();
    await expectCancelled(session, cwd);
  });
});

async function expectCancelled({ outcome }: Session, cwd: string): Promise<void> {
  const { code, err } = await outcome;
  expect({ code, err }).toEqual({ code: 130, err: "✖ Cancelled. Nothing was written.\n" });
  expect(await everythingIn(cwd)).toEqual([]);
}

test("a fresh clone gets its dependencies before the first question", async () => {
  const cwd = await temporaryDirectory();
  const prepare = () => {
    throw new Error("npm ci failed. Run it by hand.");
  };
  const origin = { root, origin: "checkout" as const, prepare };
  const session = new Session(["bot"], { cwd, origin });
  const { code, err } = await session.outcome;
  expect(code).toBe(1);
  expect(err).toContain("Run it by hand");
  expect(session.screen.text).toBe("");
});
