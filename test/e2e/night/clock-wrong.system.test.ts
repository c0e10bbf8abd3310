import { expect, test } from "vitest";
import { documented, hasPromtool, runbook } from "./alerts.ts";
import { NightShift, TEST_MS } from "./night.ts";

test.skipIf(!hasPromtool)(
  "the clock is wrong: signatures are refused, and polling takes over",
  { timeout: TEST_MS },
  async () => {
    const night = await NightShift.begin();
    const { control } = night.platform;
    // The platform's clock is moved, for a test must not touch that of the machine.
    control.clock.set({ advanceMs: 600_000 });
    const lost = night.write("what time is it?");
    await night.platform.waitFor("webhook", ({ change }) => change === "disabled");
    await night.answered(lost);
    await night.until(({ mode }) => mode === "polling");
    await night.lookAtFault();
    const { code, findings } = await night.doctor();
    expect(code).toBe(1);
    expect(findings).toContainEqual({
      area: "clock",
      level: "fail",
      what: expect.stringMatching(
        /^the clock is \d+ s behind the platform's, so every signature is refused$/,
      ),
      remedy: "Let NTP set the clock of this machine.",
    });
    expect(await night.inbox("stats")).toMatchObject({ pending: 0, dead: 0 });

    const fired = await night.fires(async () => {
      control.clock.set({ now: new Date().toISOString() });
      night.saveWebhook();
      await night.answered(night.write("and now?"));
    });
    expect(fired).toEqual({
      calm: [],
      fault: ["ServiceBotClockWrong", "ServiceBotPolling", "ServiceBotSignaturesRefused"],
      mended: [],
    });
    expect(documented("the clock is wrong")).toEqual(fired.fault);
    const page = runbook("ServiceBotClockWrong");
    for (const word of ["timedatectl", "service-bot doctor"]) expect(page).toContain(word);
  },
);
