import { describe, expect, test } from "vitest";
import { type Claim, type NewEvent, untimedKey } from "../faces/inbox.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

const HOUR = 3_600_000;

/** An event of the author's own type, in the lane of the messages. */
function own(id: string): NewEvent {
  return { ...message(id), type: "order.paid", ord: untimedKey(id) };
}

export function latenessContract(open: OpenInbox): void {
  describe("lateness", () => {
    const b = bench(open);

    /** Handles events one after the other. Returns the ids of those that were late. */
    const handle = async (...events: readonly NewEvent[]): Promise<string[]> => {
      const late: string[] = [];
      for (const event of events) {
        await b.inbox.put([event], "webhook");
        const claim = await b.claim();
        if (claim.late) late.push(claim.id);
        await b.inbox.complete(claim);
      }
      return late;
    };

    test("is a matter of the platform's events: an own one is never late, and makes none late", async () => {
      const larger = [own("order:1"), own("zzz_1"), own("evt_99")];
      expect(await handle(message("evt_10"), ...larger, own("evt_1"))).toEqual([]);
      expect(await handle(...messages("evt_11", "evt_12"))).toEqual([]);
      expect(await handle(...messages("evt_9"))).toEqual(["evt_9"]);
    });

    test("of an own event that comes first in its lane, too", async () => {
      expect(await handle(own("order:2"), own("order:1"), message("evt_1"))).toEqual([]);
    });

    test.each([
      ["larger", "zzz_1"],
      ["smaller", "aaa_1"],
      ["shorter", "77"],
      ["longer", "0198c5a0-0000-7000-8000-000000000000"],
    ])("does not compare ids of another family, which sort as %s", async (_, id) => {
      expect(await handle(message("evt_10"), message(id), ...messages("evt_11"))).toEqual([]);
      expect(await handle(...messages("evt_12", "evt_9"))).toEqual(["evt_9"]);
    });

    test("ends a day after the larger id's event, however many events were late until then", async () => {
      await handle(...messages("evt_1000"));
      await b.clock.advance(12 * HOUR);
      expect(await handle(...messages("evt_5", "evt_6"))).toEqual(["evt_5", "evt_6"]);
      await b.clock.advance(12 * HOUR + 1);
      expect(await handle(...messages("evt_8", "evt_9"))).toEqual([]);
      expect(await handle(...messages("evt_7"))).toEqual(["evt_7"]);
    });

    test("lasts for an event that arrived in time, however long it waits", async () => {
      await b.inbox.put(messages("evt_1"), "webhook");
      await b.inbox.retry(await b.claim(), 0, "Error: boom");
      const running = await b.claim();
      await b.inbox.bury(running, "Error: boom");
      await handle(...messages("evt_2"));
      await b.clock.advance(48 * HOUR);
      await b.inbox.admin.retry("evt_1");
      expect(await b.claim()).toMatchObject({ id: "evt_1", late: true });
    });

    test("follows the same rules while a lane goes on", async () => {
      const batch = [...messages("evt_10", "evt_11"), own("order:1"), own("evt_99")];
      await b.inbox.put(batch, "webhook");
      const late: string[] = [];
      for (let claim: Claim | undefined = await b.claim(); claim !== undefined; ) {
        if (claim.late) late.push(claim.id);
        if (claim.id === "evt_11") await b.inbox.put(messages("evt_9", "evt_12"), "poll");
        claim = (await b.inbox.advance(claim)).next;
      }
      expect(late).toEqual(["evt_9"]);
      expect(await handle(...messages("evt_13"))).toEqual([]);
    });

    test("lasts in a lane that goes on for more than a day", async () => {
      await b.inbox.put(messages("evt_10", "evt_11", "evt_12"), "webhook");
      let claim = await b.claim();
      for (const id of ["evt_11", "evt_12"]) {
        for (let hours = 0; hours < 20; hours++) {
          await b.inbox.extend([claim], 2 * HOUR);
          await b.clock.advance(HOUR);
        }
        const { next } = await b.inbox.advance(claim);
        expect(next?.id).toBe(id);
        claim = next ?? claim;
      }
      await b.inbox.complete(claim);
      await b.inbox.put(messages("evt_9"), "poll");
      expect(await b.inbox.claim(1, LEASE)).toMatchObject([{ id: "evt_9", late: true }]);
    });
  });
}
