import { expect, test } from "vitest";
import { Client } from "../faces/client.ts";
import { SharedBreakers } from "../faces/instances.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { running, twoInboxes, until } from "./support.ts";

const TRIAL = 12_000;

/** Two instances with a client each, and a platform that answers as it is told. */
async function scene() {
  const clock = new ManualClock(1_800_000_000_000);
  const inboxes = await twoInboxes(clock);
  const platform = {
    calls: 0,
    respond: (): Response | Promise<Response> => Response.json({}, { status: 503 }),
  };
  const make = async (shared: (typeof inboxes)[number]["shared"]) => {
    const breakers = new SharedBreakers({ shared, log: logSink().log, trialMs: TRIAL });
    const client = new Client(
      {
        baseUrl: "http://platform.test",
        apiKey: "key",
        retries: 0,
        clock,
        random: () => 1,
        fetch: async () => {
          platform.calls += 1;
          return await platform.respond();
        },
      },
      { breakers },
    );
    await running(breakers);
    return client;
  };
  const [a, b] = [await make(inboxes[0].shared), await make(inboxes[1].shared)];
  const open = async () => await inboxes[0].shared.circuits.list();
  return { clock, inbox: inboxes[0], platform, a, b, open };
}

const codeOf = async (request: Promise<unknown>) =>
  await request.then(
    () => "ok",
    (error: { code?: string }) => error.code,
  );

/** Until the other instance has heard that requests are held back. */
async function heldBack({ inbox, platform }: Awaited<ReturnType<typeof scene>>, client: Client) {
  const { respond } = platform;
  platform.respond = () => Response.json({ username: "bot" });
  await until(inbox, async () => (await codeOf(client.me())) === "API_CIRCUIT_OPEN");
  platform.respond = respond;
}

const well = () => Response.json({ username: "bot" });

test("what one instance opens holds back the requests of the other, which never failed", async () => {
  const all = await scene();
  for (let i = 0; i < 5; i++) await codeOf(all.a.me());
  await heldBack(all, all.b);
  const { calls } = all.platform;
  expect(await codeOf(all.b.me())).toBe("API_CIRCUIT_OPEN");
  expect(all.platform.calls).toBe(calls);
});

test("one instance tries at a time, and its answer lets all go on", async () => {
  const all = await scene();
  const { a, b, clock, platform, inbox, open } = all;
  for (let i = 0; i < 5; i++) await codeOf(a.me());
  await heldBack(all, b);
  await clock.advance(1_000);
  const trial = Promise.withResolvers<Response>();
  platform.respond = () => trial.promise;
  platform.calls = 0;
  let refused = 0;
  const requests = [a.me(), b.me(), a.me(), b.me()].map(async (request) => {
    const code = await codeOf(request);
    if (code !== "ok") refused += 1;
    return code;
  });
  // Whoever asks once the trial is over may go on.
  await until(inbox, () => platform.calls > 0 && refused === 3);
  trial.resolve(well());
  expect((await Promise.all(requests)).sort()).toEqual([
    "API_CIRCUIT_OPEN",
    "API_CIRCUIT_OPEN",
    "API_CIRCUIT_OPEN",
    "ok",
  ]);
  expect(platform.calls).toBe(1);
  platform.respond = well;
  await until(inbox, async () => (await open()).length === 0);
  for (const client of [a, b]) {
    await until(inbox, async () => (await codeOf(client.me())) === "ok");
  }
});

test("a trial whose instance is gone is another one's after its time", async () => {
  const all = await scene();
  const { a, b, clock, platform, inbox } = all;
  for (let i = 0; i < 5; i++) await codeOf(a.me());
  await heldBack(all, b);
  await clock.advance(1_000);
  expect(await inbox.shared.circuits.claim("platform", TRIAL)).toEqual({ kind: "granted" });
  platform.respond = well;
  expect(await codeOf(b.me())).toBe("API_CIRCUIT_OPEN");
  await clock.advance(TRIAL);
  expect(await codeOf(b.me())).toBe("ok");
});

test("an instance that starts later respects what is open", async () => {
  const all = await scene();
  for (let i = 0; i < 5; i++) await codeOf(all.a.me());
  await until(all.inbox, async () => (await all.open()).length > 0);
  const opened: string[] = [];
  const breakers = new SharedBreakers({
    shared: all.inbox.shared,
    log: logSink().log,
    trialMs: TRIAL,
  });
  breakers.onMove((name, state) => state && opened.push(name));
  await running(breakers);
  expect(opened).toEqual(["platform"]);
});
