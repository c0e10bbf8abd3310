import { describe, expect, test } from "vitest";
import { messagesOf } from "../client/api.ts";
import { Client } from "../faces/client.ts";
import { Router } from "../faces/router.ts";
import { ManualClock } from "../faces/testing.ts";
import { run } from "../router/support.ts";
import { harness } from "./harness.ts";

const LANES = 50;
const SIMULATED_MS = 120_000;

/** Runs a handler that reads and then writes, on a platform that only responds to reads. */
async function scene(status: number): Promise<{ gets: number; posts: number; opened: number }> {
  const clock = new ManualClock(1_800_000_000_000);
  const seen = { gets: 0, posts: 0 };
  const client = new Client({
    retries: 0,
    baseUrl: "http://platform.test",
    apiKey: "key",
    clock,
    random: () => 0.5,
    fetch: async (_url, { method }) => {
      seen[method === "POST" ? "posts" : "gets"] += 1;
      if (method === "POST") return Response.json({ code: "RATE_LIMITED" }, { status });
      return Response.json({ items: [], nextCursor: null });
    },
  });
  const circuits = messagesOf(client, "circuit");
  const router = new Router();
  router.on("dm.message", async (ctx) => {
    await ctx.messages({ limit: 10 });
    await ctx.reply("hello");
  });
  const { inbox } = harness((job) => run(router, job, client), { clock, concurrency: 16 });
  await inbox.put(
    Array.from({ length: LANES }, (_, i) => message(String(i + 1))),
    "webhook",
  );
  for (let ms = 0; ms < SIMULATED_MS; ms += 500) await clock.advance(500);
  expect(await inbox.stats()).toMatchObject({ dead: 0, done: 0 });
  return { ...seen, opened: circuits.filter(({ open }) => open).length };
}

function message(id: string) {
  const payload = {
    conversationId: id,
    from: { userId: "u_1", username: "ada", name: "Ada" },
    excerpt: "hi",
  };
  const createdAt = "2027-01-15T08:00:00.000Z";
  return {
    id,
    lane: `dm:${id}`,
    ord: id.padStart(20, "0"),
    type: "dm.message",
    body: JSON.stringify({ id, type: "dm.message", createdAt, payload }),
  };
}

describe("a platform that answers reads and refuses writes", () => {
  test.each([429, 503])(
    "gets tens of writes in two minutes from fifty conversations: %i",
    async (status) => {
      const { posts, opened } = await scene(status);
      expect(posts).toBeGreaterThan(5);
      expect(posts).toBeLessThan(60);
      expect(opened).toBeLessThan(5);
    },
    30_000,
  );
});
