import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";

interface Import {
  readonly from: string;
  /** Path relative to src, or the name of a package. */
  readonly to: string;
  readonly kind: "file" | "package";
  /** When the imported file is loaded: together with the importing file, by `import()`, or never (types). */
  readonly when: "early" | "late" | "never";
}

/** The lowest layer. */
const base = ["errors", "core"];
/** Any module may publish on the channels. */
const withEvents = [...base, "events", "signature", "observe/channels"];
const withInbox = [...withEvents, "client", "inbox"];
const runtime = [
  ...withInbox,
  "receiver",
  "poller",
  "schedule",
  "effects",
  "steps",
  "dispatcher",
  "router",
  "config",
  "options",
  "observe",
];

/**
 * Allowed imports of each module, always from a lower layer. A module is a folder in src, or a file directly in src.
 */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  core: ["errors"],
  events: base,
  signature: base,
  client: withEvents,
  inbox: withEvents,
  // Shared by both databases.
  "inbox/sql": [...base, "inbox"],
  // SQLite and PostgreSQL are siblings that share only the inbox contract.
  "inbox/sqlite": [...base, "observe/channels", "inbox", "inbox/sql"],
  "inbox/postgres": [...base, "observe/channels", "inbox", "inbox/sql"],
  receiver: [...withEvents, "inbox"],
  poller: withInbox,
  // The router describes a run's effects, and the dispatcher stores them.
  effects: [...withEvents, "inbox"],
  // The router describes steps, and the dispatcher runs them.
  steps: [...withInbox, "effects"],
  dispatcher: [...withInbox, "effects", "steps"],
  // The third source of events, after the receiver and the poller.
  schedule: [...withEvents, "inbox"],
  router: [...withEvents, "client", "steps"],
  "observe/channels": base,
  // Subscribes to the channels.
  observe: [...withInbox, "poller", "receiver", "config"],
  // The configuration needs the client's minimum budget.
  config: [...base, "client"],
  env: base,
  options: [...withEvents, "client", "config", "poller", "inbox", "router"],
  bot: [...runtime, "inbox/sqlite", "inbox/postgres"],
  index: [...runtime, "bot"],
  // A bot under test runs in one process with the platform.
  testing: [...withEvents, "client", "platform"],
  platform: [...withEvents, "client"],
  mcp: [...withEvents, "client"],
  // The page runs in browsers and imports only types (checked below).
  "platform/portal": ["events", "platform"],
  // The scaffolder only uses pure functions from core, which are bundled.
  create: ["core"],
  cli: [
    ...runtime,
    ...[
      "inbox/sql",
      "inbox/sqlite",
      "inbox/postgres",
      "bot",
      "index",
      "env",
      "testing",
      "platform",
      "mcp",
    ],
  ],
};

/**
 * The floors of the local platform, lowest first. A room is a folder, or a file directly in src/platform. It imports
 * only from the floors below it.
 */
const platformFloors: readonly (readonly string[])[] = [
  ["error", "secrets"],
  ["input-rules", "store"],
  ["accounts", "http", "limits", "token"],
  ["media", "page", "timeline"],
  ["clock", "faults", "views"],
  ["events", "uploads"],
  ["acts", "api", "webhooks"],
  ["apps"],
  ["world"],
  ["snapshots"],
  ["control"],
  ["types", "options"],
  ["platform", "portal"],
  ["server"],
  ["index"],
];

/**
 * Files through which each outside module uses a bot's modules, apart from `core` and `errors`: types and tables, the
 * client, the channels, and the inbox's administration. Everything else of a bot may change without them.
 */
