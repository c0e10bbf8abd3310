import { type Mutant, mutantsOf } from "../mutant.ts";

const folder = "test/inbox/postgres";
const CONTRACT = `${folder}/contract.test.ts`;
const LOCK_ORDER = "test/inbox/postgres/lock-order.postgres.test.ts";
const CHANGED = `${folder}/changed-lanes.test.ts`;
const HELD = `${folder}/held.test.ts`;
const TOGETHER = `${folder}/together.test.ts`;
const OPENING = `${folder}/opening.test.ts`;
const WAKE_UPS = `${folder}/wake-ups.test.ts`;
const PGBOUNCER = `${folder}/pgbouncer.test.ts`;
const DATABASE = `${folder}/database.test.ts`;
const SHARED = `${folder}/shared.test.ts`;
const STATEMENTS = `${folder}/statements.test.ts`;
const DECISIONS = `${folder}/decisions.test.ts`;
const FROZEN = "test/instances/frozen-database.postgres.test.ts";

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
      name: "PostgreSQL: mending a lane that was taken without an event",
      find: "await this.#besides(this.#mend(key, fence));",
      replace: "",
    },
  ],
);

const changedLanes: Mutant[] = [
  ...mutantsOf(
    source("claims"),
    [CHANGED],
    [
      {
        name: "PostgreSQL: a claim leaves lanes that have changed since they were seen",
        find: "WHERE ctid = ready.at OFFSET 0",
        replace: "WHERE key = ready.key OFFSET 0",
      },
    ],
  ),
  ...mutantsOf(
    source("endings"),
    [CHANGED],
    [
      {
        name: "PostgreSQL: a completion leaves lanes that have changed since they were seen",
        find: "WHERE lane.ctid = seen.lane_at",
        replace: "WHERE lane.key = seen.lane",
      },
    ],
  ),
  ...mutantsOf(
    source("endings"),
    [LOCK_ORDER],
    [
      {
        name: "PostgreSQL: a completion locks its lanes in the order of their keys",
        find: "    FOR UPDATE OF lane\n",
        replace: "",
      },
    ],
  ),
];

