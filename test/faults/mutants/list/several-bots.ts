import { type Mutant, mutantsOf } from "../mutant.ts";

const source = (name: string) => `src/inbox/postgres/${name}.ts`;
const faults = (name: string) => [`test/faults/postgres-${name}.test.ts`];

/** What only bots show that run: they are killed, stand still, and lose their database. */
const postgres: Mutant[] = [
  ...mutantsOf(source("sql"), faults("freezes"), [
    {
      name: "several bots: the fence and the owner of what ends",
      find: "WHERE key = sorted.lane AND owner = $1 AND fence = sorted.fence FOR UPDATE",
      replace: "WHERE key = sorted.lane AND $1::text IS NOT NULL FOR UPDATE",
    },
  ]),
  ...mutantsOf(source("steps"), faults("kills"), [
    {
      name: "several bots: the intent",
      find: `INSERT INTO {schema}.step (event_id, name, state, request, fence, started_at)
  SELECT $4::text, $5::text, 'open', $6::text, $3::bigint, {now} FROM held
  ON CONFLICT (event_id, name) DO NOTHING RETURNING name`,
      replace: "SELECT $5::text AS name, $6::text FROM held",
    },
  ]),
  ...mutantsOf(source("database"), faults("half-open"), [
    {
      name: "several bots: a limit on the time of an answer",
      find: "query_timeout: timeoutMs",
      replace: "query_timeout: 0",
    },
  ]),
  ...mutantsOf(source("database"), faults("clocks"), [
    {
      name: "several bots: the database's clock",
      find: `const time = now === undefined ? NOW : \`\${now()}::bigint\`;
    const made = text.replaceAll("{schema}", \`"\${schema}"\`).replaceAll("{now}", time);
    if (now === undefined) this.#texts.set(text, made);`,
      replace: `const time = \`\${now === undefined ? Date.now() : now()}::bigint\`;
    const made = text.replaceAll("{schema}", \`"\${schema}"\`).replaceAll("{now}", time);`,
    },
  ]),
  ...mutantsOf(
    source("database"),
    ["test/inbox/postgres/wake-ups.postgres.test.ts"],
    [
      {
        name: "several bots: listening for what a connection says before it is used",
        find: 'this.#pool.on("connect", (connection) => connection.on("error", () => undefined));',
        replace: "",
      },
    ],
  ),
  ...mutantsOf(source("postgres-inbox"), faults("restarts"), [
    {
      name: "several bots: answering after the commit, not before",
      find: "await this.#backlog.watch(this.#batches.put(events, source, cursors, trace));",
      replace: `{ stored: [], duplicates: 0, unusable: 0 } as PutResult;
    void this.#batches.put(events, source, cursors, trace).catch(() => undefined);`,
    },
  ]),
];

const leaders: Mutant[] = [
  ...mutantsOf(source("shared/leases"), faults("leaders"), [
    {
      name: "several bots: leaving a lease that has not run out",
      find: "THEN at.expires_at <= {now} OR at.holder = $2",
      replace: "THEN true",
    },
  ]),
  ...mutantsOf(source("batches"), faults("leaders"), [
    {
      name: "several bots: the term of a move of the cursor",
      find: "WHERE leader.name = moves.name AND leader.term = moves.term FOR SHARE",
      replace: "WHERE leader.name = moves.name FOR SHARE",
    },
  ]),
  ...mutantsOf("src/poller/leadership.ts", faults("leaders"), [
    {
      name: "several bots: a leader that distrusts itself",
      find: "let distrust = clock.timer(asked + this.#leaseMs - clock.now(), term.end);",
      replace: "let distrust = () => {};",
    },
  ]),
];

const steps: Mutant[] = mutantsOf(
  "src/dispatcher/steps.ts",
  ["test/dispatcher/stale-intent.test.ts"],
  [
    {
      name: "recording an intent anew after standing still",
      find: "n < MOST_RENEWALS && clock.now() - since > FRESH_MS",
      replace: "n < 0 && clock.now() - since > FRESH_MS",
    },
  ],
);

export const severalBotsMutants: readonly Mutant[] = [...postgres, ...leaders, ...steps];
