import { type Mutant, mutantsOf } from "../mutant.ts";

const METRICS = ["test/metrics/metrics.test.ts"];
const STORE = ["test/metrics/store.test.ts"];
const SERVER = ["test/metrics/server.test.ts"];

/** What is told of a bot is so, and harms nobody. */
export const metricsMutants: readonly Mutant[] = [
  ...mutantsOf("src/metrics/types.ts", METRICS, [
    {
      name: "metrics: whoever sends events makes up no labels",
      find: "isEventType(type) ? type : UNKNOWN",
      replace: "type",
    },
  ]),
  ...mutantsOf(
    "src/client/operation.ts",
    ["test/client/operation.test.ts"],
    [
      {
        name: "metrics: no id is a label",
        find: "{templateOf(path)}",
        replace: "{path}",
      },
    ],
  ),
  ...mutantsOf("src/metrics/calls.ts", METRICS, [
    {
      name: "metrics: who has blocked the bot does not refuse its token",
      find: '(code === "AGENT_SCOPE_MISSING" || code === "API_ERROR")',
      replace: "true",
    },
  ]),
  ...mutantsOf("src/metrics/looks.ts", STORE, [
    {
      name: "metrics: a store that does not answer holds nothing up",
      find: "Promise.race([this.#asking, late])",
      replace: "this.#asking",
    },
  ]),
  ...mutantsOf("src/metrics/meter.ts", STORE, [
    {
      name: "metrics: what cannot be counted harms nobody",
      find: "    } catch {\n      // Whoever",
      replace: "    } catch (error) {\n      throw error;\n      // Whoever",
    },
  ]),
  ...mutantsOf("src/metrics/server.ts", SERVER, [
    {
      name: "metrics: no web page reads them through a browser",
      find: "isForHere ? hostCheck([]) : () => true",
      replace: "() => true",
    },
  ]),
  ...mutantsOf(
    "src/dispatcher/settlement.ts",
    ["test/metrics/leases.test.ts"],
    [
      {
        name: "metrics: a lost lease is told",
        find: "if (!held) this.#observer.leaseLost",
        replace: "if (claim.fence < 0) this.#observer.leaseLost",
      },
    ],
  ),
];
