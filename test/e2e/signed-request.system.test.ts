import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { documentedBlock } from "../docs/markdown.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";

const run = promisify(execFile);

async function status(script: string, url: string, secret: string): Promise<string> {
  const here = script.replace("http://127.0.0.1:3000", url);
  expect(here).not.toBe(script);
  const { stdout } = await run("bash", ["-euc", here], { env: { ...process.env, SECRET: secret } });
  return stdout.split("\n", 1)[0]?.trim() ?? "";
}

test("the documented request, signed with openssl and sent with curl, gets 200, and 401 if one byte is changed", async () => {
  const platform = await runPlatform();
  const handled = Promise.withResolvers<string>();
  const { bot } = await runBot(platform, (b) => {
    b.on("follow", (ctx) => handled.resolve(ctx.event.id));
  });
  const url = bot.url ?? "";
  const script = documentedBlock("docs/deploy/overview.md", "signed-request");
  expect(await status(script, url, platform.webhookSecret)).toContain("200");
  expect(await handled.promise).toBe("evt_by_hand");
  const changed = script.replace(
    '--data-binary "$BODY"',
    '--data-binary "$(printf %s "$BODY" | sed s/ada/adb/)"',
  );
  expect(changed).not.toBe(script);
  expect(await status(changed, url, platform.webhookSecret)).toContain("401");
});
