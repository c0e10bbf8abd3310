import { type Mutant, mutantsOf } from "../mutant.ts";

const STEPS = [
  "test/dispatcher/steps.test.ts",
  "test/dispatcher/step-doubt.test.ts",
  "test/dispatcher/places.test.ts",
];
const REPLIES = ["test/router/find-reply.test.ts"];
const WRITES = ["test/router/context.test.ts"];

/** A retried handler does not speak twice. */
export const stepMutants: readonly Mutant[] = [
  ...mutantsOf(
    "src/dispatcher/steps.ts",
    ["test/different-reply.test.ts"],
    [
      {
        name: "the warning of a reply that differs",
        find: "if (step.differs?.(recorded) !== true) return;",
        replace: "if (step.name !== recorded) return;",
      },
    ],
  ),
  ...mutantsOf(
    "src/dispatcher/step-records.ts",
    ["test/dispatcher/step-results.test.ts"],
    [
      {
        name: "a result that JSON cannot keep is refused",
        find: "if (copy.ok) return JSON.stringify({ value: copy.value });",
        replace: "if (copy !== undefined) return JSON.stringify({ value: result });",
      },
    ],
  ),
  ...mutantsOf("src/dispatcher/steps.ts", STEPS, [
    {
      name: "the intent before the effect",
      find: "const start = await this.#records.begin(step.name, request);",
      replace: 'const start = { state: "new" };',
    },
    {
      name: "giving the recorded result",
      find: "if (begun.ageMs < validForMs) {",
      replace: "if (validForMs < 0) {",
    },
    {
      name: "recording the result",
      find: "return { ...effect, result: await this.#records.finish(step.name, effect) };",
      replace: "return effect;",
    },
    {
      name: "looking anew for what another process has adopted",
      find: "(await this.#records.adopt(step.name, found))",
      replace: "(await this.#records.adopt(step.name, found)) || true",
    },
    {
      name: "looking for the effect after a crash",
      find: "const found = await this.#lookFor(step, begun, past);",
      replace: "const found = await Promise.resolve(undefined);",
    },
    {
      name: "waiting until the call cannot be under way",
      find: "if (end <= now) return;",
      replace: "return;",
    },
    {
      name: "waiting no longer than a call takes",
      find: "Math.min(inFlightMs - ageMs, inFlightMs)",
      replace: "inFlightMs - ageMs",
    },
    {
      name: "waiting for the end of a call once",
      find: "shared.rememberEnd(claim.id, name, end);",
      replace: "",
    },
    {
      name: "waiting without counting an attempt",
      find: "{ counts: false }",
      replace: "{ counts: true }",
    },
    {
      name: "no wait after an answer",
      find: 'if (doubt === "answered") shared.rememberEnd(claim.id, step.name, Number.NEGATIVE_INFINITY);',
      replace: "",
    },
    {
      name: "a wait again after a further call",
      find: "shared.forgetEnd(claim.id, step.name);",
      replace: "",
    },
    {
      name: "adopting a message once",
      find: "claimed: (refs) => inbox.claimedRefs(refs),",
      replace: "claimed: async () => new Set(),",
    },
    {
      name: "searching alone where the run before has sent",
      find: "return this.#alone(step, request, async",
      replace: "return this.#alone(step, step.request(), async",
    },
    {
      name: "doing nothing in its turn after an abort",
      find: "signal.throwIfAborted();\n      return await work();",
      replace: "void signal;\n      return await work();",
    },
    {
      name: "keeping the intent when the effect may have happened",
      find: 'if (doubt === "none") {',
      replace: "if (doubt !== undefined) {",
    },
    {
      name: "keeping the intent when the run was aborted",
      find: "if (signal.aborted) return error;",
      replace: "",
    },
    {
      name: "parking at once what failed and cannot be looked for",
      find: "return hopeless ? failedInside(step.name, claim.id, error) : error;",
      replace: "return hopeless ? error : error;",
    },
    {
      name: "refusing a name that ran already",
      find: "this.#reserve(step.name);",
      replace: "",
    },
    {
      name: "parking what cannot be looked for",
      find: "if (step.repeatable || past?.assumeAbsent === true) return undefined;",
      replace: "return undefined;",
    },
    {
      name: "a new time for an intent that is tried again",
      find: "await this.#records.renew(step.name, step.request());\n    await this.#freshen(step, asked);\n    return",
      replace: "await this.#freshen(step, asked);\n    return",
    },
  ]),
  ...mutantsOf("src/dispatcher/step-records.ts", STEPS, [
    {
      name: "giving up the record of a step once the run is aborted",
      find: "tries: () => (signal.aborted ? 1 : WRITE_ATTEMPTS),",
      replace: "tries: () => WRITE_ATTEMPTS,",
    },
    {
      name: "refusing a step whose lease is lost",
      find: "if (start === undefined) throw leaseLost(step);",
      replace: 'if (start === undefined) return { state: "new" };',
    },
    {
      name: "refusing the result of a step whose lease is lost",
      find: "if (!held) throw leaseLost(step);",
      replace: "void held;",
    },
  ]),
  ...mutantsOf("src/dispatcher/shared.ts", STEPS, [
    {
      name: "one search or send at a time at a place",
      find: "await before;",
      replace: "",
    },
  ]),
  ...mutantsOf("src/dispatcher/doubt.ts", STEPS, [
    {
      name: "seeing the doubt in the causes of an error",
      find: "const telling = findCause(error, isTelling);",
      replace:
        "const telling = error instanceof Error && isTelling(error) ? error : findCause(undefined, isTelling);",
    },
    {
      name: "waiting for the end of a call that a gateway gave up",
      find: 'return gatewayStatuses.has(telling.status) ? "under way" : "answered";',
      replace: 'return "answered";',
    },
  ]),
  ...mutantsOf("src/dispatcher/persist.ts", STEPS, [
    {
      name: "recording a step again when the store was away",
      find: "if (attempt >= patience.tries()) throw error;",
      replace: "throw error;",
    },
  ]),
  ...mutantsOf(
    "src/dispatcher/verdict.ts",
    ["test/dispatcher/limits.test.ts"],
    [
      {
        name: "parking a step in doubt before its outage is seen",
        find: "if (findCause(error, isUncertain) !== undefined) return",
        replace: 'if (codeOf(error) === "STEP_UNCERTAIN") return',
      },
    ],
  ),
  ...mutantsOf("src/router/writes.ts", WRITES, [
    {
      name: "the platform's time of an intent",
      find: "...where, at: client.platformNow() }",
      replace: "...where }",
    },
    {
      name: "the place of a comment: where the run before wanted it",
      find: "postOf(request)",
      replace: "postId",
    },
  ]),
  ...mutantsOf("src/router/find-reply.ts", REPLIES, [
    {
      name: "dating an intent by the platform's clock",
      find: "if (at !== undefined) return at - CLOCK_SLACK_MS;",
      replace: "if (at !== undefined) return startedAt + client.clockOffsetMs - CLOCK_SLACK_MS;",
    },
    {
      name: "a wide margin where the platform's time was not known",
      find: "client.clockOffsetMs - UNKNOWN_CLOCK_SLACK_MS;",
      replace: "client.clockOffsetMs - CLOCK_SLACK_MS;",
    },
    {
      name: "passing over messages older than the intent",
      find: "if (isOlder(message.createdAt, intent, client)) break;",
      replace: "",
    },
    {
      name: "passing over messages of other people",
      find: "if (message.fromBot) (sameContent",
      replace: "(sameContent",
    },
  ]),
  ...mutantsOf("src/router/adopt.ts", REPLIES, [
    {
      name: "leaving alone what another process may have said just now",
      find: "await expectNobodyAtIt(intent);",
      replace: "",
    },
    {
      name: "leaving alone what another version may have said there",
      find: "here === undefined || there === undefined || here === there",
      replace: "here === there",
    },
    {
      name: "passing over messages of other steps",
      find: ".filter(({ id }) => !taken.has(refOf(kind, id)))",
      replace: ".filter(({ id }) => !taken.has(id))",
    },
  ]),
];
