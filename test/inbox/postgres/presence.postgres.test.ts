import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { gate, harness } from "../../dispatcher/harness.ts";
import { EVENT_LOG } from "../../faces/inbox.ts";
import { type PostgresInbox, Sessions } from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { message, messages } from "../../support/inbox-events.ts";
import { gone, listening } from "../../support/postgres/listening.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, type Place, through } from "../../support/postgres/open.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

/** In ms. No test waits for its end. */
const LEASE = 3_600_000;
const LOOK_INTERVAL = 1_000;
const HERE = { host: "h", pid: 1, version: "1.0.0" };

let looked: MockInstance<Sessions["look"]>;

beforeEach(() => {
  looked = vi.spyOn(Sessions.prototype, "look");
});
afterEach(() => looked.mockRestore());

interface Instance {
  readonly inbox: PostgresInbox;
  readonly clock: ManualClock;
  readonly proxy: TcpProxy;
}

/** Starts an instance behind a proxy. To the server, cutting its connections looks like a killed process. */
async function start(place: Place): Promise<Instance> {
  const proxy = await TcpProxy.to(Number(new URL(place.url).port));
  const clock = new ManualClock(1_800_000_000_000);
  const inbox = await openAt(through(place, proxy), { clock, random: () => 0, timeoutMs: 1_000 });
  await inbox.shared.beat(HERE, undefined);
  return { inbox, clock, proxy };
}

/** Starts two instances. The first has claimed an event and reads the event log. */
async function two() {
  const place = await emptyPlace();
  const [one, other] = [await start(place), await start(place)];
  await one.inbox.put(messages("1"), "webhook");
  const claim = first(await one.inbox.claim(1, LEASE));
  await one.inbox.shared.lead(EVENT_LOG, LEASE);
  return { place, one, other, claim };
}

/** Lets an instance look at the other instances' sessions. */
async function looks({ clock }: Instance, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const { length } = looked.mock.calls;
    await looksEnd();
    while (looked.mock.calls.length === length) await clock.advance(LOOK_INTERVAL);
    await looksEnd();
  }
}

const looksEnd = () => Promise.allSettled(looked.mock.results.map(({ value }) => value));

const sessionsAt = (place: Place) =>
  look<{ id: string; session: string | null }>(
    place,
    `SELECT id, session FROM ${place.schema}.instance ORDER BY started_at`,
  );

/** Cuts an instance's connections. Resolves once the server has ended its session. */
async function kill({ proxy }: Instance, place: Place, left: number): Promise<void> {
  proxy.cut();
  await gone(place, left);
}

/** Ends the listening connections of all instances, or of one. */
async function terminate(place: Place, id?: string): Promise<void> {
  await look(
    place,
    `SELECT pg_terminate_backend(split_part(session, ' ', 1)::integer) FROM ${place.schema}.instance
     WHERE $1::text IS NULL OR id = $1`,
    [id],
  );
}

/** Lets an instance connect again. Resolves once this many instances have a session. */
async function reconnect({ clock }: Instance, place: Place, instances: number): Promise<void> {
  const back = listening(place, instances).then(() => true);
  while (!(await Promise.race([back, clock.advance(0)])));
}

describe("the leases of an instance whose process has ended", () => {
  test("are free after two looks, and the run counts as a crash", async () => {
    const { place, one, other } = await two();
    await kill(one, place, 1);
    const topics: unknown[] = [];
    const timers: number[] = [];
    other.inbox.shared.onChange((topic) => topic && topics.push(topic));
    other.inbox.onTimersSet((inMs) => timers.push(inMs));
    await looks(other, 1);
    expect(await other.inbox.claim(1, LEASE)).toEqual([]);
    expect([topics, timers]).toEqual([[], []]);
    await looks(other, 1);
    // The dead instance's timers may be due, too.
    expect([topics, timers]).toEqual([["leader"], [0]]);
    expect(await other.inbox.claim(1, LEASE)).toMatchObject([{ id: "1", attempt: 2, crashes: 1 }]);
    expect(await other.inbox.shared.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 2 });
    expect(await other.inbox.shared.beat(HERE, undefined)).toBe(1);
    expect((await other.inbox.shared.report()).instances).toMatchObject([
      { id: other.inbox.shared.id },
    ]);
  });

  test("are free for an instance that starts afterwards", async () => {
    const place = await emptyPlace();
    const one = await start(place);
    await one.inbox.put(messages("1"), "webhook");
    await one.inbox.claim(1, LEASE);
    await kill(one, place, 0);
    const next = await start(place);
    await looks(next, 1);
    expect(await next.inbox.claim(1, LEASE)).toMatchObject([{ id: "1", attempt: 2 }]);
  });

  test("are free although it ended right after its first heartbeat", async () => {
    const place = await emptyPlace();
    const { inbox } = await start(place);
    expect(await sessionsAt(place)).toEqual([{ id: inbox.shared.id, session: expect.any(String) }]);
  });

  test("do not include the waits of lanes without a run", async () => {
    const { place, one, other } = await two();
    await one.inbox.put([message("2", "b")], "webhook");
    await one.inbox.retry(first(await one.inbox.claim(1, LEASE)), LEASE, "x");
    await look(place, `UPDATE ${place.schema}.event SET crashes = 2 WHERE id = '2'`);
    await kill(one, place, 1);
    await looks(other, 2);
    expect(await other.inbox.claim(10, LEASE)).toMatchObject([{ id: "1" }]);
  });

  test("include the lanes for whose suspects it had not decided yet which one runs", async () => {
    const { place, one, other } = await two();
    // A claim closes the lane of a suspect without an owner.
    await look(place, `UPDATE ${place.schema}.event SET crashes = 2`);
    await look(place, `UPDATE ${place.schema}.lane SET owner = NULL`);
    await kill(one, place, 1);
    await looks(other, 2);
    expect(await other.inbox.claim(1, LEASE)).toMatchObject([{ id: "1", attempt: 1, crashes: 2 }]);
  });
});

