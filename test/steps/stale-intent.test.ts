import { beforeEach, describe, expect, test } from "vitest";
import type { Inbox } from "../faces/inbox.ts";
import { IN_FLIGHT, LEASE, StepWorld } from "./step-world.ts";

let world: StepWorld;

beforeEach(async () => {
  world = new StepWorld();
  await world.put();
});

/** An inbox whose process stands still for so long right after the intent was recorded. */
function standsStill(ms: number, meanwhile: () => Promise<unknown> = async () => undefined): Inbox {
  return new Proxy<Inbox>(world.inbox, {
    get(inbox, name) {
      if (name !== "beginStep") {
        const value: unknown = Reflect.get(inbox, name);
        return typeof value === "function" ? value.bind(inbox) : value;
      }
      return async (...given: Parameters<Inbox["beginStep"]>) => {
        const start = await inbox.beginStep(...given);
        await world.clock.advance(ms);
        await meanwhile();
        return start;
      };
    },
  });
}

describe("a process that stands still between the intent of a reply and the request", () => {
  test("does not send it once another owner has the event and has sent it", async () => {
    await world.begin();
    const frozen = world.claim;
    const other = async () => {
      world.process = world.newProcess();
      const steps = await world.next();
      await steps.run(world.reply("reply", "hello"));
    };
    const steps = world.runOf(frozen, {
      process: world.newProcess({ inbox: standsStill(LEASE + IN_FLIGHT, other) }),
    });
    await expect(steps.run(world.reply("reply", "hello"))).rejects.toMatchObject({
      code: "LEASE_LOST",
    });
    expect([...world.platform.values()]).toEqual(["hello"]);
  });

  test("sends it when the lease is still its own", async () => {
    await world.begin();
    const steps = world.runOf(world.claim, {
      process: world.newProcess({ inbox: standsStill(5_000) }),
    });
    await steps.run(world.reply("reply", "hello"));
    expect([...world.platform.values()]).toEqual(["hello"]);
  });
});
