import { expect, test } from "vitest";
import { expectAlerts, expectRunbook, hasPromtool } from "./alerts.ts";
import { NightShift, TEST_MS } from "./night.ts";

test.skipIf(!hasPromtool)(
  "the token is revoked: waiting events are handled with a new token",
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
    await night.expectDoctorFailure({
      area: "platform",
      what: expect.stringContaining("401"),
      remedy: expect.stringContaining("SERVICE_API_KEY"),
    });
    expect(await night.inbox("stats")).toMatchObject({ pending: 1, dead: 0 });

    const fired = await night.fires(async () => {
      await night.restart({ SERVICE_API_KEY: apiKey });
      await night.answered(refused);
    });
    expectAlerts(fired, "the token is revoked", [
      "ServiceBotBacklogOld",
      "ServiceBotLogUnread",
      "ServiceBotTokenRefused",
    ]);
    expect(await night.doctor()).toMatchObject({ code: 0 });
    expectRunbook("ServiceBotTokenRefused", [
      "SERVICE_API_KEY",
      "service-bot doctor",
      "service-bot inbox list",
    ]);
  },
);
