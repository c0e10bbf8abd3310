import { expect, test } from "vitest";
import { effectToConfirm, KEYS, perform } from "../faces/cli.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";

test("keys write, mention, like, replay, break the next delivery and switch the webhook", async () => {
  const platform = await runPlatform({ retryIntervalMs: 50 });
  const { bot } = await runBot(platform, () => undefined);
  const said: string[] = [];
  const opened: string[] = [];
  let quits = 0;
  let clears = 0;
  const options = {
    platform,
    say: (line: string) => said.push(line),
    quit: () => quits++,
    open: (url: string) => Promise.resolve(opened.push(url) === 1),
    clear: () => clears++,
    showLine: () => undefined,
  };
  const press = (key: string) => perform({ kind: "press", key }, options);
  await press("r");
  expect(said[0]).toContain("press d first");
  await perform({ kind: "send", key: "d", text: "how are you?" }, options);
  await perform({ kind: "send", key: "m", text: "what about you?" }, options);
  await press("l");
  expect(platform.control.events()).toMatchObject([
    { type: "dm.message", payload: { excerpt: "how are you?" } },
    { type: "mention", payload: { excerpt: expect.stringContaining("what about you?") } },
    { type: "like" },
  ]);
  await press("r");
  await platform.waitFor("delivery", ({ forced, status }) => forced && status === 200);
  expect(effectToConfirm("f", platform)).toBeDefined();
  await press("f");
  expect(platform.control.faults.webhook).toMatchObject({ mode: "status", times: 1 });
  expect(effectToConfirm("w", platform)).toBeDefined();
  await press("w");
  expect(platform.control.webhook.enabled).toBe(false);
  expect(effectToConfirm("w", platform)).toBeUndefined();
  await press("w");
  expect(platform.control.webhook.enabled).toBe(true);
  for (const _ of ["opens", "cannot"]) await press("o");
  expect(opened).toEqual([platform.portalUrl, platform.portalUrl]);
  expect(said.at(-1)).toContain(`The portal is at ${platform.portalUrl}`);
  for (const key of ["?", "h"]) await press(key);
  expect(said.slice(2)).toEqual([KEYS, KEYS]);
  await perform({ kind: "clear" }, options);
  await press("q");
  await press("x");
  expect({ quits, clears }).toEqual({ quits: 1, clears: 1 });
  await bot.idle();
});
