import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describe as describeName, type Member, nameIn } from "../../scripts/reference/describe.ts";
import { entryPoints } from "../../scripts/reference/reference.ts";
import { variables } from "../faces/bot.ts";
import { commands } from "../faces/cli.ts";
import { help, flags as scaffolderFlags, UNATTENDED_VARIABLES } from "../faces/create.ts";
import { HEALTH_SOURCE, SCAFFOLDER_REPORT_SOURCE } from "../faces/files.ts";
import { actionsOf, flagsTaken, namesTaken } from "./command-lines.ts";
import { documentedBlock, root } from "./markdown.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const unique = (names: Iterable<string>) => [...new Set(names)].sort();
const flagsIn = (text: string) => unique(text.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? []);

function section(page: string, heading: string): string {
  const [, rest = ""] = `\n${read(page)}`.split(`\n${heading}\n`);
  const depth = heading.split(" ", 1)[0]?.length ?? 2;
  return rest.split(new RegExp(`^#{1,${depth}} `, "m"), 1)[0] ?? "";
}

function rows(text: string): string[][] {
  return [...text.matchAll(/^\| (.*) \|$/gm)].map(([, row = ""]) =>
    row.split(/(?<!\\) \| /).map((cell) => cell.trim()),
  );
}

function firstCells(text: string, pattern = /`([^`]+)`/g): string[] {
  return rows(text).flatMap(([cell = ""]) =>
    [...cell.matchAll(pattern)].map(([, code = ""]) => code),
  );
}

describe("the flags of service-bot are those that it takes, in docs/reference/command-line.md and in --help:", () => {
  const table = rows(section("docs/reference/command-line.md", "## service-bot")).map(
    ([cell = ""]) => cell,
  );
  const rowOf = (name: string) =>
    table.find((cell) => cell.startsWith(`\`service-bot ${name}`)) ?? "";

  test("every command has its row, and no other", () => {
    const named = table.flatMap((cell) => /^`service-bot ([a-z]+)/.exec(cell)?.[1] ?? []);
    expect(named).toEqual(Object.keys(commands));
  });

  test.each(Object.keys(commands).filter((name) => name !== "inbox"))("%s", async (name) => {
    const taken = unique(await flagsTaken(name));
    expect(taken.length).toBeGreaterThan(0);
    expect(flagsIn(rowOf(name))).toEqual(taken);
    const { details = "" } = commands[name] ?? {};
    const explained = unique(
      [...details.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = ""]) => flag),
    );
    expect(explained).toEqual(taken);
  });

  describe("inbox", async () => {
    const { details: usage = "" } = commands["inbox"] ?? {};
    const actions = await namesTaken("inbox", "no-such-action");

    test("its actions are in its row and in its help", () => {
      const [, documented = ""] = /^`service-bot inbox \[([^\]]*)\]/.exec(rowOf("inbox")) ?? [];
      expect(unique(documented.split("\\|"))).toEqual(unique(actions));
      expect(unique(actionsOf(usage).keys())).toEqual(unique(actions));
    });

    test.each(actions)("%s", async (action) => {
      expect(flagsIn(actionsOf(usage).get(action) ?? "")).toEqual(
        unique(await flagsTaken("inbox", action)),
      );
    });

    test("all of them together are in its row", async () => {
      const taken = await Promise.all(actions.map((action) => flagsTaken("inbox", action)));
      expect(flagsIn(rowOf("inbox"))).toEqual(unique(taken.flat()));
    });

    test("each action has an example", () => {
      const examples = section("docs/reference/command-line.md", "## service-bot inbox");
      for (const action of actions.filter((name) => name !== "stats")) {
        expect(examples).toContain(`service-bot inbox ${action}`);
      }
    });
  });
});

