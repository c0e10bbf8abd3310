import { describe, expect, onTestFinished, test } from "vitest";
import type { Inbox, RestoreMark } from "../faces/inbox.ts";
import { first } from "../support/first.ts";
import { messages } from "../support/inbox-events.ts";

const LEASE = 30_000;

/** Returns a mark old enough that no request made before it can still be running. */
export const markNow = (): RestoreMark => ({ at: Date.now() - 60_000 });

export interface RestorableStore {
  open(): Promise<Inbox>;
  restored(mark: RestoreMark): Promise<unknown>;
}

export function restoredTwiceContract(name: string, make: () => Promise<RestorableStore>): void {
  describe(`an inbox in ${name} that is restored once more`, () => {
    test("does not trust what the backup knew to have come to nothing, and keeps all else", async () => {
      const store = await make();
      await (await store.open()).close();
      await store.restored(markNow());
      const before = await store.open();
      await before.put(messages("1"), "webhook");
      const claim = first(await before.claim(1, LEASE));
      await before.beginStep(claim, "done", "a");
      await before.finishStep(claim, "done", "1");
      await before.beginStep(claim, "nothing", "b");
      await before.dropStep(claim, "nothing");
      await before.beginStep(claim, "open", "c");
      await before.bury(claim, "x");
      await before.close();
      await store.restored(markNow());
      const inbox = await store.open();
      onTestFinished(() => inbox.close());
      await inbox.admin.retry("1");
      const again = first(await inbox.claim(1, LEASE));
      expect(await inbox.beginStep(again, "nothing", "b")).toEqual({ state: "new" });
      expect(await inbox.beginStep(again, "done", "a")).toMatchObject({ state: "done" });
      expect(await inbox.beginStep(again, "open", "d")).toMatchObject({
        state: "open",
        request: "c",
      });
    });
  });
}
