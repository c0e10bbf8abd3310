import { type Mutant, mutantsOf } from "../mutant.ts";

const CONTRACT = "test/inbox/sqlite.test.ts";
const FILE = "test/inbox/sqlite-file.test.ts";
const RESTING = "test/inbox/resting-lanes.test.ts";
const MODEL = "test/faults/model.postgres.test.ts";

const LANES = "src/inbox/sqlite/lanes.ts";
const HELD = "$" + "{HELD}";
/** In its place: the same parameters, and any claim of the lane will do. */
const UNGUARDED = "lane.key = ? AND ? IS NOT NULL AND ? IS NOT NULL";

/** Leases, fences, order and counters: the way out of the inbox. */
const lanes: Mutant[] = mutantsOf(
  LANES,
  [CONTRACT],
  [
    {
      name: "the fence",
      find: " AND lane.fence = +?",
      replace: " AND ? IS NOT NULL",
    },
    {
      name: "the fence, when an event is ended",
      find: `lane.claimed\n       WHERE ${HELD}`,
      replace: `lane.claimed\n       WHERE ${UNGUARDED}`,
    },
    {
      name: "the fence, when an event is put off",
      find: `SET owner = NULL, ready_at = ? WHERE ${HELD}`,
      replace: `SET owner = NULL, ready_at = ? WHERE ${UNGUARDED}`,
    },
    {
      name: "the fence, when a lease is extended",
      find: `SET ready_at = ? WHERE ${HELD}`,
      replace: `SET ready_at = ? WHERE ${UNGUARDED}`,
    },
    {
      name: "the fence, when a step is recorded",
      find: `SELECT fence FROM lane WHERE ${HELD}`,
      replace: `SELECT fence FROM lane WHERE ${UNGUARDED}`,
    },
    {
      name: "a new fence for each claim",
      find: "SET owner = ?, fence = fence + 1, claimed",
      replace: "SET owner = ?, claimed",
    },
    {
      name: "the owner",
      find: " AND lane.owner = +?",
      replace: " AND ? IS NOT NULL",
    },
    {
      name: "the lease of a claim",
      find: "head.seq, until, lane.key)",
      replace: "head.seq, now, lane.key)",
    },
    {
      name: "the order within a lane",
      find: "WHERE lane = +? AND state = 'pending' ORDER BY ord, seq LIMIT 1",
      replace: "WHERE lane = +? AND state = 'pending' ORDER BY seq LIMIT 1",
    },
    {
      name: "the lane that waited longest first",
      find: "WHERE ready_at <= +? ORDER BY ready_at, key LIMIT +?",
      replace: "WHERE ready_at <= +? ORDER BY key LIMIT +?",
    },
    {
      name: "waking a lane that has more",
      find: "ready_at = CASE WHEN pending > 1 THEN ? END",
      replace: "ready_at = CASE WHEN pending < 0 THEN ? END",
    },
    {
      name: "counting the attempt of a run that was lost, when another event is first by then",
      find: "this.#countAttempt.run(fence, claimed);",
      replace: "",
    },
    {
      name: "counting an attempt that failed",
      find: "this.#putOff.run(1, claim.fence,",
      replace: "this.#putOff.run(0, claim.fence,",
    },
    {
      name: "giving an attempt back",
      find: "this.#putOff.run(0, claim.fence,",
      replace: "this.#putOff.run(1, claim.fence,",
    },
    {
      name: "no history of what had not begun",
      find: "if (error === undefined) return true;\n",
      replace: "",
    },
    {
      name: "no crash of what had not begun",
      find: "if (owner === null) return 0;",
      replace: "",
    },
    {
      name: "telling late events",
      find: "done_ord !== null && ord < done_ord",
      replace: "false",
    },
    {
      name: "a fence of its own for what a lane goes on with",
      find: "pending = pending - 1, fence = fence + 1, claimed",
      replace: "pending = pending - 1, claimed",
    },
    {
      name: "the lease of a lane that goes on",
      find: "claimed = ?, done_at = ?",
      replace: "claimed = ?, ready_at = ready_at + 60000, done_at = ?",
    },
    {
      name: "a lease that has run out is not gone on with",
      find: " || held.ready_at <= now)",
      replace: ")",
    },
    {
      name: "a suspect is not gone on with",
      find: " || head.crashes >= CRASHES ||",
      replace: " ||",
    },
    {
      name: "counting the attempt of what a lane goes on with",
      find: "claimed = ?, done_at = ?",
      replace: "claimed = coalesce(claimed, ?), done_at = ?",
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
        find: "SET pending = pending + excluded.pending, ready_at",
        replace: "SET ready_at",
      },
      {
        name: "a lane keeps its time when an event arrives",
        find: "ready_at = coalesce(ready_at, excluded.ready_at)",
        replace:
          "excluded.pending, ready_at = excluded.ready_at`,\n    );\n    this.#wakeForgotten",
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
        find: "db.transaction(() => this.#lanes.recover(this.#clock.now())).immediate();",
        replace: "",
      },
      {
        name: "remembering what a claim that failed would have written",
        find: "this.#arrivals.giveBack(arrivals);\n      throw error;",
        replace: "throw error;",
      },
      {
        name: "asking for a claim while lanes wait to be written",
        find: "const at = this.#arrivals.lanes > 0 ? await this.#writeAwake(next) : readStore(next);",
        replace: "const at = readStore(next);",
      },
      {
        name: "the cursor in the transaction of its events",
        find: "const batch = this.#batches.put(given, now);",
        replace:
          "const batch = this.#batches.put({ ...given, cursors: [] }, now); " +
          "queueMicrotask(() => this.#write(() => this.#batches.put({ ...given, events: [] }, now)));",
      },
      {
        name: "the limit of the backlog",
        find: "this.#refuseWhenFull(events);\n",
        replace: "",
      },
      {
        name: "room in a full backlog for what is done in a lane that goes on",
        find: "if (advance.held) this.#pending -= 1;",
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
        name: "telling lanes of events that a dead process had stored",
        find: "this.#wakeForgotten.run(now);",
        replace: "",
      },
      {
        name: "healing of idle lanes",
        find: "WHERE lane.ready_at IS NULL`",
        replace: "WHERE false`",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/sqlite-inbox.ts",
    ["test/inbox/disk.test.ts"],
    [
      {
        name: "no new events on a full disk",
        find: "this.#disk?.refuseWhenLow();\n",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/disk.ts",
    ["test/inbox/disk.test.ts"],
    [
      {
        name: "looking at the disk again",
        find: "if (Math.abs(now - this.#checkedAt) < INTERVAL_MS) return;",
        replace: "if (this.#checkedAt > 0) return;",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/retention.ts",
    [CONTRACT, "test/inbox/retention.test.ts"],
    [
      {
        name: "forgetting old ids",
        find: "this.#drop.run({ seq });",
        replace: "void seq;",
      },
      {
        name: "keeping ids for a month",
        find: "keep.deadLettersMs : keep.idsMs)",
        replace: "keep.deadLettersMs : keep.bodiesMs)",
      },
      {
        name: "dropping old bodies",
        find: "for (const statement of this.#strip) statement.run({ seq, id });",
        replace: "void id;",
      },
      {
        name: "keeping the bodies of dead letters",
        find: 'else if (has_body && state !== "dead" &&',
        replace: "else if (has_body &&",
      },
      {
        name: "sweeping in small batches",
        find: "const BATCH = 500;",
        replace: "const BATCH = 500_000;",
      },
      {
        name: "giving free pages back",
        find: "if (free <= Math.max(SPARE_PAGES, pages * SPARE_SHARE)) return false;",
        replace: "if (free >= 0) return false;",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/resting-lanes.ts",
    [RESTING, "test/inbox/retention.test.ts"],
    [
      {
        name: "forgetting idle lanes",
        find: "this.#forget.run({ ...range, before: now - idsMs })",
        replace: "[range, now - idsMs]",
      },
      {
        name: "lanes come to rest",
        find: "for (const statement of this.#rest)",
        replace: "for (const statement of this.#rest.slice(2))",
      },
      {
        name: "a lane that is at work does not rest",
        find: "ready_at IS NULL AND owner IS NULL AND pending <= 0 AND",
        replace: "",
      },
      {
        name: "a lane rests after a while",
        find: "const REST_AFTER_MS = 600_000;",
        replace: "const REST_AFTER_MS = 0;",
      },
      {
        name: "a lane that rests again is known as it was last",
        find: "SET fence = excluded.fence, done_ord = excluded.done_ord, done_at",
        replace: "SET done_at",
      },
      {
        name: "putting lanes to rest in small batches",
        find: "const AT_WORK_BATCH = 100;",
        replace: "const AT_WORK_BATCH = 100_000;",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/sql/001_inbox.sql",
    [RESTING],
    [
      {
        name: "the fence of a lane that wakes",
        find: "SELECT max(NEW.fence, fence), done_ord",
        replace: "SELECT NEW.fence, done_ord",
      },
      {
        name: "telling late events of a lane that wakes",
        find: "fence), done_ord, done_at FROM",
        replace: "fence), NULL, done_at FROM",
      },
    ],
  ),
  ...mutantsOf(
    LANES,
    [CONTRACT],
    [
      {
        name: "events that crashed twice run one at a time",
        find: "const waits = this.#suspects.mustWait(claim);",
        replace: "const waits = this.#suspects.mustWait(claim) && false;",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/history.ts",
    [CONTRACT, FILE],
    [
      {
        name: "noting the runs that a dead process took with it",
        find: "for (const run of this.#leased.all()) this.addCrash(",
        replace: "for (const run of this.#leased.all().slice(0, 0)) this.addCrash(",
      },
      {
        name: "the limit of the history",
        find: "this.#trim.run({ id });",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/history.ts",
    [FILE],
    [
      {
        name: "counting the crashes of an event",
        find: ", crashes = crashes + 1 WHERE",
        replace: " WHERE",
      },
      {
        name: "counting the attempt of a run that never said how it ended",
        find: "SET attempts = @attempt, fence",
        replace: "SET fence",
      },
    ],
  ),
  ...mutantsOf(
    LANES,
    [FILE, "test/inbox/plans.test.ts"],
    [
      {
        name: "a clock that was set back while no bot ran",
        find: "if (by > 0) this.#shift.run(by);",
        replace: "",
      },
      {
        name: "an index for the next lane that is ready",
        find: 'FROM lane WHERE ready_at IS NOT NULL"',
        replace: 'FROM lane"',
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/sqlite-inbox.ts",
    [CONTRACT],
    [
      {
        name: "a full backlog takes what it knows",
        find: "if (readStore(() => this.#batches.allKnown(events))) return;",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/sqlite/watch.ts",
    ["test/inbox/attach.test.ts"],
    [
      {
        name: "noticing what was decided outside",
        find: "if (now === seen) return;",
        replace: "if (now !== undefined) return;",
      },
    ],
  ),
];

/** What the comparison with the model must notice by itself. */
const seenByModel: ReadonlySet<string> = new Set([
  "the fence",
  "the owner",
  "the order within a lane",
  "counting the attempt of a run that never said how it ended",
  "the pending counter",
  "the fence of a lane that wakes",
  "telling late events of a lane that wakes",
  "a lane that is at work does not rest",
  "ids of digits compared as numbers",
  "the cursor in the transaction of its events",
]);

export const modelMutants: readonly Mutant[] = [...lanes, ...intake, ...inbox]
  .filter(({ name }) => seenByModel.has(name))
  .map((mutant) => ({ ...mutant, name: `${mutant.name} (model)`, tests: [MODEL] }));

export const inboxMutants: readonly Mutant[] = [...lanes, ...intake, ...inbox];
