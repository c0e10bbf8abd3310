import { type Mutant, mutantsOf } from "../mutant.ts";

const folder = "test/inbox/postgres";
const CONTRACT = `${folder}/contract.test.ts`;
const TOGETHER = `${folder}/together.test.ts`;
const OPENING = `${folder}/opening.test.ts`;
const WAKE_UPS = `${folder}/wake-ups.test.ts`;
const PGBOUNCER = `${folder}/pgbouncer.test.ts`;
const DATABASE = `${folder}/database.test.ts`;
const SHARED = `${folder}/shared.test.ts`;
const STATEMENTS = `${folder}/statements.test.ts`;

const source = (name: string) => `src/inbox/postgres/${name}.ts`;

const intake: Mutant[] = mutantsOf(
  source("batches"),
  [TOGETHER, CONTRACT, SHARED],
  [
    {
      name: "PostgreSQL: sorting a batch",
      find: 'FROM input ORDER BY ord COLLATE "C", n',
      replace: "FROM input",
    },
    {
      name: "PostgreSQL: sorting the lanes of a batch",
      find: "GROUP BY lane ORDER BY lane",
      replace: "GROUP BY lane ORDER BY min(id)",
    },
    {
      name: "PostgreSQL: the fence of the cursor",
      find: "leader.name = moves.name AND leader.term = moves.term FOR SHARE",
      replace: "leader.name = moves.name FOR SHARE",
    },
    {
      name: "PostgreSQL: the counter of a lane",
      find: "pending = lane.pending + excluded.pending",
      replace: "pending = lane.pending",
    },
    {
      name: "PostgreSQL: leaving the time of a lane alone",
      find: "coalesce(lane.ready_at, excluded.ready_at)",
      replace: "excluded.ready_at",
    },
  ],
);

const claims: Mutant[] = mutantsOf(
  source("claims"),
  [TOGETHER, CONTRACT],
  [
    {
      name: "PostgreSQL: locking the lanes that are claimed",
      find: "ORDER BY ready_at, key LIMIT $1 FOR UPDATE SKIP LOCKED",
      replace: "ORDER BY ready_at, key LIMIT $1",
    },
    {
      name: "PostgreSQL: a new fence for each claim",
      find: "SET fence = head.fence + 1, claimed = head.seq",
      replace: "SET fence = head.fence, claimed = head.seq",
    },
    {
      name: "PostgreSQL: noticing a run that ended without a word",
      find: "(ready.claimed = seq OR ready.fence = event.fence)",
      replace: "false",
    },
    {
      name: "PostgreSQL: counting the attempt of a run that ended without a word",
      find: 'is("head.claimed = event.seq")',
      replace: 'is("false")',
    },
    {
      name: "PostgreSQL: leaving a suspect to the one that decides about it",
      find: "WHEN head.suspect THEN greatest(",
      replace: "WHEN head.suspect THEN least(",
    },
    {
      name: "PostgreSQL: looking again whether the event that is claimed still waits",
      find: "ORDER BY ord, seq LIMIT 1 FOR NO KEY UPDATE",
      replace: "ORDER BY ord, seq LIMIT 1",
    },
    {
      name: "PostgreSQL: mending a lane that was taken without an event",
      find: "await this.#besides(this.#mend(key, fence));",
      replace: "",
    },
  ],
);

const suspects: Mutant[] = mutantsOf(
  source("suspects"),
  [TOGETHER],
  [
    {
      name: "PostgreSQL: one suspect at a time",
      find: "if (running.length > 0) return undefined;",
      replace: "",
    },
    {
      name: "PostgreSQL: one who lets suspects run",
      find: "FROM {schema}.suspect FOR UPDATE SKIP LOCKED",
      replace: "FROM {schema}.suspect",
    },
    {
      name: "PostgreSQL: letting suspects go that were not chosen",
      find: "await this.#putOff(admitted === undefined ? suspects : others);",
      replace: "void others;",
    },
    {
      name: "PostgreSQL: leaving a suspect alone that has ended meanwhile",
      find: "lane.owner IS NULL AND lane.ready_at IS NOT NULL",
      replace: "lane.owner IS NULL",
    },
  ],
);

const lanes: Mutant[] = mutantsOf(
  source("lanes"),
  [TOGETHER, CONTRACT],
  [
    {
      name: "PostgreSQL: the fence",
      find: '"key = $1 AND owner = $2 AND fence = $3"',
      replace: '"key = $1 AND owner = $2 AND $3::bigint > 0"',
    },
    {
      name: "PostgreSQL: the fence of what ends",
      find: "WHERE lane.owner = $1 AND lane.fence = input.fence",
      replace: "WHERE lane.owner = $1",
    },
    {
      name: "PostgreSQL: the owner of what ends",
      find: "WHERE lane.owner = $1 AND lane.fence = input.fence",
      replace: "WHERE $1::text <> '' AND lane.fence = input.fence",
    },
    {
      name: "PostgreSQL: the counter when an event ends",
      find: "ready_at = CASE WHEN lane.pending > 1 THEN {now} END",
      replace:
        "ready_at = CASE WHEN EXISTS (SELECT FROM {schema}.event AS rest WHERE rest.lane = lane.key AND rest.state = 'pending' AND rest.ord <> ended.ord) THEN {now} END",
    },
    {
      name: "PostgreSQL: taking a result once",
      find: "return held.has(key) && first.get(key) === ending;",
      replace: "return true;",
    },
  ],
);

