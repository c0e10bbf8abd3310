import { type Mutant, mutantsOf } from "../mutant.ts";

const CONTRACT = "test/inbox/sqlite.test.ts";
const FILE = "test/inbox/sqlite-file.test.ts";
const MODEL = "test/faults/model.test.ts";

const LANES = "src/inbox/sqlite/lanes.ts";
const HELD = "$" + "{HELD}";

/** Leases, fences, order and counters: the way out of the inbox. */
const lanes: Mutant[] = mutantsOf(
  LANES,
  [CONTRACT],
  [
    {
      name: "the fence",
      find: "AND owner = @owner AND fence = @fence",
      replace: "AND owner = @owner",
    },
    {
      name: "the fence, when an event is ended",
      find: `(SELECT ord FROM event WHERE id = @id))\n       WHERE ${HELD}`,
      replace: "(SELECT ord FROM event WHERE id = @id))\n       WHERE key = @lane",
    },
    {
      name: "the fence, when an event is put off",
      find: `ready_at = @at WHERE ${HELD}`,
      replace: "ready_at = @at WHERE key = @lane",
    },
    {
      name: "the fence, when a lease is extended",
      find: `ready_at = @until WHERE ${HELD}`,
      replace: "ready_at = @until WHERE key = @lane",
    },
    {
      name: "the fence, when a step is recorded",
      find: `SELECT fence FROM lane WHERE ${HELD}`,
      replace: "SELECT fence FROM lane WHERE key = @lane",
    },
    {
      name: "a new fence for each claim",
      find: "SET owner = @owner, fence = fence + 1, ready_at",
      replace: "SET owner = @owner, ready_at",
    },
    {
      name: "the owner",
      find: "AND owner = @owner AND fence = @fence",
      replace: "AND fence = @fence",
    },
    {
      name: "the lease of a claim",
      find: "fence = fence + 1, ready_at = @until",
      replace: "fence = fence + 1, ready_at = @now",
    },
    {
      name: "the order within a lane",
      find: "ORDER BY ord, seq LIMIT 1",
      replace: "ORDER BY seq LIMIT 1",
    },
    {
      name: "the lane that waited longest first",
      find: "ORDER BY ready_at LIMIT @limit",
      replace: "ORDER BY key LIMIT @limit",
    },
    {
      name: "waking a lane that has more",
      find: "ready_at = CASE WHEN pending > 1 THEN @now END",
      replace: "ready_at = NULL",
    },
    {
      name: "counting the attempt at the claim",
      find: "SET attempts = attempts + 1 WHERE id",
      replace: "SET attempts = attempts WHERE id",
    },
    {
      name: "giving an attempt back",
      find: "attempts = attempts - @back",
      replace: "attempts = attempts",
    },
    {
      name: "telling late events",
      find: "lane.done_ord !== null && head.ord < lane.done_ord",
      replace: "false",
    },
  ],
);

const intake: Mutant[] = [
  ...mutantsOf(
    "src/inbox/sqlite/batches.ts",
    [CONTRACT],
    [
      {
        name: "the pending counter",
        find: "DO UPDATE SET pending = pending + 1, ready_at",
        replace: "DO UPDATE SET ready_at",
      },
      {
        name: "a lane keeps its time when an event arrives",
        find: "ready_at = coalesce(ready_at, @now)",
        replace: "ready_at = @now",
      },
      {
        name: "deduplication",
        find: "ON CONFLICT (id) DO NOTHING",
        replace: "ON CONFLICT (id) DO UPDATE SET state = 'pending'",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/intake.ts",
    ["test/inbox/intake.test.ts"],
    [
      {
        name: "the sort of a batch",
        find: ".sort((a, b) => (a.ord < b.ord ? -1 : a.ord > b.ord ? 1 : 0))",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/events/id.ts",
    ["test/events/id.test.ts"],
    [
      {
        name: "ids of digits compared as numbers",
        find: 'padStart(9, "0")}$' + "{digits}`",
        replace: "slice(0, 0)}$" + "{digits}`",
      },
    ],
  ),
];

const inbox: Mutant[] = [
  ...mutantsOf(
    "src/inbox/sqlite/sqlite-inbox.ts",
    [CONTRACT, FILE],
    [
      {
        name: "freeing the leases of a dead process at the start",
        find: "this.#lanes.recover(this.#clock.now());",
        replace: "",
      },
      {
        name: "the cursor in the transaction of its events",
        find: "await this.#write((now) => this.#batches.put(events, source, cursors, now));",
        replace:
          "(await this.#write((now) => this.#batches.put([], source, cursors, now)), " +
          "await this.#write((now) => this.#batches.put(events, source, [], now)));",
      },
      {
        name: "the limit of the backlog",
        find: "this.#refuseWhenFull();\n",
        replace: "",
      },
      {
        name: "counting the backlog down",
        find: "if (ended) this.#pending -= 1;",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    LANES,
    [FILE],
    [
      {
        name: "healing of idle lanes",
        find: "AND lane.ready_at IS NULL`",
        replace: "AND false`",
      },
    ],
  ),
];

/** What the comparison with the model must notice by itself. */
const seenByModel: ReadonlySet<string> = new Set([
  "the fence",
  "the owner",
  "the order within a lane",
  "counting the attempt at the claim",
  "the pending counter",
  "ids of digits compared as numbers",
  "the cursor in the transaction of its events",
]);

export const modelMutants: readonly Mutant[] = [...lanes, ...intake, ...inbox]
  .filter(({ name }) => seenByModel.has(name))
  .map((mutant) => ({ ...mutant, name: `${mutant.name} (model)`, tests: [MODEL] }));

export const inboxMutants: readonly Mutant[] = [...lanes, ...intake, ...inbox];
