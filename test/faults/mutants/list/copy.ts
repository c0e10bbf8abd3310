import { type Mutant, mutantsOf } from "../mutant.ts";

const COPY = "test/inbox/copy/copy.postgres.test.ts";
const SERVING = "test/inbox/postgres/serving.postgres.test.ts";

const order: Mutant[] = mutantsOf(
  "src/inbox/copy/copy.ts",
  [COPY],
  [
    {
      name: "copying an inbox: comparing what was written",
      find: "const same = sum.rows === expected.rows && String(sum) === checksum;",
      replace: "const same = sum.rows === expected.rows;",
    },
    {
      name: "copying an inbox: marking the source before the target is let go",
      find: "await source.leave(target.place);\n",
      replace: "",
    },
    {
      name: "copying an inbox: moving times to the other clock",
      find: "return Math.abs(difference) < SAME_CLOCK_MS ? 0 : difference;",
      replace: "return difference * 0;",
    },
    {
      name: "copying an inbox: letting go of the source when it fails",
      find: "if (!left) await source.release().catch(() => undefined);",
      replace: "",
    },
  ],
);

const postgres: Mutant[] = [
  ...mutantsOf(
    "src/inbox/postgres/copy-target.ts",
    [COPY],
    [
      {
        name: "copying an inbox: marking the target",
        find: 'await setMark(queries, { role: "target", other: from, run });\n',
        replace: "",
      },
      {
        name: "copying an inbox: removing what an earlier try has left",
        find: "await new CopyRows(queries).clear(tables);\n",
        replace: "",
      },
      {
        name: "copying an inbox: numbers behind those that were copied",
        find: "await database.rows(GO_ON);\n",
        replace: "",
      },
      {
        name: "copying an inbox: refusing a place that is not empty",
        find: "if (await new CopyRows(queries).isEmpty(tables)) return undefined;",
        replace: "return undefined;",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/postgres/copy-rows.ts",
    [COPY],
    [
      {
        name: "copying an inbox: giving way to a later run",
        find: "WHERE EXISTS (SELECT FROM mine) RETURNING 1",
        replace: "RETURNING 1",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/postgres/postgres-inbox.ts",
    [COPY],
    [
      {
        name: "copying an inbox: a bot that refuses a marked schema",
        find: "await refuseMarked(database, options.url);\n",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/postgres/copy-store.ts",
    [COPY],
    [
      {
        name: "copying an inbox: looking for bots in PostgreSQL",
        find: "if (n > 0) {",
        replace: "if (n < 0) {",
      },
      {
        name: "copying an inbox: looking for runs that have not ended",
        find: "if ((underWay?.n ?? 0) === 0) return;",
        replace: "return;",
      },
    ],
  ),
];

const unmarked: Mutant[] = [
  ...mutantsOf(
    "src/inbox/postgres/copy-source.ts",
    [SERVING],
    [
      {
        name: "copying an inbox: looking for bots before the source is marked",
        find: "await refuseServed(opened);\n      await mark(to);",
        replace: "await mark(to);",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/postgres/copy-target.ts",
    [SERVING],
    [
      {
        name: "copying an inbox: looking for bots before the target is marked",
        find: "await refuseServed(opened);\n  await database.transaction(",
        replace: "await database.transaction(",
      },
    ],
  ),
];

const sqlite: Mutant[] = [
  ...mutantsOf(
    "src/inbox/sqlite/open.ts",
    [COPY],
    [
      {
        name: "copying an inbox: a bot that refuses a marked file",
        find: "if (mark === undefined) return opened;",
        replace: "return opened;",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/copy-source.ts",
    [COPY],
    [
      {
        name: "copying an inbox: ending what the last process left under way",
        find: 'write(() => new Lanes(db, "", new History(db)).recover(Date.now()))',
        replace: "undefined",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/copy-rows.ts",
    [COPY],
    [
      {
        name: "copying an inbox: lanes that rest",
        find: 'return name === "lane" ? EVERY_LANE : name;',
        replace: "return name || EVERY_LANE;",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/resting-lanes.ts",
    [COPY],
    [
      {
        name: "copying an inbox: a lane that woke is copied once",
        find: "WHERE NOT EXISTS (SELECT 1 FROM lane WHERE lane.key = resting.key))",
        replace: ")",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/resting-lanes.ts",
    ["test/inbox/plans.test.ts"],
    [
      {
        name: "copying an inbox: lanes that rest are not sorted for each batch",
        find: "CAST(0 AS INTEGER)",
        replace: "0",
      },
    ],
  ),
];

/** What keeps a copy of an inbox from being half a one, or one too many. */
export const copyMutants: readonly Mutant[] = [...order, ...postgres, ...unmarked, ...sqlite];