const doors: Readonly<Record<string, readonly string[]>> = {
  cli: [
    "bot/warnings.ts",
    "client/client.ts",
    "client/errors.ts",
    "client/scopes.ts",
    "config.ts",
    "events/payload.ts",
    "events/types.ts",
    "inbox/admin.ts",
    "inbox/copy.ts",
    "inbox/effects.ts",
    "inbox/event-records.ts",
    "inbox/health.ts",
    "inbox/postgres/copy.ts",
    "inbox/postgres/maintenance.ts",
    "inbox/restore-mark.ts",
    "inbox/shared.ts",
    "inbox/sql/attached.ts",
    "inbox/sql/marks.ts",
    "inbox/sqlite/backup.ts",
    "inbox/sqlite/copy.ts",
    "inbox/sqlite/maintenance.ts",
    "inbox/sqlite/restore.ts",
    "observe/webhook-status.ts",
    "signature/probe.ts",
    "signature/signature.ts",
  ],
  create: [],
  mcp: [
    "client/index.ts",
    "client/listing.ts",
    "client/resources.ts",
    "client/scopes.ts",
    "client/transport.ts",
    "events/parse.ts",
    "events/types.ts",
  ],
  platform: ["events/own.ts", "events/payload.ts", "events/types.ts", "signature/signature.ts"],
  "platform/portal": [],
  testing: [
    "client/transport.ts",
    "events/id.ts",
    "events/lane.ts",
    "events/types.ts",
    "observe/channels.ts",
    "signature/signature.ts",
  ],
};

/** Modules that a bot in production does not load. */
const outside: readonly string[] = Object.keys(doors);

/** Parts that can be deleted: their files and tests, and the only other files that import them. */
const removable: Readonly<Record<string, readonly [own: RegExp, importedBy: readonly string[]]>> = {
  mcp: [/^(?:src\/mcp\/|src\/cli\/mcp\.ts$|test\/mcp\/)/, ["src/cli/optional-commands.ts"]],
  // The site is checked in the browser that the portal's tests start.
  "the portal": [/^(?:src|test)\/platform\/portal\//, ["test/site/site.browser.test.ts"]],
};

const heavy: Readonly<Record<string, RegExp>> = {
  "better-sqlite3": /^(inbox\/sqlite|platform\/store)\//,
  croner: /^core\/cron\.ts$/,
  express: /^platform\//,
  pg: /^inbox\/postgres\//,
  // Loaded only for TRACING.
  "@opentelemetry/api": /^observe\/tracing\.ts$/,
  // Loaded only for METRICS_PORT.
  "prom-client": /^observe\/(?:gauges|metrics)\.ts$/,
  // Bundled, and loaded only for an MCP server.
  "@modelcontextprotocol/server": /^mcp\/sdk\.ts$/,
  // Takes 60 ms and 10 MiB at each start, so a bot in production reads with core/shapes.ts.
  zod: /^(?:cli|mcp|platform)\//,
};

const specifier = `["']([^"']+)["']`;
const statements = new RegExp(
  String.raw`^[ \t]*(?:import|export)\b(\s+type\b)?(?:[^"'\`;()=]*\bfrom)?\s*${specifier}`,
  "gm",
);
const calls = new RegExp(String.raw`\bimport\(\s*${specifier}`, "g");

/** Reads `import` and `export … from`, of values and types, and `import()`. */
function readImports(from: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const resolve = (name: string, when: Import["when"]): Import =>
    name.startsWith(".")
      ? { from, to: posix.join(posix.dirname(from), name), kind: "file", when }
      : { from, to: packageOf(name), kind: "package", when };
  return [
    ...[...code.matchAll(statements)].map(([, type, name = ""]) =>
      resolve(name, type === undefined ? "early" : "never"),
    ),
    ...[...code.matchAll(calls)].map(([, name = ""]) => resolve(name, "late")),
  ];
}

function packageOf(name: string): string {
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}

function graphOf(files: Readonly<Record<string, string>>): Import[] {
  return Object.entries(files).flatMap(([path, text]) => readImports(path, text));
}

function moduleOf(path: string): string {
  const parts = path.replace(/\.tsx?$/, "").split("/");
  if (path.startsWith("platform/portal/")) return "platform/portal";
  // Any module may publish on the channels, but the channels' subscribers are in the top layer.
  if (path === "observe/channels.ts") return "observe/channels";
  if (parts[0] === "inbox" && parts.length > 2) return `inbox/${parts[1]}`;
  return parts[0] ?? "";
}

const tell = ({ from, to }: Import) => `${from} → ${to}`;

function upward(graph: readonly Import[]): string[] {
  return graph
    .filter(({ kind }) => kind === "file")
    .filter(({ from, to }) => {
      const [module, target] = [moduleOf(from), moduleOf(to)];
      return module !== target && !allowedImports[module]?.includes(target);
    })
    .map(tell);
}

/** Returns the room of a file in src/platform, otherwise `undefined`. */
function roomOf(path: string): string | undefined {
  return /^platform\/(\w[\w-]*)/.exec(path)?.[1];
}

/** Returns the imports within src/platform that do not lead to a lower floor. */
function upstairs(graph: readonly Import[]): string[] {
  const floorOf = (room: string) => platformFloors.findIndex((rooms) => rooms.includes(room));
  return graph
    .filter(({ from, to }) => {
      const [room, target] = [roomOf(from), roomOf(to)];
      if (room === undefined || target === undefined || room === target) return false;
      return floorOf(target) >= floorOf(room);
    })
    .map(tell);
}

/** Returns the files of a bot's modules that an outside module imports. */
function entered(module: string, graph: readonly Import[]): string[] {
  const targets = graph
    .filter(({ from, kind }) => kind === "file" && moduleOf(from) === module)
    .map(({ to }) => to)
    .filter((to) => ![...outside, "core", "errors"].includes(moduleOf(to)));
  return [...new Set(targets)].sort();
}

function misplaced(graph: readonly Import[]): string[] {
  return graph
    .filter(({ kind, from, to }) => kind === "package" && heavy[to]?.test(from) === false)
    .map(tell);
}

/** Returns the files in each cycle, with the first file again at the end. */
function cycles(graph: readonly Import[]): string[][] {
  const found: string[][] = [];
  const importsOf = Map.groupBy(graph, ({ from }) => from);
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) found.push([...trail.slice(start), file]);
    if (start >= 0 || done.has(file)) return;
    for (const { to, kind } of importsOf.get(file) ?? []) {
      if (kind === "file") visit(to, [...trail, file]);
    }
    done.add(file);
  };
  for (const from of importsOf.keys()) visit(from, []);
  return found;
}