test("the flags of the scaffolder are those that it takes, on the page and in --help", () => {
  const taken = unique(Object.keys(scaffolderFlags).map((name) => `--${name}`));
  const table =
    section("docs/reference/command-line.md", "## create-bot.js").split("| exit code |")[0] ?? "";
  expect(unique(firstCells(table, /`(--[a-z-]+)/g))).toEqual(taken);
  expect(flagsIn(help)).toEqual(taken);
});

describe("the table of changes in CONTRIBUTING.md", () => {
  const changes = rows(
    read("CONTRIBUTING.md").split("| to change | edit |")[1]?.split("\n\n")[0] ?? "",
  );
  /** Paths are below src/, or begin with another folder. */
  const exists = (path: string) =>
    existsSync(join(root, "src", path)) || existsSync(join(root, path));

  test.each(changes.slice(1))("names paths that exist for %s", (_change, edit = "") => {
    const paths = [...edit.matchAll(/`([^` ]+)`/g)].map(([, path = ""]) => path);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !exists(path))).toEqual([]);
  });

  test("has a row for the changes that touch several places", () => {
    const named = changes.map(([change]) => change);
    for (const change of [
      "an optional field of an event",
      "a measure in status and metrics",
      "an operation of the control API",
      "a report of `service-bot inbox`",
    ]) {
      expect(named).toContain(change);
    }
  });
});

test("the scripts of package.json are in CONTRIBUTING.md, and no other but a bot's", () => {
  const scriptsOf = (path: string) => Object.keys(JSON.parse(read(path)).scripts);
  const own = scriptsOf("package.json");
  const others = scriptsOf("templates/starter/_package.json").filter((name) => !own.includes(name));
  const named = [...read("CONTRIBUTING.md").matchAll(/npm (?:run ([a-z:]+)|(test)\b)/g)]
    .map(([, script, short]) => script ?? short ?? "")
    .filter((name) => !others.includes(name));
  expect(unique(named)).toEqual(unique(own));
});

describe("docs/reference/configuration.md", () => {
  const text = read("docs/reference/configuration.md");
  const main = entryPoints().find(({ name }) => name === "service-bot");
  const membersOf = (name: string) =>
    main?.entries.find((entry) => entry.name === name)?.members.map(nameIn) ?? [];

  test("has every option of new Bot() in one of its tables, and no other", () => {
    const [byVariable = "", inCode = ""] = text.split("## Options without a variable");
    const withVariable = rows(byVariable).flatMap(
      ([, option = ""]) => /^`(\w+)`$/.exec(option)?.[1] ?? [],
    );
    expect(withVariable.length).toBeGreaterThan(10);
    const others = firstCells(inCode.split("\n## ")[0] ?? "");
    expect(unique([...withVariable, ...others])).toEqual(unique(membersOf("BotOptions")));
  });

  test("has every other variable that is read, and no other", () => {
    const others = firstCells(section("docs/reference/configuration.md", "## Other variables"));
    expect(unique(others)).toEqual(unique([...variablesRead(), ...BY_OTHERS]));
  });

  test("a variable is found however it is read", () => {
    expect(
      variablesIn('a = process.env["ONE_A"]; process.env.TWO_B; env["three_c"]; io.env.FOUR'),
    ).toEqual(["ONE_A", "TWO_B", "three_c", "FOUR"]);
    expect(variablesIn("`.env.example`, import.meta.env.MODE, ../env.ts")).toEqual([]);
  });
});

/** Variables that dependencies read: the PostgreSQL driver and Node. */
const BY_OTHERS = ["PGPASSWORD", "NO_COLOR", "FORCE_COLOR"];

function variablesRead(): string[] {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.startsWith(join("platform", "portal")))
    .map((path) => join("src", path));
  const own = new Set(variables);
  const found = [...files, "create-bot.js"].flatMap((path) => variablesIn(read(path)));
  return unique([...found, ...UNATTENDED_VARIABLES]).filter((name) => !own.has(name));
}

function variablesIn(source: string): string[] {
  const code = source.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "");
  const read = code.matchAll(
    /(?<!meta\.)\benv\["(\w+)"\]|(?<!meta\.)(?<=[\w)]\.|\b)env\.([A-Z][A-Z_]+)\b|"?\b(CREATE_BOT_[A-Z_]+)\b/g,
  );
  return unique([...read].map(([, a, b, c]) => a ?? b ?? c ?? "")).sort(
    (a, b) => code.indexOf(a) - code.indexOf(b),
  );
}

