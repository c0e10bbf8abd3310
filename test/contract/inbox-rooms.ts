import { describe, expect, test } from "vitest";
import type { ClaimRooms, NewEvent } from "../faces/inbox.ts";
import { message } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

export function roomsContract(open: OpenInbox): void {
  describe("a claim within rooms", () => {
    const b = bench(open);
    const rooms = (others: number, byType: Readonly<Record<string, number>>): ClaimRooms => ({
      others,
      byType: new Map(Object.entries(byType)),
    });
    const of = (type: string, id: string, lane = id): NewEvent => ({ ...message(id, lane), type });
    const put = async (...events: readonly NewEvent[]) => {
      for (const event of events) {
        await b.inbox.put([event], "webhook");
        await b.clock.advance(1);
      }
    };
    const claimed = async (limit: number, within: ClaimRooms) =>
      (await b.inbox.claim(limit, LEASE, within)).map(({ id }) => id).sort();

    test("passes over lanes whose first event is of a type without room", async () => {
      await put(of("slow", "1"), of("slow", "2"), of("slow", "3"), of("other", "4"));
      expect(await claimed(2, rooms(5, { slow: 0 }))).toEqual(["4"]);
      expect(await claimed(2, rooms(5, { slow: -1 }))).toEqual([]);
      expect(await b.inbox.nextReadyIn()).toBe(0);
    });

    test("leaves those lanes as they are: no attempt is counted, and the oldest comes first", async () => {
      await put(of("slow", "1"), of("slow", "2"));
      expect(await claimed(2, rooms(5, { slow: 0 }))).toEqual([]);
      await put(of("slow", "0"));
      const [claim] = await b.inbox.claim(1, LEASE, rooms(5, { slow: 1 }));
      expect(claim).toMatchObject({ id: "1", attempt: 1, crashes: 0 });
    });

    test("takes as many of each type as there is room for, the oldest of them", async () => {
      await put(of("slow", "9"), of("slow", "2"), of("slow", "3"), of("other", "4"));
      await put(of("other", "5"), of("other", "6"));
      expect(await claimed(10, rooms(2, { slow: 1 }))).toEqual(["4", "5", "9"]);
      expect(await claimed(10, rooms(10, {}))).toEqual(["2", "3", "6"]);
    });

    test("never takes more than its limit", async () => {
      await put(of("slow", "1"), of("slow", "2"), of("other", "3"));
      expect(await claimed(2, rooms(5, { slow: 5 }))).toEqual(["1", "2"]);
    });

    test("looks at the first event of a lane alone", async () => {
      await put(of("slow", "1", "a"), of("other", "2", "a"), of("other", "3", "b"));
      await put(of("slow", "4", "b"));
      expect(await claimed(10, rooms(5, { slow: 0 }))).toEqual(["3"]);
    });

    test("counts the run of a lease that ran out once, however often its lane was passed over", async () => {
      await put(of("slow", "1"));
      await b.claim();
      await b.clock.advance(LEASE);
      expect(await claimed(1, rooms(5, { slow: 0 }))).toEqual([]);
      expect(await claimed(1, rooms(5, { slow: 0 }))).toEqual([]);
      expect(await b.inbox.claim(1, LEASE, rooms(5, { slow: 1 }))).toMatchObject([
        { id: "1", attempt: 2, crashes: 1 },
      ]);
    });
  });
}
