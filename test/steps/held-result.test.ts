import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { ServiceBotError } from "../faces/errors.ts";
import type { StepStart } from "../faces/inbox.ts";
import { effects } from "../support/effects.ts";
import { IN_FLIGHT, LEASE, type Run, StepWorld } from "./step-world.ts";

let world: StepWorld;
let run: Run;
beforeEach(async () => {
  world = new StepWorld();
  await world.put("a");
  run = await world.next();
});

const message = (name: string, text = name) =>
  world.reply(name, text, {
    run: async () => {
      const { result } = world.send(text);
      return { result, ref: `dm:${result}` };
    },
    find: async (intent) => {
      const { same, ...rest } = await world.find(intent);
      return { ...rest, same: same.map((one) => ({ ...one, ref: `dm:${one.ref}` })) };
    },
  });

const stepOf = async (name: string): Promise<Partial<StepStart> | undefined> => {
  const { steps } = await world.inbox.admin.show(world.claim.id);
  return steps.find((step) => step.name === name);
};

test("a message's result is left to the end of a run that ends now", async () => {
  await run.run(message("reply/1"));
  const held = await run.steps.leaveResult();
  await turn();
  expect(await stepOf("reply/1")).toMatchObject({ state: "open" });
  expect(held?.result).toMatchObject({ step: "reply/1", ref: "dm:m_1" });
  expect(await world.inbox.complete(world.claim, effects({ result: held?.result }))).toBe(true);
  expect(await stepOf("reply/1")).toMatchObject({ state: "done" });
});

test("it is recorded by itself if the run goes on, or begins another step", async () => {
  await run.run(message("reply/1"));
  await turn();
  await turn();
  expect(await stepOf("reply/1")).toMatchObject({ state: "done" });
  await run.run(message("reply/2"));
  const third = run.run(message("reply/3"));
  await third;
  expect(await stepOf("reply/2")).toMatchObject({ state: "done" });
  expect((await run.steps.leaveResult())?.result.step).toBe("reply/3");
});

test("it is recorded by itself if the run fails, or if its end is in conflict", async () => {
  await run.run(message("reply/1"));
  await run.steps.recordResult();
  expect(await stepOf("reply/1")).toMatchObject({ state: "done" });
  await run.run(message("reply/2"));
  const held = await run.steps.leaveResult();
  await held?.record();
  expect(await stepOf("reply/2")).toMatchObject({ state: "done" });
});

test("two messages sent at once, and comments, are recorded", async () => {
  await Promise.all([run.run(message("reply/1", "one")), run.run(message("reply/2", "two"))]);
  await run.run(world.reply("comment/1", "three"));
  for (const name of ["reply/1", "reply/2", "comment/1"]) {
    expect(await stepOf(name)).toMatchObject({ state: "done" });
  }
  expect(await run.steps.leaveResult()).toBeUndefined();
});

test("a result that cannot be recorded fails the run, which sends nothing again", async () => {
  const { finishStep } = world.inbox;
  world.inbox.finishStep = () => Promise.reject(new ServiceBotError("STORE_UNAVAILABLE", "full"));
  await run.run(message("reply/1"));
  await turn();
  const end = expect(run.steps.leaveResult()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await world.clock.advance(60_000);
  await end;
  world.inbox.finishStep = finishStep;
  const again = await world.begin();
  await world.clock.advance(IN_FLIGHT);
  expect(await again.end(message("reply/1"))).toMatchObject({ outcome: "found" });
  expect(world.platform.size).toBe(1);
});

test("a run that goes on after its lease was lost says so at its end", async () => {
  const late = {
    ...message("reply/1"),
    run: async () => {
      await world.clock.advance(LEASE);
      await world.inbox.claim(1, LEASE);
      return { result: "m_1", ref: "dm:m_1" };
    },
  };
  await run.run(late);
  await turn();
  await expect(run.steps.leaveResult()).rejects.toMatchObject({ code: "LEASE_LOST" });
});

test("another lane's search takes no message whose result is held", async () => {
  world = new StepWorld();
  await world.put("b", "c");
  const [mine, other] = await world.inbox.claim(2, LEASE);
  if (mine === undefined || other === undefined) throw new Error("two lanes were wanted");
  await world.inbox.beginStep(other, "reply/1", "hello");
  await world.clock.advance(IN_FLIGHT);
  const sender = world.runOf(mine);
  await sender.run(message("reply/1", "hello"));
  const held = await sender.steps.leaveResult();
  const searching = world.runOf(other).end(message("reply/1", "hello"));
  // Without the place, the search would find the message.
  await world.clock.advance(1);
  await world.inbox.complete(mine, effects({ result: held?.result }));
  held?.settle();
  expect(await searching).toMatchObject({ outcome: "made" });
  expect(world.platform.size).toBe(2);
});