function loadedWith(file: string, graph: readonly Import[]): Set<string> {
  const loaded = new Set([file]);
  for (const current of loaded) {
    for (const { from, to, kind, when } of graph) {
      if (from === current && kind === "file" && when === "early") loaded.add(to);
    }
  }
  return loaded;
}

function packagesOf(files: ReadonlySet<string>, graph: readonly Import[]): Set<string> {
  const imports = graph.filter(
    ({ from, kind, when }) => files.has(from) && kind === "package" && when === "early",
  );
  return new Set(imports.map(({ to }) => to));
}

const bundledInPage: ReadonlySet<string> = new Set([
  "preact",
  "@preact/signals",
  "@tanstack/virtual-core",
]);

/** Files that both the page and the commands use. They are bundled, and import only types and each other. */
const pureForPage: ReadonlySet<string> = new Set([
  "platform/control/client.ts",
  "platform/control/routes.ts",
  "platform/timeline/words.ts",
]);

const isBundled = (module: string) => module === "create" || module === "platform/portal";

const repository = join(import.meta.dirname, "..");

/** Returns the texts of a folder's own TypeScript files by path, without those of packages and recorded bots. */
function sourcesIn(folder: string): Record<string, string> {
  const paths = readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" })
    .map((path) => posix.join(folder, path.replaceAll("\\", "/")))
    .filter((path) => /\.tsx?$/.test(path) && !/node_modules|^test\/fixtures\/bot-/.test(path))
    // This file contains imports in strings.
    .filter((path) => path !== "test/architecture.test.ts");
  return Object.fromEntries(
    paths.map((path) => [path, readFileSync(join(repository, path), "utf8")]),
  );
}

const root = join(repository, "src");
const files = Object.fromEntries(
  Object.entries(sourcesIn("src")).map(([path, text]) => [path.slice("src/".length), text]),
);
const graph = graphOf(files);
const modules = new Set(Object.keys(files).map(moduleOf));
const everything = graphOf(
  Object.assign({}, ...["src", "test", "bench", "scripts"].map(sourcesIn)),
);

/** Returns false for an outside module that was deleted. Its rows in this file may stay. */
function isExpected(module: string): boolean {
  return modules.has(module) || !outside.includes(module);
}

