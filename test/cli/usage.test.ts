import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commands } from "../faces/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { version: string };

test("--version prints the version of the package", async () => {
  expect(await runCommand(["--version"])).toMatchObject({ code: 0, out: version });
});

test("without a command, and with --help, it lists the commands", async () => {
  for (const args of [[], ["--help"], ["help"]]) {
    const { code, out } = await runCommand(args);
    expect(code).toBe(0);
    for (const name of Object.keys(commands)) expect(out).toContain(name);
  }
});

test("a command's --help lists its flags", async () => {
  const { code, out } = await runCommand(["trigger", "--help"]);
  expect(code).toBe(0);
  expect(out).toContain("--wait");
});

test("an unknown command ends with 2, the nearest one and the way to the list", async () => {
  const { code, err } = await runCommand(["tirgger"]);
  expect(code).toBe(2);
  for (const words of ['"tirgger"', "Did you mean trigger?", "npx service-bot --help"])
    expect(err).toContain(words);
  expect(err.split("\n").length).toBe(2);
});

const wrong: readonly [string[], string][] = [
  [["platform", "--prot", "1"], "Did you mean --port?"],
  [["platform", "--json=yes"], "--json takes no value"],
  [["platform", "--port", "99999"], "--port"],
  [["platform", "extra"], "extra"],
  [["trigger", "Dance!"], "dm.message"],
  [["trigger", "mentoin"], "Did you mean mention?"],
  [["trigger", "dm"], "Did you mean dm.message?"],
  [["trigger"], "dm.message"],
  [["trigger", "follow", "--count", "many"], "--count"],
  [["trigger", "dm.message", "--image", "5"], "--image"],
  [["trigger", "poll.closed", "--payload", "[1]"], "--payload"],
  [["trigger", "follow", "--timeout", "5"], "--wait"],
  [["trigger", "follow", "--platform", "nowhere"], "--platform"],
  [["dev", "--port"], "--port"],
];

test.each(wrong)(
  "%j ends with 2, the problem in a line, and the way to the usage in another",
  async (args, names) => {
    const { code, out, err } = await runCommand(args, { cwd: temporaryFolder() });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(names);
    expect(err.split("\n").slice(1)).toEqual([
      `Run \`npx service-bot ${args[0]} --help\` for usage.`,
    ]);
  },
);

test.each(Object.keys(commands))("the help of %s fits into 80 columns", async (name) => {
  const { out } = await runCommand([name, "--help"]);
  expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test.each([
  [["inbox", "list", "--wrong"], "--wrong"],
  [["inbox", "lst"], "Did you mean list?"],
])("%j is refused with one line and the way to the usage", async (args, words) => {
  const { code, err } = await runCommand(args, { cwd: temporaryFolder() });
  expect({ code, lines: err.split("\n").length }).toEqual({ code: 2, lines: 2 });
  expect(err).toContain(words);
});

test.each(["2h --until 3h", "2h --until 2h", "2026-11-21 --until 2026-11-20"])(
  "--since %s is refused with a suggestion",
  async (range) => {
    const args = ["inbox", "list", "--since", ...range.split(" ")];
    const { code, err } = await runCommand(args, { cwd: temporaryFolder() });
    expect({ code, said: err.includes("--since 3h --until 2h") }).toEqual({ code: 2, said: true });
  },
);
