import { channel, tracingChannel } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { root } from "../docs/markdown.ts";
import { channels, subscribe, traced, works } from "../faces/observe.ts";
import { dm, World } from "../metrics/world.ts";
import { runMessage } from "../support/channels.ts";
import { logSink } from "../support/log.ts";

const page = readFileSync(join(root, "docs/operate/channels.md"), "utf8");

function documented(heading: string): ReadonlyMap<string, readonly string[]> {
  const [, text = ""] = page.split(`\n## ${heading}\n`);
  const [table = ""] = text.split("\n## ");
  const ofEvent = ["event", "type", "lane", "attempt", "trace"];
  const rows = [...table.matchAll(/^\| `service-bot:([\w-]+)` \| .* \| (.*) \|$/gm)];
  return new Map(
    rows.map(([, name = "", cell = ""]) => [
      name,
      [
        ...(cell.startsWith("the event") ? ofEvent : []),
        ...[...cell.matchAll(/`(\w+)`/g)].map(([, field = ""]) => field),
      ],
    ]),
  );
}

function hearAll(): { facts: [string, object][]; work: [string, object][] } {
  const facts: [string, object][] = [];
  const work: [string, object][] = [];
  for (const name of Object.keys(channels)) {
    const hear = (message: unknown) => void facts.push([name, message as object]);
    channel(`service-bot:${name}`).subscribe(hear);
    onTestFinished(() => void channel(`service-bot:${name}`).unsubscribe(hear));
  }
  for (const name of Object.keys(works)) {
    const { asyncEnd } = tracingChannel(`service-bot:${name}`);
    const hear = (message: unknown) => void work.push([name, message as object]);
    asyncEnd.subscribe(hear);
    onTestFinished(() => void asyncEnd.unsubscribe(hear));
  }
  return { facts, work };
}

/**
 * Runs a bot that publishes on all channels: through valid and invalid deliveries, steps, failures, outages, and a mode
 * change.
 */
async function busyBot(): Promise<Bot> {
  const world = new World();
  const bot = await world.start({ maxRequestsPerMinute: 60, startFrom: "oldest" }, (one) => {
    one.on("dm.message", async (ctx) => {
      await ctx.step("one", () => 1);
      await ctx.client.me();
    });
  });
  await world.deliver(bot, [dm("1")]);
  await world.deliver(bot, [dm("1")], { secret: "whsec_of_another" });
  world.events.add("2");
  await world.clock.advance(180_000);
  world.answer = () => Promise.reject(new TypeError("fetch failed"));
  await world.deliver(bot, [dm("3")]);
  await world.clock.advance(300_000);
  return bot;
}

describe("docs/operate/channels.md", () => {
  test("has every channel, and no other", () => {
    expect([...documented("Event channels").keys()]).toEqual(Object.keys(channels));
    expect([...documented("Tracing channels").keys()]).toEqual(Object.keys(works));
  });

  test("has every field of the messages that a bot publishes", async () => {
    const heard = hearAll();
    const bot = await busyBot();
    for (const [heading, messages] of [
      ["Event channels", heard.facts],
      ["Tracing channels", heard.work],
    ] as const) {
      const fields = documented(heading);
      for (const [name, message] of messages) {
        expect(message).toHaveProperty("bot", bot);
        const known = ["bot", "around", ...(fields.get(name) ?? [])];
        expect(
          Object.keys(message).filter((field) => !known.includes(field)),
          name,
        ).toEqual([]);
      }
    }
    const rare = ["lease-lost", "budget-wait", "blocked", "store-failure", "inbox-file"];
    const common = Object.keys(channels).filter((name) => !rare.includes(name));
    expect(new Set(heard.facts.map(([name]) => name))).toEqual(new Set(common));
    expect(new Set(heard.work.map(([name]) => name))).toEqual(new Set(Object.keys(works)));
  });
});

test("a subscriber of one bot gets only that bot's messages, until it unsubscribes", () => {
  const [one, another] = [{}, {}];
  const heard: (object | undefined)[] = [];
  const end = subscribe(one, { transaction: ({ bot }) => void heard.push(bot) });
  channels.transaction.publish({ bot: one, ms: 1, isCommitted: true });
  channels.transaction.publish({ bot: another, ms: 1, isCommitted: true });
  channels.transaction.publish({ bot: undefined, ms: 1, isCommitted: true });
  end();
  channels.transaction.publish({ bot: one, ms: 1, isCommitted: true });
  expect(heard).toEqual([one]);
});

test("a bot subscribes until it has stopped", async () => {
  const sink = logSink();
  const bot = await new World().start({ logger: sink.log });
  const lines = () => {
    const before = sink.records.length;
    channels.run.publish(runMessage(bot));
    return sink.records.length - before;
  };
  expect(lines()).toBe(1);
  await bot.stop();
  expect(lines()).toBe(0);
});

describe("work", () => {
  test("makes no message while there is no subscriber", async () => {
    const made = await traced(
      works.step,
      () => {
        throw new Error("made");
      },
      async (message) => message,
    );
    expect(made).toBeUndefined();
  });

  test("is published at its start, with its error, and at its end; its result is not", async () => {
    const heard: string[] = [];
    const { start, error, asyncEnd } = works.step;
    const all = { start, error, asyncEnd };
    for (const [name, one] of Object.entries(all)) {
      const hear = (message: unknown) =>
        void heard.push(`${name} ${Object.keys(message as object)}`);
      one.subscribe(hear);
      onTestFinished(() => void one.unsubscribe(hear));
    }
    const message = () => ({ bot: undefined, step: "pay" });
    await traced(works.step, message, async () => "a text");
    await expect(
      traced(works.step, message, () => Promise.reject(new Error("no"))),
    ).rejects.toThrow("no");
    expect(heard).toEqual([
      ...["start bot,step", "asyncEnd bot,step"],
      ...["start bot,step", "error bot,step,error", "asyncEnd bot,step,error"],
    ]);
  });
});
