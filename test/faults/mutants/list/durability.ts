import { type Mutant, mutantsOf } from "../mutant.ts";

const GROUP = "test/inbox/group-commit.test.ts";
const FILE = "test/inbox/sqlite-file.test.ts";
const POWER = "test/faults/power-loss.system.test.ts";
const ANSWERS = "test/receiver/answers.test.ts";

/** What taking the power away must notice by itself. */
const powerMutants: readonly Mutant[] = [
  ...mutantsOf(
    "src/inbox/sqlite/open.ts",
    [POWER],
    [
      {
        name: "synchronous=FULL (power loss)",
        find: 'db.pragma("synchronous = FULL");\n  expectPragma(db, "synchronous", 2);',
        replace: 'db.pragma("synchronous = NORMAL");',
      },
    ],
  ),
  ...mutantsOf(
    "src/receiver/receiver.ts",
    [POWER],
    [
      {
        name: "answering a delivery after it is stored (power loss)",
        find: 'await this.#options.inbox.put(batch, "webhook", [], trace);',
        replace:
          '(void this.#options.inbox.put(batch, "webhook", [], trace), { stored: [], duplicates: 0, unusable: 0 });',
      },
    ],
  ),
  ...mutantsOf(
    "src/dispatcher/steps.ts",
    [POWER],
    [
      {
        name: "the intent before the effect (power loss)",
        find: "const start = await this.#records.begin(step.name, request);",
        replace: 'const start = { state: "new" };',
      },
    ],
  ),
];

/** Acknowledged means durable, and a commit is whole. */
export const durabilityMutants: readonly Mutant[] = [
  ...powerMutants,
  ...mutantsOf(
    "src/inbox/sqlite/open.ts",
    [FILE],
    [
      {
        name: "synchronous=FULL",
        find: 'db.pragma("synchronous = FULL");\n  expectPragma(db, "synchronous", 2);',
        replace: 'db.pragma("synchronous = NORMAL");',
      },
      {
        name: "one process per file",
        find: 'lock.exec("BEGIN EXCLUSIVE");',
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/open.ts",
    ["test/inbox/pinned-reader.test.ts"],
    [
      {
        name: "cutting back a WAL that a reader has let grow",
        find: "journal_size_limit = ",
        // A negative size is no limit.
        replace: "journal_size_limit = -",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/group-commit.ts",
    [GROUP],
    [
      {
        name: "answering after the commit, not before",
        find: "for (const write of group) write.run();",
        replace: "for (const write of group) { write.run(); write.keep(); }",
      },
      {
        name: "rolling back after an error",
        find: 'if (this.#db.open && this.#db.inTransaction) this.#db.exec("ROLLBACK");',
        replace: "",
      },
      {
        name: "looking whether SQLite has rolled back by itself",
        find: "if (this.#db.open && this.#db.inTransaction) ",
        replace: "",
      },
      {
        name: "sparing the neighbours of a write that fails",
        find: "for (const write of group) this.#settle([write], this.#commit([write]));",
        replace: "this.#settle(group, error);",
      },
      {
        name: "sharing one commit",
        find: "if (this.#scheduled) return;",
        replace: "this.#flush(); return;",
      },
      {
        name: "committing what waits when the inbox is closed",
        find: "this.#closed = true;\n    this.#flush();",
        replace: "this.#closed = true;\n    this.#waiting = [];",
      },
    ],
  ),
  ...mutantsOf(
    "src/receiver/receiver.ts",
    [ANSWERS],
    [
      {
        name: "answering a delivery after it is stored",
        find: 'await this.#options.inbox.put(batch, "webhook", [], trace);',
        replace:
          '(void this.#options.inbox.put(batch, "webhook", [], trace), { stored: [], duplicates: 0, unusable: 0 });',
      },
      {
        name: "503 when a delivery cannot be stored",
        find: "return this.#unavailable(error, started, trace);",
        replace: "return json(200, { error: String(error) });",
      },
      {
        name: "refusing what is not signed",
        find: "if (!verdict.ok) return",
        replace: "if (!verdict) return",
      },
    ],
  ),
  ...mutantsOf(
    "src/signature/signature.ts",
    ["test/signature/tampering.test.ts", "test/signature/signature.test.ts"],
    [
      {
        name: "comparing the signature",
        find: "timingSafeEqual(expected, signature)",
        replace: "expected.length === signature.length",
      },
      {
        name: "refusing old signatures",
        find: "Math.abs(age) > TOLERANCE_SECONDS",
        replace: "-age > TOLERANCE_SECONDS",
      },
    ],
  ),
  ...mutantsOf(
    "src/poller/log-reader.ts",
    ["test/poller/log-reader.test.ts"],
    [
      {
        name: "keeping the cursor behind young events",
        find: "if (dates.some(([, at]) => now - at < SETTLED_AFTER_MS)) return false;",
        replace: "",
      },
    ],
  ),
];
