import { type Mutant, mutantsOf } from "../mutant.ts";

const STEPS = ["test/dispatcher/steps.test.ts"];
const REPLIES = ["test/router/find-reply.test.ts"];

/** A retried handler does not speak twice. */
export const stepMutants: readonly Mutant[] = [
  ...mutantsOf("src/dispatcher/steps.ts", STEPS, [
    {
      name: "the intent before the effect",
      find: "const start = await inbox.beginStep(claim, step.name, step.request);",
      replace: 'const start = { state: "new", result: "", request: "", startedAt: 0 };',
    },
    {
      name: "giving the recorded result",
      find: "if (clock.now() - start.startedAt < validForMs) return",
      replace: "if (validForMs < 0) return",
    },
    {
      name: "recording the result",
      find: "await this.#held(step, inbox.finishStep(claim, step.name, pack(effect.result), effect.ref));",
      replace: "void [inbox, claim];",
    },
    {
      name: "looking for the effect after a crash",
      find: "const found = await this.#resolve(step, start);",
      replace: "const found = await Promise.resolve(undefined);",
    },
    {
      name: "waiting until the call cannot be under way",
      find: "if (stillInFlightMs > 0) await sleep(clock, stillInFlightMs, signal);",
      replace: "",
    },
    {
      name: "adopting a message once: what this run adopted",
      find: "new Set([...(await inbox.claimedRefs(refs)), ...this.#adopted])",
      replace: "new Set(await inbox.claimedRefs(refs))",
    },
    {
      name: "adopting a message once: what is recorded",
      find: "new Set([...(await inbox.claimedRefs(refs)), ...this.#adopted])",
      replace: "new Set(this.#adopted)",
    },
    {
      name: "one search at a time",
      find: "this.#searching.then(() => this.#search(step, open));",
      replace: "this.#search(step, open);",
    },
    {
      name: "keeping the intent when the effect may have happened",
      find: "if (!signal.aborted && !mayHaveHappened(error)) await",
      replace: "if (!signal.aborted) await",
    },
    {
      name: "keeping the intent when the run was aborted",
      find: "if (!signal.aborted && !mayHaveHappened(error)) await",
      replace: "if (!mayHaveHappened(error)) await",
    },
    {
      name: "refusing a step whose lease is lost",
      find: "if (start === undefined) throw leaseLost(step.name);",
      replace: "if (start === undefined) return (await step.run()).result;",
    },
    {
      name: "refusing a name that ran already",
      find: "this.#reserve(step.name);",
      replace: "",
    },
    {
      name: "parking what cannot be looked for",
      find: "throw uncertain(step.name, this.#scope.claim.id);",
      replace: "return undefined;",
    },
    {
      name: "a new time for an intent that is tried again",
      find: "return await this.#finish(step, found);\n      await this.#held(step, inbox.restartStep(claim, step.name, step.request));",
      replace: "return await this.#finish(step, found);",
    },
  ]),
  ...mutantsOf("src/router/find-reply.ts", REPLIES, [
    {
      name: "passing over messages older than the intent",
      find: "if (isOlder(message.createdAt, intent, client)) break;",
      replace: "",
    },
    {
      name: "passing over messages of other people",
      find: "if (message.fromBot && sameContent(message, intent))",
      replace: "if (sameContent(message, intent))",
    },
    {
      name: "passing over messages of other steps",
      find: ".filter(({ id }) => !taken.has(refOf(kind, id)))",
      replace: ".filter(({ id }) => !taken.has(id))",
    },
  ]),
];
