import { Session } from "node:inspector/promises";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Bot, sign } from "../../src/index.ts";
import { listenTo } from "../support/channels.ts";
import { message } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { API_KEY, SECRET } from "../support/world/in-process.ts";
import { documentedBlock } from "./markdown.ts";

/** Maximum number of files that pass an event on. */
const MAX_FILES = 30;

const src = new URL("../../src/", import.meta.url).href;

test("an event with one reply runs the files of the road in CONTRIBUTING.md, and no other", async () => {
  const road = filesIn(documentedBlock("CONTRIBUTING.md", "road"));
  const beside = filesIn(documentedBlock("CONTRIBUTING.md", "beside-the-road"));
  const ran = await filesOfReply();
  expect(ran.filter((file) => !file.startsWith("core/"))).toEqual([...road, ...beside].sort());
  expect(road.length).toBeLessThanOrEqual(MAX_FILES);
});

/** Finds `a/b.ts` and `a/{b,c}.ts`. */
function filesIn(block: string): string[] {
  return [...block.matchAll(/((?:[a-z]+\/)*)(?:\{([a-z,-]+)\}|([a-z-]+))\.ts/g)].flatMap(
    ([, folder = "", several, one = ""]) => {
      const names = several?.split(",") ?? [one];
      return names.map((name) => `${folder}${name}.ts`);
    },
  );
}

/** Returns the source files whose functions run for an event with one reply. */
async function filesOfReply(): Promise<string[]> {
  const bot = new Bot({
    env: {},
    baseUrl: "http://platform.test",
    apiKey: API_KEY,
    webhookSecret: SECRET,
    databaseUrl: `file:${temporaryFolder()}/bot.db`,
    port: 0,
    logger: logSink().log,
    fetch: (_url, { method }) => Promise.resolve(method === "POST" ? sent() : nothing()),
  });
  bot.on("dm.message", (ctx) => ctx.reply("pong"));
  await bot.start({ standalone: false });
  onTestFinished(() => bot.stop());
  const url = `${bot.url}/webhook`;
  const deliveries = ["evt_2", "evt_3", "evt_4"].map(delivery);
  const ran: string[][] = [];
  for (const request of deliveries) ran.push(await filesDuring(() => handled(bot, url, request)));
  // A background task may run during one event, but not during both.
  const [, first = [], second = []] = ran;
  return first.filter((file) => second.includes(file));
}

const nothing = () => Response.json({ username: "bot", events: [], cursor: "evt_1" });

function sent(): Response {
  const fields = { id: "m_1", conversationId: "c1", createdAt: "2026-01-01T00:00:00.000Z" };
  return Response.json(fields, { status: 201 });
}

function delivery(id: string): RequestInit {
  const body = `{"events":[${message(id).body}]}`;
  const headers = { "x-service-signature": sign(body, SECRET, Date.now() / 1000) };
  return { method: "POST", body, headers };
}

/** Delivers an event, and waits until its run has ended. */
async function handled(bot: Bot, url: string, request: RequestInit): Promise<void> {
  const ended = new Promise((run) => listenTo(bot, { run }));
  const { status } = await fetch(url, request);
  expect(status).toBe(200);
  await ended;
  await turn();
}

/** Returns the files whose functions run during `work`, relative to `src/`. */
async function filesDuring(work: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await work();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const ran = result.filter(({ url, functions }) => {
    return url.startsWith(src) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
  });
  return ran.map(({ url }) => url.slice(src.length)).sort();
}
