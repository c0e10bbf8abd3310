import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
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
    for (const name of ["dev", "platform", "trigger", "inbox", "doctor"])
      expect(out).toContain(name);
  }
});

test("a command's --help lists its flags", async () => {
  const { code, out } = await runCommand(["trigger", "--help"]);
  expect(code).toBe(0);
  expect(out).toContain("--wait");
});

test("an unknown command ends with 2 and the list", async () => {
  const { code, err } = await runCommand(["fly"]);
  expect(code).toBe(2);
  expect(err).toContain('"fly"');
  expect(err).toContain("trigger");
});

const wrong: readonly [string[], string][] = [
  [["platform", "--prot", "1"], "--prot"],
  [["platform", "--port", "99999"], "--port"],
  [["platform", "extra"], "extra"],
  [["trigger", "Dance!"], "dm.message"],
  [["trigger", "mentoin"], "did you mean mention"],
  [["trigger", "dm"], "did you mean dm.message"],
  [["trigger"], "dm.message"],
  [["trigger", "follow", "--count", "many"], "--count"],
  [["trigger", "dm.message", "--image", "5"], "--image"],
  [["trigger", "poll.closed", "--payload", "[1]"], "--payload"],
  [["trigger", "follow", "--timeout", "5"], "--wait"],
  [["trigger", "follow", "--platform", "nowhere"], "--platform"],
  [["dev", "--port"], "--port"],
];

test.each(wrong)(
  "%j ends with 2, says what is wrong, and how it is called",
  async (args, names) => {
    const { code, out, err } = await runCommand(args, { cwd: temporaryFolder() });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(names);
    expect(err).toContain(`Usage: service-bot ${args[0]}`);
  },
);

test.each([
  ["stats", ["inbox [stats]"], []],
  ["list", ["inbox list"], ["FILTER: "]],
  ["discard", ["inbox discard", "[--dry-run]"], ["FILTER: "]],
  ["restore", ["inbox restore"], []],
])(
  "inbox %s with a wrong flag shows how that action is called, and no other",
  async (name, has, more) => {
    const { code, err } = await runCommand(["inbox", name, "--wrong"], {
      cwd: temporaryFolder(),
    });
    const [, usage = ""] = err.split("Usage: service-bot ");
    expect({ code, first: usage.startsWith(has[0] ?? "?") }).toEqual({ code: 2, first: true });
    for (const words of [...has, ...more]) expect(usage).toContain(words);
    expect(usage.trimEnd().split("\n").length).toBe(has.length + more.length);
  },
);

test("a word that is no action of inbox gets the whole list", async () => {
  const { code, err } = await runCommand(["inbox", "lst"], { cwd: temporaryFolder() });
  expect(code).toBe(2);
  for (const name of ["list", "backup", "FILTER: "]) expect(err).toContain(name);
});

test.each(["2h --until 3h", "2h --until 2h", "2026-11-21 --until 2026-11-20"])(
  "--since %s is refused, with what would be meant",
  async (range) => {
    const args = ["inbox", "list", "--since", ...range.split(" ")];
    const { code, err } = await runCommand(args, { cwd: temporaryFolder() });
    expect({ code, said: err.includes("--since 3h --until 2h") }).toEqual({ code: 2, said: true });
  },
);