describe("the house", () => {
  test("list every module", () => {
    expect([...modules].sort()).toEqual(Object.keys(allowedImports).filter(isExpected).sort());
  });

  test("imports run downward only", () => {
    expect(upward(graph)).toEqual([]);
  });

  test.each(outside.filter((module) => modules.has(module)))(
    "%s enters a bot's modules through its doors only",
    (module) => {
      expect(entered(module, graph)).toEqual(doors[module]);
    },
  );

  test.each(Object.entries(removable))(
    "nothing else imports %s, so that it can be deleted with its tests",
    (_, [own, importedBy]) => {
      const importers = everything
        .filter(({ from, to, kind }) => kind === "file" && own.test(to) && !own.test(from))
        .map(({ from }) => from);
      expect(importedBy).toEqual(expect.arrayContaining([...new Set(importers)]));
    },
  );

  test("list every room of the platform", () => {
    const rooms = new Set(Object.keys(files).flatMap((path) => roomOf(path) ?? []));
    const listed = platformFloors.flat().filter((room) => isExpected(`platform/${room}`));
    expect([...rooms].sort()).toEqual(listed.sort());
  });

  test("imports within the platform lead to lower floors only", () => {
    expect(upstairs(graph)).toEqual([]);
  });

  test("no file of the repository imports itself, directly or through others", () => {
    expect(everything.length).toBeGreaterThan(graph.length);
    expect(cycles(everything)).toEqual([]);
  });

  test("every import of a file names an existing file", () => {
    const missing = graph.filter(({ kind, to }) => kind === "file" && files[to] === undefined);
    expect(missing.map(tell)).toEqual([]);
  });

  test("heavy packages are imported only in their modules", () => {
    expect(misplaced(graph)).toEqual([]);
  });

  test("the database is loaded after the check of Node's version, only by import()", () => {
    const toSqlite = graph.filter(
      ({ from, to }) => moduleOf(from) === "bot" && moduleOf(to) === "inbox/sqlite",
    );
    expect(toSqlite.map(({ when }) => when)).toEqual(["late"]);
    for (const entry of ["index.ts", "env.ts"]) {
      expect([...packagesOf(loadedWith(entry, graph), graph)], entry).not.toContain(
        "better-sqlite3",
      );
    }
  });

  test("a bot starts without metrics, and loads them with METRICS_PORT", () => {
    const toMetrics = graph.filter(
      ({ from, to, when }) =>
        from === "observe/observers.ts" && to === "observe/metrics.ts" && when !== "never",
    );
    expect(new Set(toMetrics.map(({ when }) => when))).toEqual(new Set(["late"]));
    expect([...packagesOf(loadedWith("index.ts", graph), graph)]).not.toContain("prom-client");
  });

  test("a test of a bot loads no server, and the preload loads nothing but Node", () => {
    expect([...packagesOf(loadedWith("env.ts", graph), graph)].filter(isForeign)).toEqual([]);
    expect([...packagesOf(loadedWith("testing/index.ts", graph), graph)]).not.toContain("express");
  });

  test("a command loads the local platform when it starts one, and not before", () => {
    const servers = ["express", "better-sqlite3"];
    expect([...packagesOf(loadedWith("platform/server.ts", graph), graph)]).toEqual(
      expect.arrayContaining(servers),
    );
    const commands = packagesOf(loadedWith("cli/run.ts", graph), graph);
    expect(servers.filter((name) => commands.has(name))).toEqual([]);
  });

  test("the portal is a page: it takes types and words from the platform, and no module of Node", () => {
    const own = graph.filter(({ from }) => moduleOf(from) === "platform/portal");
    const loaded = own.filter(({ when }) => when !== "never");
    const inside = ({ kind, to }: Import) => kind === "file" && moduleOf(to) === "platform/portal";
    const packages = new Set(loaded.filter((each) => !inside(each)).map(({ to }) => to));
    const known = (name: string) => bundledInPage.has(name) || pureForPage.has(name);
    expect([...packages].filter((name) => !known(name))).toEqual([]);
    const ofPure = graph.filter(
      ({ from, to, when }) => pureForPage.has(from) && when !== "never" && !pureForPage.has(to),
    );
    expect(ofPure.map(tell)).toEqual([]);
  });

  test("the scaffolder loads nothing but Node, until it asks; the prompts are in its bundle", () => {
    const early = packagesOf(loadedWith("create/main.ts", graph), graph);
    expect(early.size).toBeGreaterThan(0);
    expect([...early].filter(isForeign)).toEqual([]);
    expect([...packagesOf(loadedWith("create/ask.ts", graph), graph)].filter(isForeign)).toEqual([
      "@clack/core",
    ]);
    const all = graph.filter(({ from, to }) => moduleOf(from) === "create" && isForeign(to));
    const packages = all.filter(({ kind }) => kind === "package").map(({ to }) => to);
    expect(new Set(packages)).toEqual(new Set(["@clack/core"]));
  });

  test("the scaffolder loads no promises of node:fs: they take longer than its few files", () => {
    const own = Object.entries(files).filter(([path]) => moduleOf(path) === "create");
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter(([, text]) => text.includes("fs/promises")).map(([path]) => path)).toEqual(
      [],
    );
  });

  test("packages are dependencies, not things that happen to be installed", () => {
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(join(root, "..", "package.json"), "utf8"),
    );
    const shipped = graph.filter(({ from }) => !isBundled(moduleOf(from)));
    const foreign = shipped.filter(({ kind, to }) => kind === "package" && isForeign(to));
    // Every other package must be a dependency. This file is bundled together with its package.
    const installed = foreign.filter(({ from }) => from !== "mcp/sdk.ts");
    const isDeclared = ({ to, when }: Import) =>
      to in dependencies || (when === "late" && to in peerDependencies);
    expect(installed.filter((each) => !isDeclared(each)).map(tell)).toEqual([]);
  });
});

