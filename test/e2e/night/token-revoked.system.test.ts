import { expect, test } from "vitest";
import { documented, hasPromtool, runbook } from "./alerts.ts";
import { NightShift, TEST_MS } from "./night.ts";

test.skipIf(!hasPromtool)(
  "the token is revoked: what waited is answered with a new one",
  { timeout: TEST_MS },
  async () => {
    const night = await NightShift.begin();
    const { control } = night.platform;
    const { apiKey } = control.createToken(["read", "dm", "posts:write", "comments:write"]);
    const others = control.apps.tokens().filter(({ lastFour }) => !apiKey.endsWith(lastFour));
    for (const { id } of others) control.apps.revokeToken(id);
    const refused = night.write("who are you?");
    const status = await night.until(
      ({ inbox, log }) => inbox?.pending === 1 && (log?.lastPollError ?? null) !== null,
    );
    expect(status).toMatchObject({ ready: true, log: { lastPollError: { status: 401 } } });
    await night.lookAtFault();
    const { code, findings } = await night.doctor();
    expect(code).toBe(1);
    expect(findings).toContainEqual({
      area: "platform",
      level: "fail",
      what: expect.stringContaining("401"),
      remedy: "Set SERVICE_API_KEY to the bot's token from the developer portal.",
    });
    expect(await night.inbox("stats")).toMatchObject({ pending: 1, dead: 0 });

    const fired = await night.fires(async () => {
      await night.restart({ SERVICE_API_KEY: apiKey });
      await night.answered(refused);
    });
    expect(fired).toEqual({
      calm: [],
      fault: ["ServiceBotBacklogOld", "ServiceBotLogUnread", "ServiceBotTokenRefused"],
      mended: [],
    });
    expect(documented("the token is revoked")).toEqual(fired.fault);
    expect(await night.doctor()).toMatchObject({ code: 0 });
    const page = runbook("ServiceBotTokenRefused");
    for (const word of ["SERVICE_API_KEY", "service-bot doctor", "service-bot inbox list"]) {
      expect(page).toContain(word);
    }
  },
);
