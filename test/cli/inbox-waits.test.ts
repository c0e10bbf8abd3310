import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { dm, World } from "../metrics/world.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";

const LEASE = 60_000;

let folder: string;
let made: SqliteInbox;

const inbox = (...args: readonly string[]) => runCommand(["inbox", ...args], { cwd: folder });

async function jsonOf(...args: readonly string[]) {
  return JSON.parse((await inbox(...args, "--json")).out);
}

describe("pending events in service-bot inbox", () => {
  beforeEach(async () => {
    folder = temporaryFolder();
    made = new SqliteInbox({ file: join(folder, "data", "bot.db") });
  });

  const claimed = async (id: string, conversation = id) => {
    await made.put([message(id, conversation)], "webhook");
    return first(await made.claim(1, LEASE));
  };

  test("list shows why each waits, until when, and what runs", async () => {
    await made.retry(await claimed("failed"), 300_000, "TypeError: boom");
    await made.release(await claimed("looped"), 30_000, "LoopHeld: too often");
    await made.release(await claimed("away"), 20_000, "NetworkError API_CIRCUIT_OPEN: Not sent.");
    const running = await claimed("busy");
    await made.beginStep(running, "step/charge", "{}");
    await made.put([message("behind", "busy"), message("ready", "r")], "webhook");
    const { out } = await inbox("list", "--state", "pending");
    const lines = out.split("\n");
    const lineOf = (id: string) => lines.find((line) => line.startsWith(`${id} `));
    expect(lines[0]).toMatch(/RECEIVED +NEXT TRY +WAITS FOR$/);
    expect(lineOf("failed")).toMatch(/in 5 min +a retry: TypeError: boom$/);
    expect(lineOf("looped")).toMatch(/in 30 s +the loop guard/);
    expect(lineOf("away")).toMatch(/in 20 s +the platform.*API_CIRCUIT_OPEN/);
    expect(lineOf("busy")).toMatch(/running now, began just now, at the step "step\/charge"$/);
    expect(lineOf("behind")).toMatch(/an earlier event of its lane: busy$/);
    expect(lineOf("ready")).toMatch(/a free place$/);
    await made.close();
    expect((await inbox("list", "--state", "pending")).out).toMatch(/ready .*bot.* not running/);
  });

  test("show has the wait, its end and how to end it, and JSON has the same", async () => {
    await made.retry(await claimed("1"), 300_000, "ServiceBotError HANDLER_TIMEOUT: too slow");
    const { out } = await inbox("show", "1");
    expect(out).toMatch(
      /next try +in 5 min\n +waits for +a retry: ServiceBotError HANDLER_TIMEOUT/,
    );
    expect(out).toMatch(/advice +Pass `ctx\.signal` to slow calls, or raise `handlerTimeoutMs`/);
    expect(out).toMatch(/remedies\n +# end the wait\n.*service-bot inbox retry 1\n/);
    expect((await jsonOf("show", "1")).wait).toMatchObject({ reason: "retry" });
    await made.close();
  });

  test("retry ends the wait by id and by filter", async () => {
    for (const id of ["1", "2"]) await made.retry(await claimed(id), 300_000, "TypeError: boom");
    expect((await inbox("retry", "1")).out).toBe("retried: 1 event, the bot handles it now");
    expect(await made.nextReadyIn()).toBe(0);
    expect((await jsonOf("show", "1")).wait).toMatchObject({ reason: "ready" });
    expect((await inbox("retry", "--all")).out).toContain("No matching dead letters");
    const { out } = await inbox("retry", "--state", "pending", "--lane", "dm:2");
    expect(out).toBe("retried: 1 pending event, the bot handles it now");
    await made.close();
  });

  test("retry of an event that runs is refused, and so is an assumption about its steps", async () => {
    await claimed("1");
    expect(await inbox("retry", "1")).toMatchObject({
      code: 1,
      err: expect.stringContaining("A handler is processing"),
    });
    const wrong = await inbox("retry", "--state", "pending", "--all", "--assume", "done");
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("--assume") });
    expect((await inbox("retry", "1", "--state", "pending")).code).toBe(2);
    await made.close();
  });

  test("list and retry select by user and by arrival", async () => {
    await made.put([message("1", "a"), message("2", "b")], "webhook");
    const ids = async (...args: readonly string[]) => {
      const { events } = await jsonOf("list", "--state", "all", ...args);
      return events.map(({ id }: { id: string }) => id);
    };
    expect(await ids("--user", "@Ada")).toEqual(["2", "1"]);
    expect(await ids("--user", "u_ada", "--lane", "dm:a")).toEqual(["1"]);
    expect(await ids("--user", "ben")).toEqual([]);
    expect(await ids("--received-since", "1h")).toEqual(["2", "1"]);
    expect(await ids("--received-until", "1h")).toEqual([]);
    const { out } = await inbox("retry", "--state", "pending", "--user", "ada", "--dry-run");
    expect(out).toContain("would be retried: 2 pending events");
    expect(await inbox("list", "--user", "@")).toMatchObject({ code: 2 });
    const { err } = await inbox("list", "--received-since", "1h", "--received-until", "2h");
    expect(err).toContain("--received-since 1h is not before --received-until 2h");
    const paged = await inbox("list", "--state", "all", "--user", "ada", "--limit", "1");
    expect(paged.out).toMatch(/more: .*inbox list --state all --user ada --limit 1 --after /);
    await made.close();
  });

  test("--utc shows absolute times, also in JSON", async () => {
    await made.retry(await claimed("1"), 300_000, "TypeError: boom");
    const time = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/;
    for (const args of [["list", "--state", "pending"], ["show", "1"], ["stats"]]) {
      expect((await inbox(...args, "--utc")).out).toMatch(time);
      expect((await inbox(...args)).out).not.toMatch(time);
    }
    const { wait, receivedAt } = await jsonOf("show", "1", "--utc");
    for (const at of [receivedAt, wait.nextAt]) expect(at).toMatch(/^\d{4}-.*T.*\.\d{3}Z$/);
    expect((await jsonOf("show", "1")).receivedAt).toBe(Date.parse(receivedAt));
    await made.close();
  });
});

