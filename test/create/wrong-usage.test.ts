import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { everythingIn, root, type Setup, scaffold, temporaryDirectory } from "./harness.ts";
import { fingerprint } from "./tree.ts";

async function somebodysDirectory(): Promise<string> {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "full/src"), { recursive: true });
  await writeFile(join(cwd, "full/package.json"), "mine");
  await writeFile(join(cwd, "full/src/bot.ts"), "mine too");
  await writeFile(join(cwd, "full/notes.txt"), "notes");
  await writeFile(join(cwd, "file"), "a file");
  await mkdir(join(cwd, "sub"));
  await writeFile(join(cwd, "sub/src"), "a file where the bot needs a directory");
  await mkdir(join(cwd, "links"));
  await symlink("../sub", join(cwd, "links/src"));
  await symlink("nowhere", join(cwd, "dangling"));
  await symlink("loop", join(cwd, "loop"));
  await symlink("full", join(cwd, "link-to-full"));
  return cwd;
}

const FLAGS = " Run `npm create service-bot@latest -- --help` to list the flags.";

const long = "x".repeat(215);

/** Invalid invocations, each with its arguments, exact message and setup. */
const wrong: readonly (readonly [string[], string, Partial<Setup>?])[] = [
  // Flags
  [["bot", "--frobnicate"], `Unknown flag --frobnicate.${FLAGS}`],
  [["bot", "--install", "--no-install"], "--install and --no-install cannot be combined."],
  [["bot", "--no-git", "--git"], "--git and --no-git cannot be combined."],
  [["bot", "-x"], `Unknown flag -x.${FLAGS}`],
  [["bot", "--no-git=yes"], `--no-git takes no value.${FLAGS}`],
  [["bot", "--yes=no"], `--yes takes no value.${FLAGS}`],
  [["bot", "--template"], `--template needs a value: --template NAME.${FLAGS}`],
  [["bot", "--store", "-y"], `--store needs a value: --store NAME.${FLAGS}`],
  [["bot", "--service-bot", "--yes"], `--service-bot needs a value: --service-bot SPEC.${FLAGS}`],
  [["bot", "--template", "huge"], 'Unknown --template "huge". Known: starter, minimal, assistant.'],
  [["bot", "--template="], 'Unknown --template "". Known: starter, minimal, assistant.'],
  [["bot", "--store", "mysql"], 'Unknown --store "mysql". Known: sqlite, postgres.'],
  [["bot", "--pm", "pip"], 'Unknown --pm "pip". Known: npm, pnpm, yarn, bun.'],
  ...["", "^1.0.0\n", " ^1.0.0"].map((spec): [string[], string] => [
    ["bot", "--service-bot", spec],
    "--service-bot takes a version for package.json, such as ^1.0.0 or file:../x.tgz.",
  ]),
  // Flags that npm consumes from `npm create service-bot my-bot --template minimal …`
  [
    ["my-bot", "minimal"],
    'npm did not pass on --template, --store, --no-git. Put the flags after "--": npm create service-bot@latest my-bot -- --template …',
    {
      env: {
        npm_config_user_agent: "npm/11.6.0 node/v24.0.0",
        npm_config_template: "true",
        npm_config_store: "postgres",
        npm_config_git: "false",
      },
    },
  ],
  [
    ["my-bot"],
    'npm did not pass on --install, --git. Put the flags after "--": npm create service-bot@latest my-bot -- --install …',
    {
      env: {
        npm_config_user_agent: "npm/11.6.0 node/v24.0.0",
        npm_config_install: "true",
        npm_config_git: "true",
      },
    },
  ],
  // The directory
  [[], "Pass a directory. Example: npm create service-bot@latest my-bot"],
  [
    [],
    "Pass a directory. Example: node create-bot.js ../my-bot",
    { origin: { root, origin: "checkout" } },
  ],
  [["--yes"], "Pass a directory. Example: npm create service-bot@latest my-bot"],
  [[""], "The directory has no name. Use a name such as my-bot."],
  [["my", "bot"], 'Expected one directory, got 2: my, bot. Quote a name with spaces: "my bot"'],
  [["a\nb"], "The directory's name contains a control character. Choose another name."],
  [
    ["!!!"],
    'Cannot derive a package name from "!!!". Choose a directory name with Latin letters or digits, such as my-bot.',
  ],
  [
    ["/"],
    'Cannot derive a package name from "". Choose a directory name with Latin letters or digits, such as my-bot.',
  ],
  [
    ["some/where/service-bot"],
    "The name service-bot is reserved. Choose another directory, such as my-service-bot.",
  ],
  [["pg"], "The name pg is reserved. Choose another directory, such as my-pg."],
  [
    ["events"],
    "The name events is a Node module, so npm does not allow it. Choose another directory, such as my-events.",
  ],
  [[long], "The name has 215 characters, but npm allows 214. Choose a shorter name."],
  [["ä".repeat(200)], "The directory's name is too long for this system. Choose a shorter name."],
  // Names that Windows reserves
  [["con"], 'Windows reserves the name "con". Choose another directory, such as my-con.'],
  [["NUL.bot"], 'Windows reserves the name "NUL.bot". Choose another directory, such as my-nul.'],
  [["a:b"], 'The name "a:b" contains :, which Windows does not allow. Choose another directory.'],
  [
    ["what?"],
    'The name "what?" contains ?, which Windows does not allow. Choose another directory.',
  ],
  [
    ["a\\b"],
    'The name "a\\\\b" contains \\, which Windows does not allow. Choose another directory.',
  ],
  ...["bot.", "bot "].map((name): [string[], string] => [
    [name],
    `The name "${name}" ends with a dot or a space, which Windows does not allow. Choose another directory.`,
  ]),
  [
    ["aux/bot"],
    'Windows reserves the name "aux". Choose another directory, such as my-aux.',
    { platform: "win32" },
  ],
  [
    ["C:\\bots\\a*b\\bot"],
    'The name "a*b" contains *, which Windows does not allow. Choose another directory.',
    { platform: "win32" },
  ],
  [
    ["/a:b/bot"],
    'The path /a:b/bot contains ":", the separator of PATH, so npm could not find the bot\'s commands. Choose another directory.',
  ],
  // Existing files
  [["full"], standsInTheWay("full", "package.json  (exists)", "src/bot.ts  (exists)")],
  [
    ["link-to-full"],
    standsInTheWay("link-to-full", "package.json  (exists)", "src/bot.ts  (exists)"),
  ],
  [["sub/../full"], standsInTheWay("full", "package.json  (exists)", "src/bot.ts  (exists)")],
  [["file"], standsInTheWay("file", ".  (is not a directory)")],
  [["file/below"], standsInTheWay("file/below", ".  (is not a directory)")],
  [["dangling"], standsInTheWay("dangling", ".  (is not a directory)")],
  [["dangling/below"], standsInTheWay("dangling/below", ".  (is not a directory)")],
  [["loop"], standsInTheWay("loop", ".  (is not a directory)")],
  [["sub"], standsInTheWay("sub", "src  (is not a directory)")],
  [["links"], standsInTheWay("links", "src  (leads out of the directory)")],
];

