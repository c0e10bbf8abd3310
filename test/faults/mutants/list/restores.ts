import { type Mutant, mutantsOf } from "../mutant.ts";

const STEPS = ["test/dispatcher/restored-steps.test.ts"];
const REPLIES = ["test/router/find-reply.test.ts"];
const BOT = ["test/restored.test.ts", "test/restored-instances.test.ts"];
const FILES = ["test/inbox/backup.test.ts"];
const EXPORTS = ["test/cli/inbox-export.postgres.test.ts"];
const TWICE = ["test/inbox/restored-twice.test.ts"];

/** A backup has everything of one moment, and what was said after it is not said again once it is restored. */
export const restoreMutants: readonly Mutant[] = [
  ...mutantsOf("src/dispatcher/steps.ts", STEPS, [
    {
      name: "restored: a step that is new is not trusted to be",
      find: "if (past !== undefined && start.certain !== true && canBeInDoubt(step, past)) {",
      replace: "if (past !== undefined && start.certain !== true && step.name === '') {",
    },
    {
      name: "restored: what is known to have come to nothing runs",
      find: "start.certain !== true && canBeInDoubt",
      replace: "canBeInDoubt",
    },
    {
      name: "restored: waiting for what the lost process has sent",
      find: "clock.now() + inFlightMs - ageMs",
      replace: "clock.now()",
    },
    {
      name: "restored: looking back to the event, whenever the intent was recorded",
      find: "past: past && { ...past, lookedForMs: ageMs },",
      replace: "",
    },
    {
      name: "restored: taking what cannot be told for not done, where that was said",
      find: 'if (past?.assumeAbsent === true && hasCode(error, "STEP_UNCERTAIN")) return undefined;',
      replace: "",
    },
  ]),
  ...mutantsOf("src/inbox/sqlite/steps.ts", STEPS, [
    {
      name: "restored: remembering what came to nothing",
      find: 'if (row.state === "open" && row.fence === ABSENT) {',
      replace: 'if (row.state === "open" && row.fence === ABSENT - 1) {',
    },
  ]),
  ...mutantsOf("src/router/find-reply.ts", REPLIES, [
    {
      name: "restored: nothing that is older than the event",
      find: "return (past.since ?? Number.NEGATIVE_INFINITY) - WHOLE_SECOND_MS;",
      replace: "return Number.NEGATIVE_INFINITY;",
    },
    {
      name: "restored: other words in a conversation are left to a person",
      find: '(await expectNothingElse("dm", others, intent))',
      replace: "undefined",
    },
    {
      name: "restored: other words below a post are left to a person",
      find: '(await expectNothingElse("comment", own(others), intent))',
      replace: "undefined",
    },
  ]),
  ...mutantsOf("src/bot/restored.ts", BOT, [
    {
      name: "restored: what is newer than the restore is not in doubt",
      find: "if (since > (await this.#until()) + SLACK_MS) return undefined;",
      replace: "",
    },
    {
      name: "restored: no event is handled before the log is read",
      find: "while (poller !== undefined && this.isCatchingUp && !signal.aborted) {",
      replace: "while (poller !== undefined && !signal.aborted && this.#startedAt < 0) {",
    },
    {
      name: "restored: an instance learns what the others know",
      find: "this.#mark = { ...this.#mark, ...stored };",
      replace: "",
    },
    {
      name: "restored: it ends where no log is read, too",
      find: "if (this.#poller === undefined) return this.#startedAt;",
      replace: "if (this.#poller === undefined) return undefined;",
    },
  ]),
  ...mutantsOf("src/poller/poller.ts", BOT, [
    {
      name: "restored: what is read again says nothing about the webhook",
      find: "const tells = isCatchingUp?.() !== true;",
      replace: "const tells = isCatchingUp?.() !== undefined;",
    },
  ]),
  ...mutantsOf("src/inbox/sqlite/backup.ts", FILES, [
    {
      name: "backup: of one moment, whatever is written meanwhile",
      find: '    db.exec("BEGIN");\n    // Only with the first look at the file does the transaction begin.\n    db.prepare("SELECT count(*) FROM sqlite_schema").get();\n',
      replace: '    db.exec("BEGIN");\n',
    },
    {
      name: "backup: the copy is checked",
      find: 'if (problem?.integrity_check !== "ok")',
      replace: 'if (problem?.integrity_check === "")',
    },
  ]),
  ...mutantsOf("src/inbox/sqlite/restore.ts", FILES, [
    {
      name: "restored: a backup is marked as what it is",
      find: "return settle(draft, backup, (db) => setMark(db, backup, mark));",
      replace: "return settle(draft, backup, () => void mark);",
    },
    {
      name: "restored: the last commits of a file that was copied by hand",
      find: 'for (const suffix of ["", "-wal", "-journal"]) {',
      replace: 'for (const suffix of [""]) {',
    },
    {
      name: "restored: nothing is replaced",
      find: "if (old.length > 0 && !moveOld) throw inTheWay(place, old);",
      replace: "",
    },
  ]),
  ...mutantsOf(
    "src/inbox/sqlite/place-file.ts",
    ["test/inbox/restore-failures.test.ts"],
    [
      {
        name: "restored: the old inbox stays until the new one is on the disk",
        find: "    sync(draft);\n    exchange(draft, file, clearWay());\n",
        replace:
          "    const putBack = clearWay();\n    sync(draft);\n    exchange(draft, file, putBack);\n",
      },
      {
        name: "restored: the old inbox is moved back where the new one cannot be put there",
        find: "    putBack();\n",
        replace: "",
      },
    ],
  ),
  ...mutantsOf("src/inbox/sqlite/restore.ts", TWICE, [
    {
      name: "restored twice: what had come to nothing before the backup is in doubt again",
      find: "db.exec(`DELETE FROM step WHERE ",
      replace: "db.exec(`SELECT 1 FROM step WHERE ",
    },
  ]),
  ...mutantsOf("src/cli/inbox/import-doubt.ts", EXPORTS, [
    {
      name: "restored: what was in doubt stays so in the inbox that it is imported into",
      find: "await transfer.takeMark(restored);",
      replace: "",
    },
    {
      name: "restored: nothing in doubt is imported beside a bot that would not notice",
      find: "if (await served()) throw inUse(doubtful);",
      replace: "",
    },
  ]),
];
