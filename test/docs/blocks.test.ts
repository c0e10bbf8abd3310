import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { packagesIn } from "../../scripts/pack/imports.ts";
import { commandsOf, problemOf } from "./command-lines.ts";
import { codeBlocks, documentedBlock, type Page, pages, root, testOf } from "./markdown.ts";

const templates = [
  "starter/README.md",
  "starter/AGENTS.md",
  "minimal/README.md",
  "assistant/README.md",
].map((name) => {
  const path = join("templates", name);
  return { path, text: filled(readFileSync(join(root, path), "utf8")) };
});

const blocks = [...pages, ...templates].flatMap(codeBlocks);

/** Languages of code blocks, and how the blocks are checked. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ts: "compiled by docs.test.ts",
  sh: "each command is looked up here",
  text: "what a program shows; commands in it are looked up here",
  console: "as text, with the prompt before each command",
  json: "parsed here",
  yaml: "parsed here",
  sql: "run by sql.test.ts",
  toml: "read by test/mcp/docs.test.ts and test/containers/platforms",
  nginx: "run by test/e2e/proxy",
  ini: "looked at by test/templates",
  promql: "looked at by the tests of the alerts",
};

test("every block says what it is", () => {
  expect(blocks.length).toBeGreaterThan(100);
  const unknown = blocks.filter(({ language }) => !Object.hasOwn(LANGUAGES, language));
  expect(unknown.map(({ page, language, code }) => `${page}: "${language}" ${code}`)).toEqual([]);
});

const inLanguage = (...languages: string[]) =>
  blocks.filter(({ language }) => languages.includes(language));

test.each(inLanguage("sh"))("the commands of $page are there: $code", ({ code }) => {
  expect(problemsIn(commandsOf(withoutFunctions(code)))).toEqual([]);
});

test("so are commands that programs show, with what they say", () => {
  const problems = inLanguage("text", "console").flatMap(({ page, code }) =>
    problemsIn(shownIn(code)).map((problem) => `${page}: ${problem}`),
  );
  expect(problems).toEqual([]);
});

test("so are commands within a sentence", () => {
  const inline = [...pages, ...templates].flatMap(({ path, text }) =>
    [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").matchAll(/`([^`\n]+)`/g)]
      .map(([, code = ""]) => code)
      .filter((code) =>
        /^(?:npx )?service-bot [a-z]|^npm run |^npx vitest|^node [\w/-]+\//.test(code),
      )
      // lists.test.ts checks all flags of these commands.
      .filter((code) => !code.includes("\\|"))
      .filter((code) => path !== "CHANGELOG.md" || code.startsWith("service-bot"))
      .flatMap((code) => problemsIn(commandsOf(code)).map((problem) => `${path}: ${problem}`)),
  );
  expect(inline).toEqual([]);
});

test.each(inLanguage("json"))("the JSON of $page can be parsed: $code", ({ code }) => {
  // Each line may be a JSON value of its own, as in a log.
  const isLines = code
    .trimEnd()
    .split("\n")
    .every((line) => /^\{.*\}$/.test(line));
  for (const value of isLines ? code.trimEnd().split("\n") : [code]) {
    expect(JSON.parse(value)).toBeTypeOf("object");
  }
});

/** Returns the packages that a page's code imports, without those that it installs and those that every bot has. */
function missingPackages(page: Page): string[] {
  const code = codeBlocks(page).filter(({ language }) => language === "ts");
  const imported = code.flatMap((block) => packagesIn("example.ts", block.code));
  const installed = [...page.text.matchAll(/\bnpm install ([^`\n]+)/g)]
    .flatMap(([, words = ""]) => words.split(" "))
    .concat("service-bot", "zod");
  return [...new Set(imported.map(({ name }) => name))].filter((name) => !installed.includes(name));
}

test("a page whose code imports another package than a bot has says to install it", () => {
  // Shows the code of other frameworks.
  const others = pages.filter(({ path }) => path !== "docs/guides/migrating.md");
  const found = others.flatMap((page) => missingPackages(page).map((name) => [page.path, name]));
  expect(found).toEqual([]);
  const text = "`npm install one`\n\n```ts\nimport 'one';\nimport 'two/deep';\n```\n";
  expect(missingPackages({ path: "page.md", text })).toEqual(["two"]);
});

test("each block of docs/deploy names the test that runs it, or why none does", () => {
  const untested = blocks
    .filter(({ page }) => dirname(page) === "docs/deploy")
    .filter((block) => testOf(block) === undefined && !/^not run: ./.test(block.note));
  expect(untested.map(({ page, code }) => `${page}: ${code}`)).toEqual([]);
});

test("the starter's README has the lines of docs/deploy/docker.md for Docker", () => {
  const readme = blocks.filter(({ page }) => page === "templates/starter/README.md");
  const codes = readme.map(({ code }) => code);
  expect(codes).toContain(documentedBlock("docs/deploy/docker.md", "docker"));
  expect(codes).toContain(documentedBlock("docs/deploy/overview.md", "polling"));
});

test("each test that a block names is there, and fetches the block", () => {
  const named = blocks.flatMap(({ note }) => note.match(/\btest\/\S+\.test\.ts/g) ?? []);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const tested = blocks.flatMap((block) => {
    const test = testOf(block);
    return test === undefined ? [] : [{ page: block.page, ...test }];
  });
  expect(tested.length).toBeGreaterThan(10);
  expect(tested.filter(({ page, name, file }) => !fetches(file, page, name))).toEqual([]);
  expect(fetches("test/e2e/proxy.system.test.ts", "docs/deploy/docker.md", "docker")).toBe(false);
  const call = 'documentedBlock("docs/deploy/docker.md", "docker")';
  const comments = `\n  // ${call}\ntype(""); // ${call}\n/** As\n * ${call} */\n`;
  expect(withoutComments(comments)).toBe('\n\ntype("");\n\n');
});

test("YAML can be parsed", () => {
  const problems = inLanguage("yaml").flatMap(({ page, code }) =>
    parseAllDocuments(code).flatMap(({ errors }) => errors.map((error) => `${page}: ${error}`)),
  );
  expect(problems).toEqual([]);
});

test("a command that is not there is found", () => {
  const found = (code: string) => problemsIn(commandsOf(code));
  expect(found("npm run demo && npm run detour")).toEqual([
    "npm run detour: there is no script detour",
  ]);
  expect(found("npx node test/faults/main.ts --size small --sise 3")[0]).toContain(
    "takes no --sise",
  );
  expect(found("service-bot inbox retry ID --reason x")[0]).toContain("takes no --reason");
  expect(found("service-bot inbox list --reason x # --json")[0]).toContain("takes no --reason");
  expect(found("npx service-bot trigger dm.message --from ada --tekst 'a --b'")[0]).toContain(
    "takes no --tekst",
  );
  expect(found("service-bot inbox mend ID")[0]).toContain("has no mend");
  expect(found("service-bot dockter")[0]).toContain("no command dockter");
  expect(found("npm create service-bot@latest x -- --stor postgres")[0]).toContain("--stor");
  expect(found("npx vitest run test/nowhere")[0]).toContain("is not there");
  expect(found("npx node test/fixtures/mke.ts")[0]).toContain("is not there");
  expect(found("BOT=1 frobnicate --now")[0]).toContain("frobnicate is no command");
  expect(found('T=$(date +%s)\ncurl -d "a; b | c" \\\n  http://127.0.0.1')).toEqual([]);
});

/** Returns true if the file, or a test file it imports, calls `documentedBlock` with these literals. */
function fetches(file: string, page: string, name: string): boolean {
  const call = `documentedBlock("${page}","${name}")`;
  const files = new Set([join(root, file)]);
  for (const path of files) {
    const text = withoutComments(readFileSync(path, "utf8"));
    if (text.replaceAll(/\s|,(?=\s*\))/g, "").includes(call)) return true;
    for (const [, imported = ""] of text.matchAll(/ from "(\.[^"]+)"/g)) {
      const target = resolve(dirname(path), imported);
      if (relative(root, target).startsWith("test/")) files.add(target);
    }
  }
  return false;
}

function withoutComments(code: string): string {
  return code.replaceAll(/^ *\/\*[\s\S]*?\*\/|(?:^| +)\/\/ .*$/gm, "");
}

function problemsIn(commands: readonly string[]): string[] {
  return commands.flatMap((command) => {
    const problem = problemOf(command);
    return problem === undefined ? [] : [`${command}: ${problem}`];
  });
}

/** Returns the commands in a console block without their comments. A command follows a prompt or begins a line. */
function shownIn(code: string): string[] {
  return code
    .split("\n")
    .filter((line) =>
      /^(?:\$ | *(?:npx )?service-bot [a-z]+ |npm create |node .*create-bot)/.test(line),
    )
    .filter((line) => !/ \d+\.\d+\.\d+\b/.test(line))
    .map(
      (line) =>
        line
          .trim()
          .replace(/^\$ /, "")
          .split(/\s{3,}/)[0] ?? "",
    )
    .flatMap((line) => commandsOf(line.replaceAll(/[[\]]/g, " ")));
}

/** Removes shell functions, and replaces calls of `control`, a function that later blocks also use. */
function withoutFunctions(code: string): string {
  return code.replaceAll(/^\w+\(\) \{.*\}$/gm, "").replaceAll(/^control /gm, "curl ");
}

function filled(text: string): string {
  return text
    .replaceAll(/^<!-- \{\{.*\}\} -->\n/gm, "")
    .replaceAll("{{install}}", "npm install")
    .replaceAll(/\{\{run (\w+)\}\}/g, "npm run $1")
    .replaceAll("{{exec service-bot}}", "npx service-bot")
    .replaceAll(/\{\{[^}]*\}\}/g, "x");
}