function isForeign(name: string): boolean {
  return !name.startsWith("node:") && !builtinModules.includes(name);
}

/** Files that `package.json` exports. Tests may import them, as users do. */
const publicFiles = [
  "index.ts",
  "client/index.ts",
  "env.ts",
  "platform/index.ts",
  "testing/index.ts",
];

function isFace(path: string): boolean {
  return /^test\/(faces\/|(mcp|platform\/portal)\/face\.ts$)/.test(path);
}

/** Returns the imports of tests from src that bypass the public files. */
function pastFaces(graph: readonly Import[]): string[] {
  return graph
    .filter(({ from }) => !isFace(from))
    .filter(({ kind, to }) => kind === "file" && to.startsWith("src/"))
    .filter(({ to }) => !publicFiles.includes(to.slice("src/".length)))
    .map(tell);
}

const sourcePath = /["'`]((?:\.{1,2}\/)*src\/[^"'`\s*]+\.\w+)["'`]/g;

/**
 * Returns strings in tests that name an internal file of src, either as `src/…` or relative to the test. Folders and
 * globs are allowed, because renaming a file below them does not affect the test. A path that does not exist in this
 * checkout belongs to a bot. Paths joined from segments are not detected.
 */
function namesPastFaces(
  tests: Readonly<Record<string, string>>,
  isSource: (path: string) => boolean,
): string[] {
  return Object.entries(tests)
    .filter(([from]) => !isFace(from))
    .flatMap(([from, text]) =>
      [...text.matchAll(sourcePath)].map(([, path = ""]) => {
        const to = path.startsWith("../")
          ? posix.join(posix.dirname(from), path)
          : posix.join(path);
        return { from, to };
      }),
    )
    .filter(({ to }) => to.startsWith("src/") && !publicFiles.includes(to.slice("src/".length)))
    .filter(({ to }) => to.includes("${") || isSource(to))
    .map(({ from, to }) => `${from} → ${to}`);
}

describe("the tests", () => {
  const tests = sourcesIn("test");

  test("import src through test/faces or a public entry alone, so that a renamed file is one edit", () => {
    expect(pastFaces(graphOf(tests))).toEqual([]);
  });

  test("name files of src by the paths of test/faces/files.ts alone", () => {
    const isSource = (path: string) => existsSync(join(root, "..", path));
    expect(namesPastFaces(tests, isSource)).toEqual([]);
  });

  test("a path past the faces is found, and one of a bot is not taken for it", () => {
    const text = `
      read("src/bot.ts");
      new URL("../../src/client/http.ts", import.meta.url);
      read(\`../../src/client/\${name}.ts\`);
      link("./src/index.ts", "../../src/client/", "src/main.ts", "../my-bot/src/bot.ts");
    `;
    const isSource = (path: string) => ["src/bot.ts", "src/client/http.ts"].includes(path);
    const from = "test/client/http.test.ts";
    expect(namesPastFaces({ [from]: text }, isSource)).toEqual([
      `${from} → src/bot.ts`,
      `${from} → src/client/http.ts`,
      `${from} → src/client/\${name}.ts`,
    ]);
  });

  test("an import past the faces is found", () => {
    const past = { "test/client/http.test.ts": 'import { Http } from "../../src/client/http.ts";' };
    expect(pastFaces(graphOf(past))).toEqual(["test/client/http.test.ts → src/client/http.ts"]);
  });
});

