import { type Mutant, mutantsOf } from "../mutant.ts";

const TESTS = ["limits", "healing", "turns", "dispatcher", "permanent-failures"].map(
  (name) => `test/dispatcher/${name}.test.ts`,
);

/** Leases kept alive, time limits, attempts, outages, and stopping. */
export const dispatcherMutants: readonly Mutant[] = [
  ...mutantsOf("src/dispatcher/dispatcher.ts", TESTS, [
    {
      name: "stopping: the time of handlers counts from when the bot is told to stop",
      find: "graceMs, grace.signal);\n    await this.#loop;",
      replace: "graceMs, (await this.#loop, grace.signal));",
    },
  ]),
  ...mutantsOf(
    "src/dispatcher/type-places.ts",
    ["test/dispatcher/type-places.test.ts"],
    [
      {
        name: "places that one type leaves to others",
        find: "return Math.min(others, ...byType.values()) < free ? { byType, others } : undefined;",
        replace: "return free < 0 ? { byType, others } : undefined;",
      },
      {
        name: "a type has no more places than its own",
        find: "if (taken >= this.limitOf(type)) return false;",
        replace: "",
      },
    ],
  ),
  ...mutantsOf("src/dispatcher/settlement.ts", TESTS, [
    {
      name: "stopping: no patience once the time for the store is over",
      find: "signal: deadline,",
      replace: "",
    },
  ]),
  ...mutantsOf(
    "src/core/in-stages.ts",
    ["test/core/in-stages.test.ts", "test/bot-end.test.ts"],
    [
      {
        name: "stopping: what fails leaves out nothing else",
        find: "const results = await Promise.allSettled(",
        replace: "const results: PromiseSettledResult<unknown>[] = []; await Promise.all(",
      },
    ],
  ),
  ...mutantsOf("src/dispatcher/dispatcher.ts", TESTS, [
    {
      name: "no claim after one that got less than it asked for",
      find: "if (started === 0 || started < free) await",
      replace: "if (started === 0) await",
    },
    {
      name: "the heartbeat",
      find: "every(this.#leaseMs / 3, () => this.#heartbeat(), this.#options, signal),",
      replace: "",
    },
    {
      name: "aborting what has lost its lease",
      find: "if (!held.has(claim) && run.claim === claim) run",
      replace: "if (claims.length === 0) run",
    },
    {
      name: "waking up after healing",
      find: "keepUp(this.#options, () => this.#wake.call(), signal)",
      replace: "keepUp(this.#options, () => undefined, signal)",
    },
    {
      name: "one run of a lane at a time, also after a standstill",
      find: "const older = this.#lanes.get(claim.lane);",
      replace: "const older = undefined as LaneRun | undefined;",
    },
    {
      name: "a run waits for the end of the one before it in its lane",
      find: "await older;",
      replace: "",
    },
    {
      name: "a lane goes on by itself",
      find: "const alone = this.#running.size < concurrency &&",
      replace:
        "if (clock.now() > 0) return false;\n    const alone = this.#running.size < concurrency &&",
    },
    {
      name: "a lane that goes on lets others have its place",
      find: "this.#leaseMs / 3 : TURN_MS",
      replace: "this.#leaseMs / 3 : this.#leaseMs / 3",
    },
    {
      name: "a lane goes on for a third of its lease at most",
      find: "this.#leaseMs / 3 : TURN_MS",
      replace: "this.#leaseMs * 3 : TURN_MS",
    },
    {
      name: "what a lane has gone on with when the bot stops is handed back",
      find: "if (this.#draining.signal.aborted) run.abort.abort(stopping);",
      replace: "",
    },
    {
      name: "what had not begun when the bot stops has no history of that",
      find: 'if (abort.reason === stopping) return { kind: "unbegun" };',
      replace: "",
    },
    {
      name: "a lane that was handed out anew while it went on",
      find: "if (this.#lanes.get(next.lane) !== run) run.abort.abort(leaseLost(next));",
      replace: "",
    },
    {
      name: "a signal of its own for what a lane goes on with",
      find: "run.abort = this.#abortFor(next);",
      replace: "",
    },
    {
      name: "a sign of life of the event before says nothing about this one",
      find: "if (!held.has(claim) && run.claim === claim) run",
      replace: "if (!held.has(claim)) run",
    },
    {
      name: "asking before each try whether the lane may go on",
      find: "ms, () => this.#mayGoOn(run));",
      replace: "ms, this.#mayGoOn(run) ? () => true : () => false);",
    },
    {
      name: "options of a type",
      find: "this.#options.handler.optionsFor?.(claim.type) ?? {}",
      replace: "({} as { timeoutMs?: number })",
    },
    {
      name: "the limit of lanes at once",
      find: "this.#options.concurrency - this.#running.size;",
      replace: "this.#options.concurrency;",
    },
    {
      name: "a handler that killed the process every time is not run again",
      find: "if (claim.attempt > maxAttempts)",
      replace: "if (claim.attempt < 0)",
    },
    {
      name: "time for running handlers when the bot stops",
      find: "await Promise.race([finished, over]);",
      replace: "",
    },
    {
      name: "nothing new is begun when the bot stops",
      find: "    this.stopClaiming();\n    const grace",
      replace: "    const grace",
    },
  ]),
  ...mutantsOf("src/dispatcher/abort.ts", TESTS, [
    {
      name: "a signal that is asked for after it was aborted",
      find: "if (this.#over !== undefined) this.#controller.abort(this.#over.reason);",
      replace: "",
    },
  ]),
  ...mutantsOf("src/dispatcher/run.ts", TESTS, [
    {
      name: "the handler timeout",
      find: "clock.timer(handlerTimeoutMs, () => abort.abort(timeout(handlerTimeoutMs)));",
      replace: "() => undefined;",
    },
    {
      name: "a timeout counts as failed, also when the handler then ends well",
      find: "if (finished && reason === stopping) return;",
      replace: "if (finished) return;",
    },
    {
      name: "what is done when the bot stops is done",
      find: "if (finished && reason === stopping) return;",
      replace: "",
    },
  ]),
  ...mutantsOf("src/dispatcher/verdict.ts", TESTS, [
    {
      name: "a run that lost its lease writes nothing",
      find: 'if (codeOf(error) === "LEASE_LOST") return { kind: "lost" };',
      replace: "",
    },
    {
      name: "outages do not count as attempts",
      find: "if (outage !== undefined) {",
      replace: "if (outage !== undefined && attempt < 0) {",
    },
    {
      name: "the dead letter after the last attempt",
      find: "if (attempt >= policy.maxAttempts) return",
      replace: "if (attempt < 0) return",
    },
    {
      name: "the wait before the next attempt",
      find: "later?.delayMs ?? backoff(policy.backoff, attempt, policy.random)",
      replace: "later?.delayMs ?? 0",
    },
    {
      name: "RetryLater",
      find: "later?.delayMs ?? backoff",
      replace: "backoff",
    },
    {
      name: "RetryLater that does not count",
      find: "if (later?.counts === false) return",
      replace: "if (false as boolean) return",
    },
    {
      name: "GiveUp",
      find: "if (findCause(error, (at) => at instanceof GiveUp)) return",
      replace: "if (false as boolean) return",
    },
    {
      name: "an error that no further run mends ends its event at once",
      find: "if (later === undefined && isPermanent(error)) return",
      replace: "if (later === undefined && attempt < 0) return",
    },
    {
      name: "a full disk does not count as an attempt",
      find: "if (findCause(error, isStoreAway) !== undefined) {",
      replace: "if (error === isStoreAway) {",
    },
    {
      name: "Retry-After",
      find: "(outage.retryAfterMs ?? 0)",
      replace: "0",
    },
    {
      name: "an uncertain step parks its event",
      find: 'if (findCause(error, isUncertain) !== undefined) return { kind: "dead", error };',
      replace: "",
    },
  ]),
  ...mutantsOf(
    "src/dispatcher/upkeep.ts",
    [...TESTS, "test/dispatcher/upkeep.test.ts"],
    [
      {
        name: "the dispatcher heals idle lanes",
        find: "const lanes = await inbox.heal();",
        replace: "const lanes = inbox.heal === undefined ? 1 : 0;",
      },
      {
        name: "the dispatcher sweeps out what is old",
        find: "(await inbox.sweep(retention))",
        replace: "retention === undefined",
      },
    ],
  ),
  ...mutantsOf("src/dispatcher/run.ts", TESTS, [
    {
      name: "telling the handlers that a run is over",
      find: "options.handler.over?.(job);",
      replace: "",
    },
    {
      name: "an observer that never ends is not waited for",
      find: "if (!(await inTime(told, OBSERVER_MS, options.clock))) {",
      replace: "if (!(await told)) {",
    },
  ]),
  ...mutantsOf(
    "src/client/circuit.ts",
    ["test/client/breaker.test.ts"],
    [
      {
        name: "the circuit breaker opens",
        find: "this.#open(0);",
        replace: "",
      },
      {
        name: "one request at a time tries an open circuit",
        find: "if (!this.closed) this.#trial = pass;",
        replace: "",
      },
      {
        name: "the circuit breaker waits longer each time",
        find: "Math.max(waitMs, this.#options.cooldown(this.#opened))",
        replace: "Math.max(waitMs, this.#options.cooldown(1))",
      },
      {
        name: "a success closes the circuit",
        find: "this.#opened = 0;\n    this.#asked = false;",
        replace: "this.#asked = false;",
      },
      {
        name: "a circuit that was asked to wait is closed by a trial alone",
        find: "if (this.#asked && !this.isTrial(pass)) return;",
        replace: "",
      },
      {
        name: "a circuit that was opened by counting is closed by any success",
        find: "if (this.#asked && !this.isTrial(pass)) return;",
        replace: "if (!this.closed && !this.isTrial(pass)) return;",
      },
      {
        name: "the longer of two waits holds an open circuit",
        find: "else if (waitMs > this.#leftMs()) this.#extend(waitMs);",
        replace: "",
      },
      {
        name: "a trial from before the wait does not close the circuit",
        find: "else if (waitMs > this.#leftMs()) this.#extend(waitMs);",
        replace:
          "else if (waitMs > this.#leftMs()) {\n      const trial = this.#trial;\n      this.#extend(waitMs);\n      this.#trial = trial;\n    }",
      },
      {
        name: "a clock that is set back does not hold a circuit open",
        find: "this.#openUntil = Math.min(this.#openUntil, now + this.#openForMs);",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/client/breaker.ts",
    ["test/client/breaker.test.ts", "test/dispatcher/partial-outage.test.ts"],
    [
      {
        name: "each operation has a circuit of its own",
        find: "if (this.#platform.closed || own.isTrial(passes.outages)) own.failed(passes.outages);",
        replace: "",
      },
      {
        name: "an outage of the platform opens no circuit of an operation",
        find: "if (this.#platform.closed || own.isTrial(passes.outages)) own",
        replace: "own",
      },
      {
        name: "the circuit of an operation waits longer each time",
        find: "if (this.#platform.closed || own.isTrial(passes.outages)) own.failed(passes.outages);",
        replace:
          "if (own.isTrial(passes.outages)) own.left(passes.outages);\n    else if (this.#platform.closed) own.failed(passes.outages);",
      },
      {
        name: "a quota opens its circuit at once",
        find: 'if (kind === "quota") quota.refused(passes.quota, waitMs);\n    else quota',
        replace: "quota",
      },
    ],
  ),
  ...mutantsOf(
    "src/client/token-circuit.ts",
    ["test/token-refused.test.ts"],
    [
      {
        name: "a token that is refused holds all requests back",
        find: "this.#circuit.refused(pass, 0);",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/client/errors.ts",
    ["test/token-refused.test.ts"],
    [
      {
        name: "a token that is refused burns no attempts",
        find: "(at.refusesToken || outageStatuses.has(at.status))",
        replace: "outageStatuses.has(at.status)",
      },
    ],
  ),
  ...mutantsOf("src/dispatcher/persist.ts", TESTS, [
    {
      name: "writing an outcome again when the store was away",
      find: "if (attempt >= patience.tries()) throw error;",
      replace: "throw error;",
    },
  ]),
  ...mutantsOf(
    "src/bot.ts",
    ["test/bot.test.ts"],
    [
      {
        name: "/readyz turns 503 first when the bot stops",
        find: "this.#ready = false;\n    if (this.#parts === undefined) return;",
        replace: "if (this.#parts === undefined) return;",
      },
      {
        name: "the warning of handlers that have less time than a request",
        find: "warnOfTimeouts(this.#options, this.#router, config, parts.log);",
        replace: "",
      },
    ],
  ),
  ...mutantsOf(
    "src/core/process.ts",
    ["test/core/process.test.ts"],
    [
      {
        name: "a second signal ends the process at once",
        find: "process.exit(1);\n      return;",
        replace: "return;",
      },
      {
        name: "a stop that keeps the process alive until it is over",
        find: "const timer = setInterval(() => undefined, LONGEST_TIMER_MS);",
        replace: "const timer = setInterval(() => undefined, LONGEST_TIMER_MS).unref();",
      },
    ],
  ),
];