describe("the leases of an instance that may be running", () => {
  test("stay while its connections are frozen, as those of a suspended process are", async () => {
    const { one, other } = await two();
    one.proxy.freeze();
    await looks(other, 3);
    expect(await other.inbox.claim(1, LEASE)).toEqual([]);
  });

  test("stay if it connects again before the second look", async () => {
    const { place, one, other, claim } = await two();
    const [before] = await sessionsAt(place);
    await terminate(place, one.inbox.shared.id);
    await gone(place, 1);
    await looks(other, 1);
    await reconnect(one, place, 2);
    await looks(other, 3);
    expect(await other.inbox.claim(1, LEASE)).toEqual([]);
    expect(await one.inbox.complete(claim)).toBe(true);
    const [after] = await sessionsAt(place);
    expect(after?.id).toBe(before?.id);
    expect(after?.session).not.toBe(before?.session);
  });

  test("stay if it cannot connect again, but can still use the database", async () => {
    const { place, one, other, claim } = await two();
    one.proxy.refuse();
    await terminate(place, one.inbox.shared.id);
    while ((await sessionsAt(place))[0]?.session !== null);
    await looks(other, 3);
    expect(await other.inbox.claim(1, LEASE)).toEqual([]);
    expect(await one.inbox.complete(claim)).toBe(true);
  });

  test("stay if the server has restarted since it registered its session", async () => {
    const { place, one, other } = await two();
    await kill(one, place, 1);
    await look(
      place,
      `UPDATE ${place.schema}.instance SET session = split_part(session, ' ', 1) || ' 1' WHERE id = $1`,
      [one.inbox.shared.id],
    );
    await looks(other, 3);
    expect(await other.inbox.claim(1, LEASE)).toEqual([]);
  });

  test("stay if its version registers no session", async () => {
    const { place, one, other } = await two();
    await kill(one, place, 1);
    await look(place, `UPDATE ${place.schema}.instance SET session = NULL WHERE id = $1`, [
      one.inbox.shared.id,
    ]);
    await looks(other, 3);
    expect(await other.inbox.claim(1, LEASE)).toEqual([]);
  });

  test("stay if only one look was before the end of the other instance's own session", async () => {
    const { place, one, other } = await two();
    await kill(one, place, 1);
    await looks(other, 1);
    await terminate(place, other.inbox.shared.id);
    await gone(place, 0);
    await reconnect(other, place, 1);
    await looks(other, 3);
    expect(await other.inbox.claim(1, LEASE)).toEqual([]);
  });

  test("stay for as long as it may need to connect again, if all sessions have ended at once", async () => {
    const { place, one, other } = await two();
    one.proxy.cut();
    await terminate(place);
    await gone(place, 0);
    await reconnect(other, place, 1);
    await looks(other, 8);
    expect(await other.inbox.claim(1, LEASE)).toEqual([]);
    // Positive control: the instance never comes back.
    await looks(other, 4);
    expect(await other.inbox.claim(1, LEASE)).toMatchObject([{ id: "1", attempt: 2 }]);
  });
});

describe("an instance that was taken for dead", () => {
  async function takenOver() {
    const scene = await two();
    const { place, one, other } = scene;
    await kill(one, place, 1);
    await looks(other, 2);
    expect(await other.inbox.claim(1, LEASE)).toMatchObject([{ id: "1" }]);
    return scene;
  }

  test("can write nothing for the events that it had leased", async () => {
    const { one, claim } = await takenOver();
    one.proxy.mend();
    expect(await one.inbox.beginStep(claim, "reply/1", "hi")).toBeUndefined();
    expect(await one.inbox.complete(claim)).toBe(false);
  });

  test("is one of the instances again after its next heartbeat", async () => {
    const { place, one, other } = await takenOver();
    one.proxy.mend();
    await reconnect(one, place, 2);
    expect(await one.inbox.shared.beat(HERE, undefined)).toBe(2);
    expect(await sessionsAt(place)).toMatchObject([
      { id: other.inbox.shared.id, session: expect.any(String) },
      { id: one.inbox.shared.id, session: expect.any(String) },
    ]);
  });
});

test("a handler is aborted as soon as its instance is connected again after it was taken for dead", async () => {
  const place = await emptyPlace();
  const one = await start(place);
  const work = gate();
  let reason: unknown;
  const { clock } = harness(
    async ({ signal }) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      await work.pass();
    },
    { inbox: one.inbox, clock: one.clock, leaseMs: LEASE },
  );
  await one.inbox.put(messages("1"), "webhook");
  await work.entered;
  const other = await start(place);
  await kill(one, place, 1);
  await looks(other, 2);
  expect(await other.inbox.claim(1, LEASE)).toMatchObject([{ id: "1", attempt: 2 }]);
  expect(reason).toBeUndefined();
  one.proxy.mend();
  while (reason === undefined) await clock.advance(0);
  expect(reason).toMatchObject({ code: "LEASE_LOST" });
  work.open();
});