const entries = entryPoints().flatMap((point) => point.entries);

function membersOf(name: string): readonly Member[] {
  const exported = entries.find((entry) => entry.name === name);
  if (exported !== undefined) return exported.members;
  const named = entries.flatMap(({ names }) => names.get(name) ?? [])[0];
  return named === undefined ? [] : describeName(name, named, () => false).members;
}

function statusFields(): string[] {
  return membersOf("BotStatus").flatMap((member) => {
    const name = nameIn(member);
    const [, part = ""] = /: (\w+Status)(?: \| undefined)?$/.exec(member.signature) ?? [];
    const inner = membersOf(part).map((one) => `${name}.${nameIn(one)}`);
    return inner.length === 0 ? [name] : inner;
  });
}

describe("docs/operate/overview.md", () => {
  test("has every field of the status, and no other", () => {
    const [table = ""] = section("docs/operate/overview.md", "## Status").split("\n\n`log` is");
    const documented = rows(table).flatMap(([cell = ""]) =>
      [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => name),
    );
    expect(statusFields().length).toBeGreaterThan(15);
    expect(unique(documented)).toEqual(unique(statusFields()));
  });
});

describe("docs/deploy/overview.md", () => {
  test("has every path that the bot answers, and no other", () => {
    const routes = readFileSync(HEALTH_SOURCE, "utf8");
    const answered = unique(routes.match(/(?<=path (?:===|!==) ")\/\w+(?=")/g) ?? []);
    expect(answered.length).toBeGreaterThan(1);
    const table = section("docs/deploy/overview.md", "## Responses");
    const documented = firstCells(table, /`(?:GET |POST )?(\/\w+)(?:\?\w+)?`/g);
    expect(unique(documented)).toEqual(answered);
  });

  test("has in its example of /readyz?verbose only fields of the status", () => {
    const example: object = JSON.parse(documentedBlock("docs/deploy/overview.md", "status"));
    const shown = Object.entries(example).flatMap(([name, value]) =>
      value !== null && typeof value === "object"
        ? Object.keys(value).map((inner) => `${name}.${inner}`)
        : [name],
    );
    expect(shown.length).toBeGreaterThan(5);
    const known = statusFields().flatMap((field) => [field, field.split(".")[0]]);
    expect(shown.filter((field) => !known.includes(field))).toEqual([]);
  });
});

describe("exit codes", () => {
  test("of the scaffolder are those of its help and of its code", () => {
    const table =
      section("docs/reference/command-line.md", "## create-bot.js").split("| exit code |")[1] ?? "";
    const documented = unique(
      rows(table).flatMap(([cell = ""]) => (/^\d+$/.test(cell) ? [cell] : [])),
    );
    const [, told = ""] = help.split("Exit codes: ");
    expect(unique(told.match(/\b\d+(?= )/g) ?? [])).toEqual(documented);
    const report = readFileSync(SCAFFOLDER_REPORT_SOURCE, "utf8");
    const type = /export type ExitCode = ([^;]*);/.exec(report)?.[1] ?? "";
    expect(unique(type.match(/\d+/g) ?? [])).toEqual(documented);
  });

  test("of service-bot and of a bot are 0, 1 and 2, as its page says", () => {
    expect(read("docs/reference/command-line.md").replaceAll("\n", " ")).toContain(
      "The exit code is 0 on success, 2 after wrong usage or configuration, and 1 otherwise.",
    );
    const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter(
      (path) => path.endsWith(".ts") && !/^(?:create|platform.portal)/.test(path),
    );
    const codes = files.flatMap((path) => {
      const code = read(join("src", path));
      const exits = code.match(/(?:process\.exit\(|exitCode ?[:=] ?)[^;)\n]*/g) ?? [];
      return exits.flatMap((text) => text.replaceAll(/"[^"]*"/g, "").match(/\b\d+\b/g) ?? []);
    });
    expect(unique(codes)).toEqual(["0", "1", "2"]);
  });
});
