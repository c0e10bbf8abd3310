import { type Mutant, mutantsOf } from "../mutant.ts";

const SHARED = "test/inbox/postgres/shared.postgres.test.ts";
const CHURN = "test/inbox/postgres/leader-churn.postgres.test.ts";
const BOTS = "test/instances/bots.postgres.test.ts";
const BREAKERS = "test/instances/shared-breakers.postgres.test.ts";
const PLACES = "test/instances/shared-places.postgres.test.ts";
const LEADERSHIP = "test/poller/leadership.test.ts";
const UNUSABLE = "test/instances/unusable.postgres.test.ts";
const SERVING = "test/inbox/postgres/serving.postgres.test.ts";

const store = (name: string) => `src/inbox/postgres/shared/${name}.ts`;

/** What several instances on one database do together. */
export const instanceMutants: readonly Mutant[] = [
  ...mutantsOf(
    store("leases"),
    [SHARED, CHURN],
    [
      {
        name: "instances: a lease is taken once it has run out",
        find: "THEN at.expires_at <= {now} OR at.holder = $2",
        replace: "THEN true",
      },
      {
        name: "instances: a new term for each leader",
        find: "CASE WHEN $4::bigint IS NULL THEN 1 ELSE 0 END",
        replace: "0",
      },
      {
        name: "instances: renewing one's own term alone",
        find: "ELSE at.holder = $2 AND at.term = $4::bigint END",
        replace: "ELSE at.holder = $2 END",
      },
    ],
  ),
  ...mutantsOf(
    store("notes"),
    [SHARED],
    [
      {
        name: "instances: the fence of notes",
        find: "WHERE name = $1 AND term = $2 FOR SHARE",
        replace: "WHERE name = $1 AND $2::bigint > 0 FOR SHARE",
      },
    ],
  ),
  ...mutantsOf(
    store("circuits"),
    [SHARED, BREAKERS],
    [
      {
        name: "instances: one trial at a time",
        find: "AND coalesce(trial_until, 0) <= {now}",
        replace: "",
      },
      {
        name: "instances: closing what nobody has opened anew",
        find: "WHERE name = $1 AND version = $2 AND opened > 0",
        replace: "WHERE name = $1 AND $2::bigint > 0 AND opened > 0",
      },
    ],
  ),
  ...mutantsOf(
    store("budget"),
    [SHARED, PLACES],
    [
      {
        name: "instances: a place has one holder",
        find: "  FOR UPDATE SKIP LOCKED\n",
        replace: "",
      },
      {
        name: "instances: settling one's own places alone",
        find: "AND place.grip = input.grip",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/instances/shared-places.ts",
    [PLACES],
    [
      {
        name: "instances: a minute after the end of a request",
        find: "this.#settle(taken, clock.now() + WINDOW_MS)",
        replace: "this.#settle(taken, clock.now())",
      },
    ],
  ),
  ...mutantsOf(
    "src/instances/shared-breakers.ts",
    [BREAKERS],
    [
      {
        name: "instances: breakers that open together",
        find: "this.#learn(circuit.name, circuit);",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/poller/leadership.ts",
    [LEADERSHIP],
    [
      {
        name: "instances: no trust after a lease without an answer",
        find: "let distrust = clock.timer(asked + this.#leaseMs - clock.now(), term.end);",
        replace: "let distrust = (): void => undefined;",
      },
    ],
  ),
  ...mutantsOf(
    "src/instances/membership.ts",
    [UNUSABLE],
    [
      {
        name: "instances: looking whether the inbox may still be used",
        find: "await shared.requireUsable();\n",
        replace: "",
      },
      {
        name: "instances: looking whether the inbox may be used where no sign of life can be given",
        find: "    } finally {\n",
        replace: "    } catch (err) {\n      throw err;\n    }\n    {\n",
      },
      {
        name: "instances: no start before it is known that the inbox may be used",
        find: "    await this.#beat();\n    const { clock }",
        replace: "    await this.#beat().catch(() => undefined);\n    const { clock }",
      },
      {
        name: "instances: stopping where the inbox may not be used any more",
        find: "if (!this.#unusable) onUnusable(err);",
        replace: "",
      },
      {
        name: "instances: telling once that the inbox may not be used any more",
        find: "this.#unusable = true;",
        replace: "",
      },
      {
        name: "instances: signs of life until the bot has stopped",
        find: "this.#unusable = true;",
        replace: "this.#unusable = true;\n      this.#stopping.abort();",
      },
    ],
  ),
  ...mutantsOf(
    "src/bot.ts",
    [UNUSABLE],
    [
      {
        name: "instances: acknowledging nothing once the inbox may not be used",
        find: "receiver.close();",
        replace: "",
      },
      {
        name: "instances: aborting what runs where the inbox was copied",
        find: 'if (error.code !== "INBOX_TOO_NEW") dispatcher.abandon();',
        replace: "",
      },
      {
        name: "instances: ending what has begun where a newer version has come",
        find: 'if (error.code !== "INBOX_TOO_NEW") dispatcher.abandon();',
        replace: "dispatcher.abandon();",
      },
    ],
  ),
  ...mutantsOf(
    "src/receiver/receiver.ts",
    ["test/receiver/answers.test.ts"],
    [
      {
        name: "instances: storing nothing once the inbox may not be used",
        find: "      this.#requireOpen();\n      const result =",
        replace: "      const result =",
      },
      {
        name: "instances: not acknowledging what was being stored then",
        find: "      this.#requireOpen();\n      this.#lastDeliveryAt",
        replace: "      this.#lastDeliveryAt",
      },
    ],
  ),
  ...mutantsOf(
    "src/dispatcher/dispatcher.ts",
    ["test/dispatcher/dispatcher.test.ts"],
    [
      {
        name: "instances: aborting what runs when the events are somebody else's",
        find: "for (const { abort, claim } of this.#running) abort.abort(leaseLost(claim));",
        replace: "",
      },
      {
        name: "instances: claiming nothing when the events are somebody else's",
        find: "    this.#abandoned = true;\n    this.stopClaiming();",
        replace: "    this.#abandoned = true;",
      },
      {
        name: "instances: not running what is claimed then",
        find: "abort: this.#abortFor(claim),",
        replace: "abort: new Abort(),",
      },
      {
        name: "instances: not running what a lane goes on with then",
        find: "run.abort = this.#abortFor(next);",
        replace: "run.abort = new Abort();",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/postgres/copy-mark.ts",
    [SERVING],
    [
      {
        name: "copying an inbox: the constraint on what was copied",
        find: 'if (role === "target") return;',
        replace: "if (role !== undefined) return;",
      },
      {
        name: "copying an inbox: no new events in what was copied",
        find: 'const FENCED = ["event", "lane"];',
        replace: 'const FENCED = ["lane"];',
      },
      {
        name: "copying an inbox: no claims of what was copied",
        find: 'const FENCED = ["event", "lane"];',
        replace: 'const FENCED = ["event"];',
      },
      {
        name: "copying an inbox: taking the constraint back",
        find: "  for (const table of FENCED) {\n    await queries.rows(",
        replace: "  for (const table of FENCED.slice(2)) {\n    await queries.rows(",
      },
      {
        name: "copying an inbox: a mark that every role can read",
        find: "TO PUBLIC",
        replace: "TO CURRENT_USER",
      },
    ],
  ),
  ...mutantsOf(
    store("instances"),
    [SERVING],
    [
      {
        name: "instances: forgetting a bot without a sign of life",
        find: "seen_at > {now} - ",
        replace: "seen_at > {now} - 100 * ",
      },
      {
        name: "instances: no signs of life from before the clock was set back",
        find: " AND seen_at <= {now} + ",
        replace: " AND seen_at <= {now} + 86400000 + ",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/postgres/postgres-inbox.ts",
    [UNUSABLE],
    [
      {
        name: "instances: leaving what a newer version has changed",
        find: "refuseTooNew(await storedSchema(database));",
        replace: "",
      },
      {
        name: "instances: leaving what was copied",
        find: "  await refuseMarked(database, url);",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/bot.ts",
    ["test/e2e/rolling.postgres.test.ts"],
    [
      {
        name: "instances: ending the process that is too old for its inbox",
        find: "if (standalone) void stopped.then(() => exitWith(error));",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/bot.ts",
    ["test/e2e/postgres.postgres.test.ts"],
    [
      {
        name: "instances: a bot that stops to its end",
        find: "untilEnded(this.#stop())",
        replace: "this.#stop()",
      },
    ],
  ),
  ...mutantsOf(
    "src/inbox/postgres/attach.ts",
    [SERVING],
    [
      {
        name: "instances: knowing a bot by its sign of life",
        find: "SELECT greatest((",
        replace: "SELECT least((",
      },
    ],
  ),
  ...mutantsOf(
    "src/poller/peers.ts",
    [BOTS],
    [
      {
        name: "instances: hearing the deliveries of the others",
        find: "hint(shared.deliveries.read(), [], (err) =>",
        replace: "hint(Promise.resolve([] as Delivery[]), [], (err) =>",
      },
    ],
  ),
];