describe("the reader", () => {
  test("sees every form of import", () => {
    const text = `
      import "./a.ts";
      import one from "./b.ts";
      import { two, type Three } from "./c.ts";
      import type { Four } from "./d.ts";
      import * as five from './e.ts';
      import {
        six,
        seven,
      } from "./f.ts";
      export { eight } from "./g.ts";
      export * from "./h.ts";
      export type { Nine } from "./i.ts";
      const ten = await import("./j.ts");
      const eleven: import("./k.ts").Eleven = 11;
      import pkg from "some-package/deep";
      import scoped from "@scope/name/deep";
    `;
    const imports = readImports("module/file.ts", text);
    const paths = imports.filter(({ kind }) => kind === "file").map(({ to }) => to);
    expect(paths).toEqual([..."abcdefghijk"].map((letter) => `module/${letter}.ts`));
    const loaded = (when: Import["when"]) =>
      imports.filter((one) => one.when === when).map(({ to }) => to);
    expect(loaded("late")).toEqual(["module/j.ts", "module/k.ts"]);
    expect(loaded("never")).toEqual(["module/d.ts", "module/i.ts"]);
    const packages = imports.filter(({ kind }) => kind === "package").map(({ to }) => to);
    expect(packages).toEqual(["some-package", "@scope/name"]);
  });

  test("ignores text that looks like an import", () => {
    const text = `
      // import "./comment.ts";
      /* import "./block.ts"; */
      /** As in \`import x from "./doc.ts"\`:
       * import { y } from "./doc.ts";
       */
      export const name = "./string.ts";
      export function load(): string { return "from './other.ts'"; }
      const url = new URL("./sql/", import.meta.url);
    `;
    expect(readImports("module/file.ts", text)).toEqual([]);
  });

  test("sees as many imports as the real files have lines of them", () => {
    const lines = Object.values(files).flatMap((text) =>
      text
        .split("\n")
        .filter((line) => /^(import|export)\b.*\bfrom "|^\} from "|^import "/.test(line)),
    );
    expect(lines.length).toBeGreaterThan(300);
    expect(graph.filter(({ when }) => when !== "late")).toHaveLength(lines.length);
  });
});

describe("the checks", () => {
  const flags = (path: string, text: string) => upward(graphOf({ [path]: text }));

  test.each([
    ["core/clock.ts", "../bot.ts"],
    ["core/clock.ts", "../events/types.ts"],
    ["events/parse.ts", "../client/client.ts"],
    ["client/http.ts", "../inbox/inbox.ts"],
    ["inbox/read-batch.ts", "./sqlite/open.ts"],
    ["inbox/sqlite/open.ts", "../../client/client.ts"],
    ["receiver/receive.ts", "../dispatcher/loop.ts"],
    ["dispatcher/run.ts", "../router/router.ts"],
    ["poller/poller.ts", "../receiver/receiver.ts"],
    ["router/router.ts", "../inbox/inbox.ts"],
    ["router/router.ts", "../receiver/receiver.ts"],
    ["config.ts", "./bot.ts"],
    ["bot.ts", "./testing/index.ts"],
    ["bot.ts", "./platform/index.ts"],
    ["bot.ts", "./cli/main.ts"],
    ["bot.ts", "./create/main.ts"],
    ["testing/test-bot.ts", "../bot.ts"],
    ["platform/platform.ts", "../inbox/inbox.ts"],
    ["create/main.ts", "../errors.ts"],
    ["cli/main.ts", "../create/main.ts"],
    ["somewhere/new.ts", "../errors.ts"],
  ])("flag an import from %s of %s, in each of its forms", (path, target) => {
    for (const text of [
      `import "${target}";`,
      `import { x } from "${target}";`,
      `import type { X } from "${target}";`,
      `export { x } from "${target}";`,
      `const x = await import("${target}");`,
    ]) {
      expect(flags(path, text), text).toHaveLength(1);
    }
  });

  test.each([
    ["platform/webhooks/webhook.ts", "../control/control.ts"],
    ["platform/uploads/uploads.ts", "../api/api.ts"],
    ["platform/limits.ts", "./world.ts"],
  ])("flag an import within the platform from %s of %s", (path, target) => {
    expect(upstairs(graphOf({ [path]: `import type { X } from "${target}";` }))).toHaveLength(1);
  });

  test("leave an import within the platform from a higher floor alone", () => {
    const text = 'import { x } from "../webhooks/webhook.ts";';
    expect(upstairs(graphOf({ "platform/control/control.ts": text }))).toEqual([]);
  });

  test.each([
    ["bot.ts", "./receiver/receiver.ts"],
    ["receiver/receiver.ts", "../inbox/inbox.ts"],
    ["inbox/sqlite/open.ts", "../inbox.ts"],
    ["cli/main.ts", "../platform/index.ts"],
    ["core/clock.ts", "./logger.ts"],
  ])("leave an import from %s of %s alone", (path, target) => {
    expect(flags(path, `import { x } from "${target}";`)).toEqual([]);
  });

  test("flag a cycle, of two files or of more, also of types alone", () => {
    const two = graphOf({ "a.ts": 'import "./b.ts";', "b.ts": 'import type { A } from "./a.ts";' });
    expect(cycles(two)).toEqual([["a.ts", "b.ts", "a.ts"]]);
    const three = graphOf({
      "start.ts": 'import "./a.ts";',
      "a.ts": 'import "./b.ts";',
      "b.ts": 'export * from "./c.ts";',
      "c.ts": 'await import("./a.ts");',
    });
    expect(cycles(three)).toEqual([["a.ts", "b.ts", "c.ts", "a.ts"]]);
    expect(cycles(graphOf({ "a.ts": 'import "./a.ts";' }))).toEqual([["a.ts", "a.ts"]]);
  });

  test("do not take two ways to one file for a cycle", () => {
    const diamond = graphOf({
      "a.ts": 'import "./b.ts"; \nimport "./c.ts";',
      "b.ts": 'import "./d.ts";',
      "c.ts": 'import "./d.ts";',
      "d.ts": "",
    });
    expect(diamond).toHaveLength(4);
    expect(cycles(diamond)).toEqual([]);
  });

  test("flag a heavy package outside its modules", () => {
    const text = 'import Sqlite from "better-sqlite3";';
    for (const path of ["bot.ts", "inbox/read-batch.ts", "platform/api/dm.ts", "cli/main.ts"]) {
      expect(misplaced(graphOf({ [path]: text })), path).toHaveLength(1);
    }
    for (const path of ["inbox/sqlite/open.ts", "platform/store/database.ts"]) {
      expect(misplaced(graphOf({ [path]: text })), path).toEqual([]);
    }
  });

  test("follow what a file loads, and not what it may load later", () => {
    const made = graphOf({
      "index.ts": 'export * from "./bot.ts";',
      "bot.ts":
        'const x = await import("./late.ts");\nimport "./early.ts";\nimport type { T } from "./never.ts";',
      "early.ts": 'import "zod";',
      "late.ts": 'import "better-sqlite3";',
      "never.ts": 'import "express";',
    });
    expect([...loadedWith("index.ts", made)]).toEqual(["index.ts", "bot.ts", "early.ts"]);
    expect([...packagesOf(loadedWith("index.ts", made), made)]).toEqual(["zod"]);
  });
});