describe("a bot", () => {
  const start = async (register: (bot: Bot) => void) => {
    folder = temporaryFolder();
    const world = new World();
    const databaseUrl = `file:${join(folder, "data", "bot.db")}`;
    return { world, bot: await world.start({ databaseUrl }, register) };
  };

  test("keeps why it ran no handler for an event", async () => {
    const { world, bot } = await start((made) => void made.on("follow", () => undefined));
    world.answer = (url) =>
      url.endsWith("/me")
        ? Response.json({ username: "helper" })
        : Response.json({ events: [], cursor: "0" });
    const actor = { username: "helper", name: "" };
    const own = { id: "1", type: "follow", createdAt: "" };
    await world.deliver(bot, [{ ...own, payload: { actor, entityType: "user", entityId: "u" } }]);
    await world.deliver(bot, [dm("2")]);
    await bot.idle();
    expect(await bot.inbox.show("1")).toMatchObject({ state: "done", skipReason: "own_account" });
    expect(await bot.inbox.show("2")).toMatchObject({ state: "done", skipReason: "no_handler" });
    expect((await inbox("show", "1")).out).toMatch(/skipped +the bot itself caused the event/);
    const { out } = await inbox("list", "--state", "done");
    expect(out).toMatch(/SKIPPED\n2 .*no handler is registered.*\n1 .*the bot itself/);
  });

  test("says nothing of the kind about an event that a handler or middleware has handled", async () => {
    const { world, bot } = await start((made) => {
      made.use(async (ctx, next) => {
        if (ctx.event.id !== "2") await next();
      });
      made.on("dm.message", () => undefined);
    });
    for (const id of ["1", "2"]) await world.deliver(bot, [dm(id)]);
    await bot.idle();
    for (const id of ["1", "2"]) {
      expect((await bot.inbox.show(id)).skipReason).toBeUndefined();
    }
  });

  test("runs a waiting event at once after its wait was ended", async () => {
    let runs = 0;
    const { world, bot } = await start((made) => {
      made.on("dm.message", () => {
        runs += 1;
        if (runs === 1) throw new Error("boom");
      });
    });
    await world.deliver(bot, [dm("1")]);
    await bot.idle();
    expect(await bot.inbox.show("1")).toMatchObject({ wait: { reason: "retry" } });
    await bot.inbox.retry({ state: "pending" });
    await bot.idle();
    expect(runs).toBe(2);
    expect((await bot.inbox.show("1")).state).toBe("done");
  });
});
