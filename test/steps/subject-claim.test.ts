import { beforeEach, describe, expect, test } from "vitest";
import { apiErrorOf } from "../faces/client.ts";
import { ServiceBotError } from "../faces/errors.ts";
import type { Claim } from "../faces/inbox.ts";
import { LEASE, type ReplyParts, type Run, StepWorld } from "./step-world.ts";

let world: StepWorld;
let claims: readonly Claim[];
beforeEach(async () => {
  world = new StepWorld();
  await world.put("a", "b", "c");
  claims = await world.inbox.claim(3, LEASE);
});

const runOf = (index: number): Run => {
  const claim = claims[index];
  if (claim === undefined) throw new Error(`no event ${index}`);
  return world.runOf(claim);
};

const answer = (kind: string, name = "reply/1", more: ReplyParts = {}) =>
  world.reply(name, `${kind} ${name}`, {
    subject: { ref: "content:1", kindRef: `content:1:${kind}` },
    ...more,
  });

const refused: Pick<ReplyParts, "run"> = {
  run: () => Promise.reject(apiErrorOf("refused", { status: 400, platformCode: "TOO_LONG" })),
};
const inDoubt: Pick<ReplyParts, "run"> = {
  run: () => Promise.reject(apiErrorOf("broken", { status: 500 })),
};

const texts = () => [...world.platform.values()];

describe("one of several events of a subject answers", () => {
  test("of two kinds, the first", async () => {
    expect(await runOf(0).end(answer("comment"))).toMatchObject({ outcome: "made" });
    expect(await runOf(1).end(answer("mention"))).toEqual({
      result: undefined,
      outcome: "elsewhere",
    });
    expect(await runOf(0).end(answer("comment"))).toMatchObject({ outcome: "recorded" });
    expect(texts()).toEqual(["comment reply/1"]);
  });

  test("of one kind, each, because they are about two subjects with one name", async () => {
    await runOf(0).run(answer("reply"));
    await runOf(1).run(answer("reply"));
    await runOf(2).run(answer("mention"));
    expect(texts()).toEqual(["reply reply/1", "reply reply/1"]);
  });

  test("with all its replies", async () => {
    const steps = runOf(0);
    await Promise.all([steps.run(answer("comment")), steps.run(answer("comment", "reply/2"))]);
    await runOf(1).run(answer("mention"));
    expect(texts()).toEqual(["comment reply/1", "comment reply/2"]);
  });
});

describe("after a reply that is refused", () => {
  test("another event answers, and the first one no longer", async () => {
    await expect(runOf(0).run(answer("comment", "reply/1", refused))).rejects.toThrow("refused");
    await runOf(1).run(answer("mention"));
    await runOf(0).run(answer("comment"));
    expect(texts()).toEqual(["mention reply/1"]);
  });

  test("another event answers also where the store fails for a moment", async () => {
    const restart = world.inbox.restartStep.bind(world.inbox);
    const failed = Promise.withResolvers<void>();
    world.inbox.restartStep = async () => {
      world.inbox.restartStep = restart;
      failed.resolve();
      throw new ServiceBotError("STORE_UNAVAILABLE", "disk full");
    };
    const refusal = expect(
      runOf(0).run(answer("comment", "reply/1", refused)),
    ).rejects.toMatchObject({ code: "TOO_LONG" });
    await Promise.race([failed.promise, refusal]);
    await world.clock.advance(1_000);
    await refusal;
    await runOf(1).run(answer("mention"));
    expect(texts()).toEqual(["mention reply/1"]);
  });

  test("the run ends at once where another owner has the event by then", async () => {
    let restarts = 0;
    const restart = world.inbox.restartStep.bind(world.inbox);
    world.inbox.restartStep = (...given) => {
      restarts += 1;
      return restart(...given);
    };
    const refusal = Promise.withResolvers<never>();
    const late: ReplyParts = { run: () => refusal.promise };
    const end = runOf(0).run(answer("comment", "reply/1", late));
    const lost = expect(end).rejects.toMatchObject({ code: "LEASE_LOST" });
    await world.clock.advance(LEASE);
    await world.inbox.claim(3, LEASE);
    refusal.reject(apiErrorOf("refused", { status: 400, platformCode: "TOO_LONG" }));
    await world.clock.advance(120_000);
    await lost;
    expect(restarts).toBe(1);
    expect(world.log.records).toEqual([]);
  });

  test("another event of its kind is about the subject", async () => {
    await expect(runOf(0).run(answer("reply", "reply/1", refused))).rejects.toThrow("refused");
    await runOf(1).run(answer("reply"));
    await runOf(2).run(answer("mention"));
    expect(texts()).toEqual(["reply reply/1"]);
  });

  test("the same run may send a different text", async () => {
    const steps = runOf(0);
    await expect(steps.run(answer("comment", "reply/1", refused))).rejects.toThrow("refused");
    await steps.run(answer("comment", "reply/2"));
    await runOf(1).run(answer("mention"));
    expect(texts()).toEqual(["comment reply/2"]);
  });

  test.each([
    ["was made", {}],
    ["may have been made", inDoubt],
  ])("the event keeps the subject while another reply %s", async (_what, first) => {
    const steps = runOf(0);
    await steps.run(answer("comment", "reply/1", first)).catch(() => undefined);
    await expect(steps.run(answer("comment", "reply/2", refused))).rejects.toThrow("refused");
    await runOf(1).run(answer("mention"));
    expect(texts()).not.toContain("mention reply/1");
  });

  test("the event keeps the subject of an earlier run, which may have answered", async () => {
    await runOf(0).run(answer("comment"));
    await expect(runOf(0).run(answer("comment", "reply/2", refused))).rejects.toThrow("refused");
    await runOf(1).run(answer("mention"));
    expect(texts()).toEqual(["comment reply/1"]);
  });
});