const steps: Mutant[] = mutantsOf(
  source("steps"),
  [TOGETHER, CONTRACT],
  [
    {
      name: "PostgreSQL: one at a time adopts what was found",
      find: "await queries.rows(LOCK_REF, [ref]);",
      replace: "",
    },
    {
      name: "PostgreSQL: one step has what was found",
      find: 'if (others.length > 0) return "taken";',
      replace: "",
    },
    {
      name: "PostgreSQL: who is in the middle of a step",
      find: "lane.owner IS NOT NULL AND lane.key <> $1",
      replace: "lane.key <> $1",
    },
  ],
);

const sessions: Mutant[] = [
  ...mutantsOf(
    source("wake-ups"),
    [WAKE_UPS],
    [
      {
        name: "PostgreSQL: telling others",
        find: "void tell(database, id);",
        replace: "",
      },
      { name: "PostgreSQL: the poll", find: 'onWake("time");', replace: "" },
    ],
  ),
  ...mutantsOf(
    source("listener"),
    [`${folder}/listener.test.ts`, WAKE_UPS],
    [
      {
        name: "PostgreSQL: not hearing oneself",
        find: "if (sender !== id) onHeard",
        replace: "onHeard",
      },
      {
        name: "PostgreSQL: the heartbeat",
        find: '() => client.query("SELECT 1");',
        replace: "() => Promise.resolve();",
      },
      {
        name: "PostgreSQL: looking for what was missed",
        find: "if (this.#heardBefore) onHeard(undefined);",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    source("listener"),
    [PGBOUNCER],
    [
      {
        name: "PostgreSQL: noticing a pooler",
        find: 'return rows[0]?.["pid"] !== client.processID;',
        replace: "return false;",
      },
    ],
  ),
  ...mutantsOf(
    source("store-error"),
    [DATABASE],
    [
      {
        name: "PostgreSQL: dropping a connection that is gone",
        find: "!/^(57P|08)/.test(code)",
        replace: "true",
      },
    ],
  ),
  ...mutantsOf(
    source("claims"),
    [WAKE_UPS],
    [
      {
        name: "PostgreSQL: giving back what a claim without an answer has taken",
        find: "await this.#giveBack();",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    source("database"),
    [WAKE_UPS, TOGETHER],
    [
      {
        name: "PostgreSQL: giving up a broken connection",
        find: "connection.release(broken);",
        replace: "connection.release(false);",
      },
      {
        name: "PostgreSQL: a limit on the time of an answer",
        find: "query_timeout: timeoutMs,",
        replace: "query_timeout: 0,",
      },
      {
        name: "PostgreSQL: storing what UTF-8 has not",
        find: "packValues(values);",
        replace: "[...values];",
      },
    ],
  ),
];

const opening: Mutant[] = [
  ...mutantsOf(
    source("migrate"),
    [OPENING],
    [
      {
        name: "PostgreSQL: one who makes the schema",
        find: "await queries.rows(LOCK, [database.schema]);",
        replace: "",
      },
      {
        name: "PostgreSQL: reading the schema again after the wait for the one who makes it",
        find: "const { version: stored } = await storedSchema(queries);",
        replace: "const stored = 0;",
      },
      {
        name: "PostgreSQL: refusing a newer schema",
        find: "if (oldest > schemaVersion()) throw tooNew(version);",
        replace: "",
      },
      {
        name: "PostgreSQL: a newer schema that may be used",
        find: "if (oldest > schemaVersion()) throw tooNew(version);",
        replace: "if (version > schemaVersion()) throw tooNew(version);",
      },
    ],
  ),
  ...mutantsOf(
    source("open"),
    [OPENING],
    [
      {
        name: "PostgreSQL: refusing a server that loses commits",
        find: 'fsync === "off" ? "fsync" : sync === "off"',
        replace: 'fsync === "off" ? "fsync" : sync === "never"',
      },
    ],
  ),
  ...mutantsOf(
    source("gather"),
    [STATEMENTS],
    [
      {
        name: "PostgreSQL: one statement for what ends together",
        find: "this.#waiting.splice(0, this.#most)",
        replace: "this.#waiting.splice(0, 1)",
      },
    ],
  ),
];

/** The inbox in PostgreSQL. */
export const postgresMutants: readonly Mutant[] = [
  ...intake,
  ...claims,
  ...suspects,
  ...lanes,
  ...steps,
  ...sessions,
  ...opening,
];