function standsInTheWay(place: string, ...lines: string[]): string {
  const list = lines.map((line) => `    ${line}\n`).join("");
  return (
    `${place} contains files that would be overwritten:\n${list}` +
    "  Nothing was written. Choose another directory, or move the files away."
  );
}

const cases = wrong.map(([argv, message, setup = {}]) => [argv, message, setup] as const);

describe("exit code 2, the whole message, and not a byte is changed", () => {
  test.each(cases)("%j", async (argv, message, setup) => {
    const cwd = await somebodysDirectory();
    const before = await fingerprint(cwd);
    const expected = { code: 2, err: `✖ ${message}\n`, calls: [] };
    expect(await scaffold(argv, { cwd, ...setup })).toEqual({ ...expected, out: "" });
    const { out, ...asJson } = await scaffold(["--json", ...argv], { cwd, ...setup });
    expect(asJson).toEqual(expected);
    expect(JSON.parse(out)).toEqual({ error: { message, conflicts: expect.any(Array) } });
    expect(await fingerprint(cwd)).toEqual(before);
  });

  test("flags that npm kept and handed on as well are fine", async () => {
    const cwd = await somebodysDirectory();
    const env = {
      npm_config_user_agent: "npm/11.6.0",
      npm_config_store: "x",
      npm_config_git: "git",
    };
    expect((await scaffold(["bot", "--store", "sqlite"], { cwd, env })).code).toBe(0);
  });

  test("a path above that Windows would not take is none of our business elsewhere", async () => {
    const cwd = await somebodysDirectory();
    expect((await scaffold(["what?/con/bot"], { cwd })).code).toBe(0);
  });
});

describe("no byte outside the bot's folder changes", () => {
  test.each([
    ["made", []],
    ["refused by npm", ["npm"]],
    ["refused by git", ["git"]],
  ])("when it is %s", async (_, failing) => {
    const cwd = await somebodysDirectory();
    // Create the target first. Otherwise, its new entry would change the parent's modification time.
    await mkdir(join(cwd, "bot"));
    const before = await fingerprint(cwd, "bot");
    const run = ({ command }: { command: string }) => ({ code: failing.includes(command) ? 1 : 0 });
    await scaffold(["bot", "--store", "postgres"], { cwd, run });
    expect(await fingerprint(cwd, "bot")).toEqual(before);
    expect(await everythingIn(join(cwd, "bot"))).toContain("package.json");
  });
});

describe("what is in the target already", () => {
  test("an install that would rewrite a lock file or empty node_modules is refused", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot/node_modules/x"), { recursive: true });
    await writeFile(join(cwd, "bot/package-lock.json"), "{}");
    const { code, err } = await scaffold(["bot"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain("node_modules");
    expect(err).toContain("package-lock.json");
    expect((await scaffold(["bot", "--no-install"], { cwd })).code).toBe(0);
  });

  test("a link to a sibling whose name begins alike leads out as well", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot-2"));
    await mkdir(join(cwd, "bot"));
    await symlink("../bot-2", join(cwd, "bot/test"));
    expect((await scaffold(["bot"], { cwd })).code).toBe(2);
    expect(await everythingIn(join(cwd, "bot-2"))).toEqual([]);
  });

  test("a file of the bot that is a link, even one to nowhere, counts as being there", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot"));
    await symlink(join(cwd, "secrets"), join(cwd, "bot/.env"));
    const { code, err } = await scaffold(["bot"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain(".env");
    expect(await everythingIn(cwd)).toEqual(["bot", "bot/.env"]);
  });

  test("the directory and one above it may be links, and links that stay inside are followed", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "real/bot/code"), { recursive: true });
    await symlink("real", join(cwd, "way"));
    await symlink("bot", join(cwd, "real/door"));
    await symlink("code", join(cwd, "real/bot/src"));
    expect((await scaffold(["way/door", "--no-git"], { cwd })).code).toBe(0);
    expect(await everythingIn(join(cwd, "real/bot/code"))).toContain("bot.ts");
    expect(await readFile(join(cwd, "real/bot/package.json"), "utf8")).toContain('"door"');
  });
});
