import { type Mutant, mutantsOf } from "../mutant.ts";

const CONTRACT = "test/inbox/sqlite.test.ts";
const TRANSFER = "test/inbox/transfer.postgres.test.ts";
const SQLITE = "src/inbox/sqlite/transfer.ts";
const POSTGRES = "src/inbox/postgres/transfer.ts";

/** Events that go from one inbox into another, and decisions about many. */
export const transferMutants: readonly Mutant[] = [
  ...mutantsOf(
    SQLITE,
    [TRANSFER],
    [
      {
        name: "an import: a lane is told of what was done before it, in a file",
        find: "this.#passLane.run({ lane, ord, endedAt: row.endedAt })",
        replace: "undefined",
      },
      {
        name: "an import: a lane is told of what waits, in a file",
        find: "this.#enterLane.run({ lane, pending: Number(pending), readyAt })",
        replace: "undefined",
      },
    ],
  ),
  ...mutantsOf(
    POSTGRES,
    [TRANSFER],
    [
      {
        name: "an import: a lane is told of what was done before it, in PostgreSQL",
        find: "max(ord) FILTER (WHERE state IN ('done', 'dead'))",
        replace: "NULL",
      },
    ],
  ),
  {
    name: "an import: foreign runs come before those here",
    file: "src/inbox/transfer.ts",
    find: "return index + 1 - runs;",
    replace: "return index + 1;",
    tests: [TRANSFER],
  },
  {
    name: "a decision about many: its signal",
    file: "src/inbox/administration.ts",
    find: "done < ids.length && signal?.aborted !== true",
    replace: "done < ids.length",
    tests: [CONTRACT],
  },
  {
    name: "a filter: the code stands before the message",
    file: "src/inbox/sqlite/fits.ts",
    find: "instr(substr(event.error, 1, instr(event.error, ': ')), ' ' || @code || ':')",
    replace: "instr(event.error, @code)",
    tests: [CONTRACT],
  },
];
