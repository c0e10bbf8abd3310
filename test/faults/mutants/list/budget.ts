import { type Mutant, mutantsOf } from "../mutant.ts";

const UNIT = ["test/client/budget.test.ts"];
const WINDOW = ["test/client/budget-window.test.ts"];
const CLIENT = ["test/client/budget-client.test.ts"];
const BOT = ["test/budget.test.ts"];

/** No minute has more requests than the budget, and polling gives way first. */
export const budgetMutants: readonly Mutant[] = [
  ...mutantsOf("src/client/places.ts", WINDOW, [
    {
      name: "the budget: a place is held after the end of its request",
      find: "(at) => now - at < WINDOW_MS",
      replace: "(at) => now - at < WINDOW_MS / 2",
    },
    {
      name: "the budget: from the end of a request, not from its sending",
      find: "    this.#ended.push(this.#clock.now());",
      replace: "    if (this.#underWay < 0) this.#ended.push(this.#clock.now());",
    },
    {
      name: "the budget: requests under way hold places",
      find: "this.#total - this.#underWay - this.#ended.length",
      replace: "this.#total - this.#ended.length",
    },
  ]),
  ...mutantsOf("src/client/places.ts", UNIT, [
    {
      name: "the budget: a place is held for a whole minute",
      find: "(at) => now - at < WINDOW_MS",
      replace: "(at) => now - at < WINDOW_MS - 1",
    },
    {
      name: "the budget: a clock that is set back holds no place for longer",
      find: "(this.#ended[i] ?? 0) > now; i--",
      replace: "false; i--",
    },
    {
      name: "the budget: what was not sent costs no place",
      find: "giveBack: () => {\n        this.#underWay -= 1;",
      replace:
        "giveBack: () => {\n        this.#underWay -= 1;\n        this.#ended.push(this.#clock.now());",
    },
  ]),
  ...mutantsOf("src/client/waiting.ts", UNIT, [
    {
      name: "the budget: handlers before audit before polling",
      find: 'const kinds = ["write", "read", "audit", "poll"]',
      replace: 'const kinds = ["poll", "audit", "read", "write"]',
    },
    {
      name: "the budget: the log goes first after a minute",
      find: "find((waiter) => this.#patienceMs(waiter) <= 0)",
      replace: "find(() => false)",
    },
  ]),
  ...mutantsOf("src/client/budget.ts", UNIT, [
    {
      name: "the budget: polling leaves a quarter",
      find: 'if (kind === "poll") return reserve;',
      replace: 'if (kind === "poll") return 0;',
    },
    {
      name: "the budget: the audit leaves a quarter while handlers are put off",
      find: "return tight ? reserve : 0;",
      replace: "return 0;",
    },
    {
      name: "the budget: a read leaves a place for its write while handlers are put off",
      find: 'return kind === "read" && tight ? Math.min(1, reserve) : 0;',
      replace: "return 0;",
    },
    {
      name: "the budget: a handler's request does not wait in vain",
      find: "if (ofHandler && soonestMs > HANDLER_WAIT_MS) return reject(this.#spent(kind));",
      replace: "",
    },
    {
      name: "the budget: the wait of a handler's request ends",
      find: "ofHandler ? clock.timer(HANDLER_WAIT_MS, giveUp) : () => undefined",
      replace: "() => giveUp.name",
    },
    {
      name: "the budget: an aborted request takes no place",
      find: 'signal?.addEventListener("abort", abort, { once: true });',
      replace: "",
    },
    {
      name: "the budget: waiting is told once a minute",
      find: "if (Math.abs(now - this.#reportedAt) < REPORT_MS) return;",
      replace: "",
    },
  ]),
  ...mutantsOf("src/client/turns.ts", UNIT, [
    {
      name: "the budget: those who are put off come back in turn",
      find: "Math.ceil(this.#lastInMs() + this.#apartMs())",
      replace: "0",
    },
  ]),
  ...mutantsOf("src/client/gate.ts", CLIENT, [
    {
      name: "the budget: what the breaker keeps back does not wait for a place",
      find: "    this.#breaker.check(operation);\n",
      replace: "",
    },
    {
      name: "the budget: what the breaker keeps back after the wait costs no place",
      find: "    } catch (error) {\n      place.giveBack();",
      replace: "    } catch (error) {",
    },
    {
      name: "the budget: what never reached the platform costs no place",
      find: "if (error instanceof NetworkError && !error.sent) place.giveBack();\n      else place.end();",
      replace: "place.end();",
    },
  ]),
  ...mutantsOf(
    "src/router/writes.ts",
    ["test/router/context.test.ts"],
    [
      {
        name: "the budget: the wait is part of the time in which a write may be under way",
        find: "client.longestCallMs + SETTLE_MS",
        replace: "client.timeoutMs + SETTLE_MS",
      },
    ],
  ),
  ...mutantsOf(
    "src/poller/poller.ts",
    ["test/poller/purpose.test.ts"],
    [
      {
        name: "the budget: polling says that it is polling",
        find: '(this.mode === "polling" ? "poll" : "audit")',
        replace: '"audit"',
      },
    ],
  ),
  ...mutantsOf("src/client/budget.ts", BOT, [
    {
      name: "the budget: an event without a place is put off without counting (on a platform)",
      find: "return new NetworkError(",
      replace: "return new (Object.getPrototypeOf(NetworkError))(",
    },
    {
      name: "the budget: polling leaves a quarter (on a platform)",
      find: 'if (kind === "poll") return reserve;',
      replace: 'if (kind === "poll") return 0;',
    },
  ]),
  ...mutantsOf("src/bot/make-client.ts", BOT, [
    {
      name: "the budget: it is the bot's",
      find: "maxRequestsPerMinute: config.maxRequestsPerMinute,\n",
      replace: "",
    },
  ]),
];