const endings: Mutant[] = [
  ...mutantsOf(
    source("endings"),
    [CONTRACT, TOGETHER, CHANGED],
    [
      {
        name: "PostgreSQL: the fence of what is done",
        find: "lane.owner = $1 AND lane.fence = sorted.fence AND event.id = sorted.id",
        replace: "lane.owner = $1 AND event.id = sorted.id",
      },
      {
        name: "PostgreSQL: the owner of what is done",
        find: "lane.owner = $1 AND lane.fence = sorted.fence AND event.id = sorted.id",
        replace: "$1::text <> '' AND lane.fence = sorted.fence AND event.id = sorted.id",
      },
      {
        name: "PostgreSQL: going on only with lanes that may",
        find: "WHERE sorted.goes_on AND held.leased",
        replace: "WHERE held.leased",
      },
      {
        name: "PostgreSQL: a lease that has run out is not gone on with",
        find: "WHERE sorted.goes_on AND held.leased",
        replace: "WHERE sorted.goes_on",
      },
      {
        name: "PostgreSQL: a suspect is not gone on with",
        find: "AND head.crashes < $" + "{CRASHES}",
        replace: "AND head.crashes < 99",
      },
      {
        name: "PostgreSQL: the order within a lane that goes on",
        find: "ORDER BY ord, seq LIMIT 1",
        replace: "ORDER BY seq LIMIT 1",
      },
      {
        name: "PostgreSQL: a fence of its own for what a lane goes on with",
        find: "fence = lane.fence + $" + '{is("seen.next_seq IS NOT NULL")},',
        replace: "",
      },
      {
        name: "PostgreSQL: knowing what a lane has gone on with",
        find: "claimed = coalesce(seen.next_seq, lane.claimed)",
        replace: "claimed = lane.claimed",
      },
      {
        name: "PostgreSQL: the counter when an event is done",
        find: "SET pending = lane.pending - 1, done_ord = seen.last_ord",
        replace: "SET pending = lane.pending, done_ord = seen.last_ord",
      },
      {
        name: "PostgreSQL: the counter when an event ends",
        find: "ready_at = CASE WHEN lane.pending > 1 THEN {now} END\n  FROM ended",
        replace:
          "ready_at = CASE WHEN EXISTS (SELECT FROM {schema}.event AS rest WHERE rest.lane = lane.key AND rest.state = 'pending' AND rest.id <> ended.id) THEN {now} END\n  FROM ended",
      },
      {
        name: "PostgreSQL: taking a result once",
        find: "SELECT * FROM ended WHERE error IS NOT NULL",
        replace: "SELECT * FROM held WHERE error IS NOT NULL",
      },
      {
        name: "PostgreSQL: not knowing what came of a round of which a part failed",
        find: "for (const { claim } of endings) this.#held.endAdvance(claim, undefined);\n      throw error;",
        replace: "throw error;",
      },
    ],
  ),
  ...mutantsOf(
    source("sql"),
    [CONTRACT, TOGETHER],
    [
      {
        name: "PostgreSQL: the fence of what ends",
        find: "AND owner = $1 AND fence = sorted.fence FOR UPDATE",
        replace: "AND owner = $1 FOR UPDATE",
      },
      {
        name: "PostgreSQL: the owner of what ends",
        find: "AND owner = $1 AND fence = sorted.fence FOR UPDATE",
        replace: "AND $1::text <> '' AND fence = sorted.fence FOR UPDATE",
      },
    ],
  ),
  ...mutantsOf(
    source("held"),
    [CHANGED, HELD],
    [
      {
        name: "PostgreSQL: doubting what became of a lane that was about to go on",
        find: "if (advance?.held !== true) this.#doubt();",
        replace: "",
      },
      {
        name: "PostgreSQL: knowing with which fence a lane would have gone on",
        find: "else if (mine && advance === undefined) this.#fences.set(lane, fence);",
        replace: "",
      },
      {
        name: "PostgreSQL: leaving a lane alone that is going on",
        find: "if (this.#fences.get(lane) === fence) this.#fences.set(lane, null);",
        replace: "",
      },
      {
        name: "PostgreSQL: no lane goes on while others are given back",
        find: "this.#givingBack = working;",
        replace: "",
      },
      {
        name: "PostgreSQL: giving back again what is taken by a claim that was given up",
        find: "if (now - this.#doubtedAt >= leaseMs) this.#doubtedAt = undefined;",
        replace: "this.#doubtedAt = undefined;",
      },
      {
        name: "PostgreSQL: an end of giving lanes back again",
        find: "if (now - this.#doubtedAt >= leaseMs) this.#doubtedAt = undefined;",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    source("postgres-inbox"),
    [HELD],
    [
      {
        name: "PostgreSQL: forgetting a lane whose lease was not extended",
        find: "for (const claim of claims) if (!held.has(claim)) this.#held.forget(claim);",
        replace: "",
      },
      {
        name: "PostgreSQL: giving back at the end what a claim without an answer has taken",
        find: "await this.#claims.close();",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    source("claims"),
    [HELD],
    [
      {
        name: "PostgreSQL: telling others what is given back at the end",
        find: "SELECT pg_notify($4, $1) FROM (SELECT FROM given LIMIT 1) AS one",
        replace: "SELECT $4::text FROM given",
      },
    ],
  ),
];

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

const decisions: Mutant[] = mutantsOf(
  source("decisions"),
  [DECISIONS],
  [
    {
      name: "PostgreSQL: deciding about no event that is being swept out",
      find: "ORDER BY event.id FOR UPDATE OF event",
      replace: "ORDER BY event.id",
    },
    {
      name: "PostgreSQL: deciding under the lock of a lane that came into being meanwhile",
      find: "if (unlocked.length > 0) return { unlocked: unlocked.map(({ lane }) => lane) };",
      replace: "",
    },
  ],
);

const lanes: Mutant[] = mutantsOf(
  source("lanes"),
  [TOGETHER, CONTRACT],
  [
    {
      name: "PostgreSQL: no history of what had not begun",
      find: "if (error !== undefined) return await",
      replace: "if (delayMs >= 0) return await",
    },
    {
      name: "PostgreSQL: the fence",
      find: '"key = $1 AND owner = $2 AND fence = $3"',
      replace: '"key = $1 AND owner = $2 AND $3::bigint > 0"',
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

const ends: Mutant[] = [
  ...mutantsOf(
    "src/bot.ts",
    [FROZEN],
    [
      {
        name: "PostgreSQL: a bot that stops waits so long for the database, and no longer",
        find: "() => this.#deadline.abort()",
        replace: "() => undefined",
      },
    ],
  ),
  ...mutantsOf(
    source("sockets"),
    [DATABASE],
    [
      {
        name: "PostgreSQL: cutting also what is connected after that",
        find: "if (this.#cut) setImmediate(() => socket.destroy());",
        replace: "",
      },
      {
        name: "PostgreSQL: cutting what waits for a database that is waited for no more",
        find: "for (const socket of this.#open) socket.destroy();",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    source("database"),
    [FROZEN],
    [
      {
        name: "PostgreSQL: ending a connection whose other end does not take it",
        find: "this.#own.get(client)?.destroy()",
        replace: "undefined",
      },
    ],
  ),
  ...mutantsOf(
    source("claims"),
    [HELD],
    [
      {
        name: "PostgreSQL: giving back past a lane that somebody holds locked",
        find: "ORDER BY key FOR UPDATE SKIP LOCKED",
        replace: "ORDER BY key FOR UPDATE",
      },
    ],
  ),
  ...mutantsOf(
    source("decisions"),
    [DECISIONS],
    [
      {
        name: "PostgreSQL: making a missing lane again to decide about its events",
        find: "await this.#database.rows(REMAKE, [outcomes.unlocked]);",
        replace: "",
      },
      {
        name: "PostgreSQL: not deciding for ever",
        find: "tries < TRIES",
        replace: "tries >= 0",
      },
    ],
  ),
  ...mutantsOf(
    source("lanes"),
    [DECISIONS],
    [
      {
        name: "PostgreSQL: healing makes missing lanes again",
        find: "await this.#queries.rows(REMAKE, [null])",
        replace: "[]",
      },
      {
        name: "PostgreSQL: the fences of a lane that is made again",
        find: "max(event.fence) + 1",
        replace: "0",
      },
    ],
  ),
];

const sessions: Mutant[] = [
  ...mutantsOf(
    "src/dispatcher/dispatcher.ts",
    [WAKE_UPS],
    [
      {
        name: "PostgreSQL: an inbox knows when a bot stops",
        find: "this.#options.inbox.stopClaiming();",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    source("postgres-inbox"),
    [WAKE_UPS],
    [
      {
        name: "PostgreSQL: telling others of what a bot has let go that stops",
        find: "    // What it has let go before, it would have claimed again.\n    this.#handOver();",
        replace: "",
      },
      {
        name: "PostgreSQL: telling others of what a bot puts off that stops",
        find: "if (held) this.#handOver();",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    source("endings"),
    [WAKE_UPS],
    [
      {
        name: "PostgreSQL: telling others of lanes whose events end while a bot stops",
        find: "if (written.some(({ held, next }) => held && next === undefined)) this.#onLetGo();",
        replace: "",
      },
    ],
  ),
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
      {
        name: "PostgreSQL: waiting at the end for a connection that is just being made",
        find: "await this.#loop;",
        replace: "if (this.#listening) await this.#loop;",
      },
      {
        name: "PostgreSQL: no sign of presence of a process that closes",
        find: "signal.throwIfAborted();\n    await client.query(PRESENT",
        replace: "await client.query(PRESENT",
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
        find: "this.#database.rows(GIVE_BACK, [this.#owner, lanes, fences]),",
        replace: "Promise.resolve([lanes, fences]),",
      },
    ],
  ),
  ...mutantsOf(
    source("database"),
    [DATABASE],
    [
      {
        name: "PostgreSQL: trying again what was ended because two waited for each other",
        find: "if (tries === TRIES || !hasCode(error, DEADLOCK)) throw error;",
        replace: "throw error;",
      },
      {
        name: "PostgreSQL: trying a transaction again that was ended so",
        find: "undisturbed(() => this.#inTransaction(connection, work)),",
        replace: "this.#inTransaction(connection, work),",
      },
    ],
  ),
  ...mutantsOf(
    source("database"),
    [DATABASE],
    [
      {
        name: "PostgreSQL: a limit on the last statement of a bot",
        find: "this.client({ connectionTimeoutMillis: ms, query_timeout: ms });",
        replace: "this.client({ connectionTimeoutMillis: ms });",
      },
      {
        name: "PostgreSQL: a limit on the last connection of a bot",
        find: "this.client({ connectionTimeoutMillis: ms, query_timeout: ms });",
        replace: "this.client({ query_timeout: ms });",
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
  ...changedLanes,
  ...endings,
  ...suspects,
  ...decisions,
  ...lanes,
  ...steps,
  ...sessions,
  ...ends,
  ...opening,
];
