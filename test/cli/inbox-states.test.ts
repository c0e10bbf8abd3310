import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { effects, keeps, timer } from "../support/effects.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";
import { inboxTemplate } from "./inbox-template.ts";

const LEASE = 60_000;
const START = Date.now() - 3 * 60_000 - 500;

/** Creates three states, written three minutes ago, and two timers. */
const putInbox = inboxTemplate(async (file) => {
  const made = new SqliteInbox({ file, clock: new ManualClock(START) });
  const end = async (id: string, some: Parameters<typeof made.complete>[1]) => {
    await made.put([message(id, id)], "webhook");
    await made.complete(first(await made.claim(1, LEASE)), some);
  };
  await end("evt_1", keeps("dm:c_1", { count: 3, name: "ada" }));
  await end("evt_2", keeps("dm:c_2", "\u001b[31mred\nline"));
  await end("evt_3", keeps("user:ada", []));
  const timers = [timer("a", 3_600_000), timer("b", 60_000, { lane: "dm:c2", name: "nap" })];
  await end("evt_4", effects({ timers }));
  await made.close();
});

let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  await putInbox(join(folder, "data", "bot.db"));
});

const inbox = (...args: readonly string[]) => runCommand(["inbox", ...args], { cwd: folder });

describe("service-bot inbox state", () => {
  test("lists the keys in columns, and goes on where it stopped", async () => {
    const { code, out } = await inbox("state", "--prefix", "dm:", "--limit", "1");
    expect(code).toBe(0);
    const [head, row] = out.split("\n");
    expect(head?.split(/ {2,}/)).toEqual(["KEY", "SIZE", "WRITTEN", "BY"]);
    expect(row?.split(/ {2,}/)).toEqual(["dm:c_1", "24 B", "3 min ago", "evt_1#1"]);
    const [, more = ""] = /more: npx service-bot inbox (.*)/.exec(out) ?? [];
    const rest = (await inbox(...more.split(" "))).out;
    expect(rest).toContain("dm:c_2");
    expect(rest).not.toMatch(/dm:c_1|user:ada|more:/);
    expect((await inbox("state", "--prefix", "x")).out).toBe("No states for --prefix x.");
    expect((await inbox("state", "--after", "z")).out).toBe("No more states.");
    const json = JSON.parse((await inbox("state", "--json")).out);
    expect(json.states).toHaveLength(3);
    expect(json.states[0]).toEqual({
      ...{ key: "dm:c_1", version: "evt_1#1", updatedAt: START },
      bytes: 24,
    });
  });

  test("shows one, without control characters, and how to delete it", async () => {
    const { code, out } = await inbox("state", "dm:c_1");
    expect(code).toBe(0);
    expect(out).toMatch(/^dm:c_1 {2}written .* UTC \(3 min ago\) by evt_1#1\n/);
    expect(out).toContain('"count": 3');
    expect(out).toContain("service-bot inbox state dm:c_1 --delete --yes");
    expect((await inbox("state", "dm:c_2")).out).not.toContain("\u001b");
    expect(JSON.parse((await inbox("state", "dm:c_1", "--json")).out)).toEqual({
      ...{ key: "dm:c_1", version: "evt_1#1", updatedAt: START },
      value: { count: 3, name: "ada" },
    });
  });

  test("deletes only the named and confirmed state", async () => {
    for (const wrong of [
      ["--delete", "--yes"],
      ["dm:c_1", "--delete"],
      ["dm:c_1", "--yes"],
      ["dm:c_1", "--limit", "1"],
      ["dm:c_1", "dm:c_2"],
    ]) {
      const { code, err } = await inbox("state", ...wrong);
      expect(code).toBe(2);
      expect(err).toContain("inbox --help");
    }
    const { code, out } = await inbox("state", "dm:c_1", "--delete", "--yes");
    expect([code, out]).toEqual([0, "deleted: the state dm:c_1"]);
    const gone = await inbox("state", "dm:c_1");
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining("There is no state dm:c_1")]);
    expect((await inbox("state", "dm:c_1", "--delete", "--yes")).code).toBe(1);
    expect(JSON.parse((await inbox("state", "--json")).out).states).toHaveLength(2);
    expect((await inbox("state", "dm:c_2", "--delete", "--yes", "--json")).out).toBe(
      '{"deleted":1}',
    );
  });
});

describe("service-bot inbox timers", () => {
  test("lists timers, the next one first", async () => {
    const { code, out } = await inbox("timers");
    expect(code).toBe(0);
    const rows = out.split("\n").map((line) => line.split(/ {2,}/));
    expect(rows).toEqual([
      ["DUE", "NAME", "KEY", "LANE"],
      [new Date(START + 60_000).toISOString(), "nap", "b", "dm:c2"],
      [new Date(START + 3_600_000).toISOString(), "remind", "a", "dm:c1"],
    ]);
    const page = await inbox("timers", "--limit", "1");
    const [, more = ""] = /more: npx service-bot inbox (.*)/.exec(page.out) ?? [];
    const words = [...more.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);
    const rest = (await inbox(...words.map(String))).out;
    expect(rest).toContain("remind");
    expect(rest).not.toContain("nap");
    expect((await inbox("timers", "--name", "x")).out).toBe("No timers for --name x.");
    expect(JSON.parse((await inbox("timers", "--lane", "dm:c2", "--json")).out)).toEqual({
      timers: [
        {
          ...{ lane: "dm:c2", name: "nap", key: "b", eventId: "timer:remind:b" },
          ...{ body: '{"n":1}', dueAt: START + 60_000 },
        },
      ],
    });
    expect((await inbox("timers", "--after", "x")).err).toContain('Invalid cursor "x"');
  });

  test("--fire makes timers due, by lane and name", async () => {
    expect((await inbox("timers", "--fire", "--name", "nap")).code).toBe(2);
    expect((await inbox("timers", "--key", "b")).code).toBe(2);
    const remind = ["timers", "--lane", "dm:c1", "--name", "remind"];
    expect((await inbox(...remind, "--key", "none", "--fire")).err).toContain("no such timer");
    const { code, out } = await inbox(...remind, "--key", "a", "--fire", "--json");
    expect({ code, ...JSON.parse(out) }).toEqual({ code: 0, fired: 1 });
    const [{ dueAt }] = JSON.parse((await inbox(...remind, "--json")).out).timers;
    expect(dueAt).toBeGreaterThan(START);
    expect(dueAt).toBeLessThanOrEqual(Date.now());
  });
});
