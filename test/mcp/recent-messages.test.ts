import { expect, test } from "vitest";
import { RecentMessages } from "../../src/mcp/http/event-store.ts";

const message = (n: number, text = "") => ({ jsonrpc: "2.0", id: n, result: { text } }) as const;

async function replayed(store: RecentMessages, after: string): Promise<unknown[]> {
  const ids: unknown[] = [];
  await store.replayEventsAfter(after, {
    send: (_, sent) => {
      ids.push("id" in sent ? sent.id : undefined);
      return Promise.resolve();
    },
  });
  return ids;
}

test("the messages of a stream are given again, in order, and not those of others", async () => {
  const store = new RecentMessages();
  const first = await store.storeEvent("a", message(1));
  await store.storeEvent("b", message(2));
  await store.storeEvent("a", message(3));
  await store.storeEvent("a", message(4));
  expect(await replayed(store, first)).toEqual([3, 4]);
});

test("the last five hundred are kept; behind one that is forgotten nothing is given", async () => {
  const store = new RecentMessages();
  const ids: string[] = [];
  for (let n = 0; n < 501; n++) ids.push(await store.storeEvent("a", message(n)));
  const [forgotten = "", kept = ""] = ids;
  expect(await store.getStreamIdForEventId(forgotten)).toBeUndefined();
  await expect(replayed(store, forgotten)).rejects.toThrow("not known any more");
  expect(await replayed(store, kept)).toHaveLength(499);
});

test("a million characters are kept, and the last message always", async () => {
  const store = new RecentMessages();
  const large = "x".repeat(700_000);
  const first = await store.storeEvent("a", message(1, large));
  const second = await store.storeEvent("a", message(2, large));
  expect(await store.getStreamIdForEventId(first)).toBeUndefined();
  expect(await store.getStreamIdForEventId(second)).toBe("a");
  const huge = await store.storeEvent("a", message(3, large + large));
  expect(await store.getStreamIdForEventId(huge)).toBe("a");
});
