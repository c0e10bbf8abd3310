import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { Listing } from "../faces/client.ts";
import { clientOver, json, rejection, serve } from "./api.ts";

interface Item {
  readonly id: string;
  readonly text: string;
}

interface Answer {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const item = (id: string): Item => ({ id, text: "hi" });

/** Creates a client whose feed serves pages by cursor. The cursor of the first page is "". */
function feedOf(pageAt: (cursor: string) => Answer) {
  const asked: string[] = [];
  const client = clientOver(async (url) => {
    const { searchParams } = new URL(url);
    asked.push(searchParams.toString());
    return Response.json(pageAt(searchParams.get("cursor") ?? ""));
  });
  return { client, asked };
}

function threePages() {
  const pages: Record<string, Answer> = {
    "": { items: [item("1"), item("2")], nextCursor: "b" },
    b: { items: [item("3"), item("4")], nextCursor: "c" },
    c: { items: [item("5"), item("6")], nextCursor: null },
  };
  return feedOf((cursor) => pages[cursor] ?? { items: [], nextCursor: null });
}

async function idsOf(items: AsyncIterable<Item>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of items) ids.push(id);
  return ids;
}

describe("a listing", () => {
  test("asks for nothing until it is used", async () => {
    const { client, asked } = threePages();
    client.feed();
    client.feed().pages();
    await Promise.resolve();
    expect(asked).toEqual([]);
  });

  test("awaited is its first page, asked for once", async () => {
    const { client, asked } = threePages();
    const listing = client.feed({ limit: 2 });
    expect(await listing).toMatchObject({ items: [{ id: "1" }, { id: "2" }], nextCursor: "b" });
    expect(await listing).toBe(await listing);
    expect(asked).toEqual(["limit=2"]);
  });

  test("works as a promise", async () => {
    const { client } = threePages();
    expect(client.feed()).toBeInstanceOf(Listing);
    const [page] = await Promise.all([client.feed()]);
    expect(page.items).toHaveLength(2);
    let ended = 0;
    const bad = client.feed({ limit: 0 });
    expect(await bad.catch(() => "caught")).toBe("caught");
    await client.feed().finally(() => {
      ended += 1;
    });
    expect(ended).toBe(1);
    expect(String(client.feed())).toBe("[object Listing]");
  });

  test("iterated is every item, page after page", async () => {
    const { client, asked } = threePages();
    expect(await idsOf(client.feed({ limit: 2 }))).toEqual(["1", "2", "3", "4", "5", "6"]);
    expect(asked).toEqual(["limit=2", "limit=2&cursor=b", "limit=2&cursor=c"]);
  });

  test("goes page after page, from the cursor it was given", async () => {
    const { client } = threePages();
    const sizes: number[] = [];
    for await (const { items } of client.feed({ cursor: "b" }).pages()) sizes.push(items.length);
    expect(sizes).toEqual([2, 2]);
  });

  test("asks for no page that the loop does not get to", async () => {
    const { client, asked } = threePages();
    for await (const { id } of client.feed()) if (id === "2") break;
    expect(asked).toHaveLength(1);
    for await (const _page of client.feed().pages()) break;
    expect(asked).toHaveLength(2);
  });

  test("can be iterated again, from its beginning", async () => {
    const { client } = threePages();
    const listing = client.feed();
    expect(await idsOf(listing)).toEqual(await idsOf(listing));
  });

  test("that fails on the way fails the loop, with what came before", async () => {
    const { client } = feedOf((cursor) => {
      if (cursor !== "") throw new TypeError("fetch failed");
      return { items: [item("1")], nextCursor: "b" };
    });
    const seen: string[] = [];
    const error = await rejection(
      (async () => {
        for await (const { id } of client.feed()) seen.push(id);
      })(),
    );
    expect(error).toMatchObject({ code: "API_UNREACHABLE" });
    expect(seen).toEqual(["1"]);
  });

  test("ends with the reason of its signal", async () => {
    const { client, asked } = threePages();
    const controller = new AbortController();
    const reason = new Error("enough");
    const error = await rejection(
      (async () => {
        for await (const { id } of client.feed({ signal: controller.signal }))
          if (id === "2") controller.abort(reason);
      })(),
    );
    expect(error).toBe(reason);
    expect(asked).toHaveLength(1);
  });
});

describe("limit", () => {
  test.each([1, 50])("%i is sent", async (limit) => {
    const { client, asked } = threePages();
    await client.feed({ limit });
    expect(asked).toEqual([`limit=${limit}`]);
  });

  test.each([0, 51, 1.5, -1, Number.NaN])(
    "%d is refused before anything is sent",
    async (limit) => {
      const { client, asked } = threePages();
      const refused = {
        code: "INVALID_OPTION",
        message: `limit must be a whole number from 1 to 50 (got ${limit}).`,
      };
      const options = { limit };
      for (const listing of [
        client.feed(options),
        client.dms.conversations(options),
        client.dms.messages("c_1", options),
        client.posts.comments("p_1", options),
        client.search({ text: "hi" }, options),
      ]) {
        expect(await rejection(listing)).toMatchObject(refused);
        expect(await rejection(listing.pages().next())).toMatchObject(refused);
      }
      expect(await rejection(client.events(options))).toMatchObject(refused);
      expect(asked).toEqual([]);
    },
  );
});

describe("an endless cursor is reported after this many requests", () => {
  const endless = { code: "API_INVALID_RESPONSE", message: expect.stringContaining("not end") };

  test.each([1, 2, 3, 4, 5])("a circle of %i pages", async (length) => {
    // Two pages come before the cycle.
    const { client, asked } = feedOf((cursor) => {
      const at = Number(cursor === "" ? 0 : cursor);
      const next = at + 1 < 2 + length ? at + 1 : 2;
      return { items: [item(cursor)], nextCursor: String(next) };
    });
    expect(await rejection(idsOf(client.feed()))).toMatchObject(endless);
    expect(asked.length).toBeLessThanOrEqual(20);
  });

  test("ever new cursors of empty pages", async () => {
    const { client, asked } = feedOf((cursor) => ({ items: [], nextCursor: `${cursor}x` }));
    expect(await rejection(idsOf(client.feed()))).toMatchObject(endless);
    expect(asked).toHaveLength(101);
  });

  test("and a long listing is none", async () => {
    const { client } = feedOf((cursor) => {
      const at = Number(cursor === "" ? 0 : cursor);
      // Every other page is empty, as can happen in a filtered feed.
      const items = at % 2 === 0 ? [item(String(at))] : [];
      return { items, nextCursor: at < 1_000 ? String(at + 1) : null };
    });
    expect(await idsOf(client.feed())).toHaveLength(501);
  });

  test("and a long listing keeps none of its cursors but the last few", async () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const heap = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    let read = 0;
    const page = async () => {
      const nextCursor = Buffer.alloc(100_000, "x").toString("latin1").concat(String(read++));
      return { items: ["item"], nextCursor };
    };
    for await (const _ of new Listing(page, undefined, "feed")) {
      if (read < 300) continue;
      expect(heap() - before).toBeLessThan(10_000_000);
      break;
    }
  });

  test("over HTTP as well", async () => {
    const { client, calls } = await serve(json(200, { items: [], nextCursor: "same" }));
    expect(await rejection(idsOf(client.feed()))).toMatchObject(endless);
    expect(calls).toHaveLength(2);
  });
});
