import { expect, test } from "vitest";
import { expectAlerts, expectRunbook, hasPromtool } from "./alerts.ts";
import { NightShift, TEST_MS } from "./night.ts";

test.skipIf(!hasPromtool)(
  "the clock is wrong: signatures are rejected, and polling takes over",
  { timeout: TEST_MS },
  async () => {
    const night = await NightShift.begin();
    const { control } = night.platform;
    // Change the platform's clock, because a test must not change the machine's clock.
    control.clock.set({ advanceMs: 600_000 });
    const lost = night.write("what time is it?");
    await night.platform.waitFor("webhook", ({ change }) => change === "disabled");
    await night.answered(lost);
    await night.until(({ mode }) => mode === "polling");
    await night.lookAtFault();
    await night.expectDoctorFailure({
      area: "clock",
      what: expect.stringMatching(/\d+ s behind/),
      remedy: expect.stringContaining("NTP"),
    });
    expect(await night.inbox("stats")).toMatchObject({ pending: 0, dead: 0 });

    const fired = await night.fires(async () => {
      control.clock.set({ now: new Date().toISOString() });
      night.saveWebhook();
      await night.answered(night.write("and now?"));
    });
    expectAlerts(fired, "the clock is wrong", [
      "ServiceBotClockWrong",
      "ServiceBotPolling",
      "ServiceBotSignaturesRefused",
    ]);
    expectRunbook("ServiceBotClockWrong", ["timedatectl", "service-bot doctor"]);
  },
);
