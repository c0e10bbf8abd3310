import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventLine, readEvent } from "../faces/cli.ts";
import {
  type AttachedInbox,
  type Inbox,
  RESTORED,
  type RestoreMark,
  readRestoreMark,
  type TransferFilter,
  type WholeEvent,
} from "../faces/inbox.ts";
import { attachInbox, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { fillInbox } from "../inbox/copy/whole-inbox.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** An empty inbox that can be opened as a bot and as an operator does. */
export interface TransferStore {
  open(): Promise<Inbox>;
  attach(): Promise<AttachedInbox>;
}

/** A row of the table of lanes. */
export interface LaneRow {
  readonly key: string;
  readonly done_ord: string | null;
  readonly done_at: number | null;
}

/** Reads what lanes know of their ended events, up to the name of the schema. */
export const SELECT_LANES = "SELECT key, done_ord, done_at FROM";

export interface FileStore extends TransferStore {
  lanes(): readonly LaneRow[];
}

export function fileStore(file: string = join(temporaryFolder(), "bot.db")): FileStore {
  return {
    open: async () => new SqliteInbox({ file }),
    attach: async () => attachInbox(file),
    lanes: () => {
      const db = new Sqlite(file, { readonly: true });
      onTestFinished(() => void db.close());
      const select = `${SELECT_LANES} lane WHERE key LIKE 'dm:%' ORDER BY key`;
      return db.prepare<[], LaneRow>(select).all();
    },
  };
}

/** Makes an empty inbox of it. */
export async function made<Store extends TransferStore>(store: Store): Promise<Store> {
  await (await store.open()).close();
  return store;
}

async function using<T>(
  store: TransferStore,
  work: (inbox: AttachedInbox) => Promise<T>,
): Promise<T> {
  const attached = await store.attach();
  try {
    return await work(attached);
  } finally {
    await attached.close();
  }
}

/** Everything, as the lines of an export have it, and read from them again. */
export function exported(store: TransferStore, filter: TransferFilter = {}): Promise<WholeEvent[]> {
  return using(store, async ({ transfer }) => {
    const events: WholeEvent[] = [];
    await transfer.read(filter, async (batch) => {
      for (const event of batch) {
        const read = readEvent(JSON.parse(eventLine(event)));
        if ("problem" in read) throw new Error(read.problem);
        events.push(read.event);
      }
    });
    expect(await transfer.count(filter)).toBe(events.length);
    return events;
  });
}

/** Returns the ids of those that the inbox had not. */
export function imported(
  store: TransferStore,
  events: readonly WholeEvent[],
): Promise<ReadonlySet<string>> {
  return using(store, ({ transfer }) => transfer.write(events));
}

/** Every kind of event that an inbox can have. */
export async function filled(): Promise<readonly WholeEvent[]> {
  const file = join(temporaryFolder(), "bot.db");
  await fillInbox(file);
  return await exported(fileStore(file));
}

const LEASE = 30_000;

/** Giving events away and taking them over, as an export and an import do. */
export function transferContract(name: string, make: () => Promise<TransferStore>): void {
  describe(`an inbox in ${name}`, () => {
    test("passes over what it knows, as often as it comes", async () => {
      const events = await filled();
      const store = await made(await make());
      expect((await imported(store, [...events, ...events.slice(0, 2)])).size).toBe(events.length);
      expect((await imported(store, events)).size).toBe(0);
      expect(await exported(store)).toEqual(events);
      await using(store, async ({ transfer }) => {
        expect(await transfer.known([...events.map(({ id }) => id), "nope"])).toBe(events.length);
      });
    });

    test("takes all of a batch or nothing", async () => {
      const events = await filled();
      const store = await made(await make());
      const withStep = first(events.filter(({ id }) => id === "dead"));
      const bad = { ...withStep, id: "evt_2", steps: [...withStep.steps, ...withStep.steps] };
      await expect(imported(store, [withStep, bad])).rejects.toThrow();
      expect(await exported(store)).toEqual([]);
    });

    test("hands out what is pending, with the attempts and the steps that it had", async () => {
      const events = await filled();
      const store = await made(await make());
      await imported(store, events);
      const inbox = await store.open();
      onTestFinished(() => inbox.close());
      const claims = await inbox.claim(10, LEASE);
      expect(claims.map(({ id, attempt }) => [id, attempt]).sort()).toEqual([
        ["crashed", 2],
        ["odd", 2],
        ["waits", 2],
      ]);
      const crashed = first(claims.filter(({ id }) => id === "crashed"));
      expect(await inbox.beginStep(crashed, "step/reply", "hello")).toMatchObject({
        state: "open",
      });
      // Its own runs come after those that it came with.
      await inbox.retry(crashed, 0, "again");
      expect((await inbox.admin.show("crashed")).history.at(-1)).toMatchObject({ error: "again" });
      const odd = await inbox.admin.show("odd");
      expect(odd.history).toHaveLength(1);
      await inbox.bury(first(claims.filter(({ id }) => id === "odd")), "x");
      expect((await inbox.admin.show("odd")).history).toHaveLength(2);
      expect(await inbox.admin.stats()).toMatchObject({ pending: 3 });
    });

    test("marks a dead letter as late if its followers were done in the source", async () => {
      const store = await made(await make());
      const source = fileStore();
      const inbox = await source.open();
      await inbox.put([message("1", "a")], "webhook");
      await inbox.bury(first(await inbox.claim(1, LEASE)), "x");
      await inbox.put([message("2", "a")], "webhook");
      await inbox.complete(first(await inbox.claim(1, LEASE)));
      await inbox.close();
      await imported(store, await exported(source));
      await using(store, ({ admin }) => admin.retry("1"));
      const bot = await store.open();
      onTestFinished(() => bot.close());
      expect(await bot.claim(1, LEASE)).toMatchObject([{ id: "1", late: true, attempt: 1 }]);
    });

    test("gives away what a filter asks for, while a bot uses it", async () => {
      const store = await make();
      const bot = await store.open();
      onTestFinished(() => bot.close());
      await bot.put([message("1", "a"), message("2", "b")], "webhook");
      await bot.bury(first(await bot.claim(1, LEASE)), "E CODE: boom");
      expect((await exported(store, { state: "dead", code: "CODE" })).map(({ id }) => id)).toEqual([
        "1",
      ]);
      expect(await exported(store, { state: "dead", code: "OTHER" })).toEqual([]);
      // The claim is one attempt, because its run may have ended without a record.
      expect(first(await bot.claim(1, LEASE)).id).toBe("2");
      expect(await exported(store, { state: "pending" })).toMatchObject([{ id: "2", attempts: 1 }]);
    });

    test("gives them away as they were at one moment", async () => {
      const store = await make();
      const bot = await store.open();
      onTestFinished(() => bot.close());
      const ids = Array.from({ length: 150 }, (_, index) => String(1000 + index));
      await bot.put(
        ids.map((id) => message(id, id)),
        "webhook",
      );
      const seen: string[] = [];
      await using(store, ({ transfer }) =>
        transfer.read({}, async (batch) => {
          // Behind what was read, and before what comes.
          if (seen.length === 0) await bot.put([message("1140-later", "z")], "webhook");
          seen.push(...batch.map(({ id }) => id));
        }),
      );
      expect(seen).toEqual(ids);
      expect((await bot.stats()).pending).toBe(151);
    });

    test("takes over what another one knows of its restore, and widens what it knows of its own", async () => {
      const store = await made(await make());
      const known = () => using(store, ({ transfer }) => transfer.mark());
      const take = (mark: RestoreMark) => using(store, ({ transfer }) => transfer.takeMark(mark));
      expect(await known()).toBeUndefined();
      await take({ at: 100, until: 90, readAt: 110, assumeAbsent: true });
      expect(await known()).toEqual({ at: 100, until: 90, readAt: 110, assumeAbsent: true });
      await take({ at: 50, until: 95, readAt: 60, assumeAbsent: false });
      const widened = { at: 100, until: 95, readAt: 110, assumeAbsent: false };
      expect(await known()).toEqual(widened);
      await take({ at: 40, until: 30, readAt: 50, assumeAbsent: true });
      expect(await known()).toEqual(widened);
      // The end of the window is unknown until a bot starts.
      await take({ at: 40, assumeAbsent: false });
      expect(await known()).toEqual({ at: 100, assumeAbsent: false });
      const bot = await store.open();
      onTestFinished(() => bot.close());
      expect(readRestoreMark(await bot.cursor(RESTORED))).toEqual(await known());
    });

    test("wakes the bot that uses it", async () => {
      const store = await make();
      const bot = await store.open();
      onTestFinished(() => bot.close());
      const woken = Promise.withResolvers<void>();
      bot.onReady(() => woken.resolve());
      const events = (await filled()).filter(({ id }) => id === "crashed");
      await imported(store, events);
      await woken.promise;
      expect(await bot.claim(10, LEASE)).toMatchObject([{ id: "crashed" }]);
    });
  });
}
