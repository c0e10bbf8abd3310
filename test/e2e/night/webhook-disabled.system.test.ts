import { expect, test } from "vitest";
import { expectAlerts, expectRunbook, hasPromtool } from "./alerts.ts";
import { DISABLE_AFTER, NightShift, TEST_MS } from "./night.ts";

test.skipIf(!hasPromtool)(
  "the webhook is disabled: polling takes over until it is saved again",
  { timeout: TEST_MS },
  async () => {
    const night = await NightShift.begin();
    const { control } = night.platform;
    control.setFaults({ webhook: { mode: "status", status: 502, times: DISABLE_AFTER } });
    const lost = night.write("did you get it?");
    await night.platform.waitFor("webhook", ({ change }) => change === "disabled");
    await night.answered(lost);
    const status = await night.until(({ mode }) => mode === "polling");
    expect(status).toMatchObject({
      ready: true,
      modeReason: expect.stringContaining("did not arrive by webhook"),
      inbox: { pending: 0, deadLetters: 0 },
    });
    // The bot itself is healthy, so the doctor also succeeds for the URL set in the portal.
    await night.lookAtFault();
    const { code, findings } = await night.doctor("--webhook", `${night.url}/webhook`);
    expect(code).toBe(0);
    expect(findings).toContainEqual(
      expect.objectContaining({
        area: "bot",
        what: expect.stringContaining("polling"),
      }),
    );
    expect(await night.inbox("stats")).toMatchObject({ pending: 0, dead: 0 });

    const fired = await night.fires(async () => {
      night.saveWebhook();
      await night.answered(night.write("and now?"));
    });
    expectAlerts(fired, "the webhook is disabled", ["ServiceBotPolling"]);
    expectRunbook("ServiceBotPolling", ["modeReason", "service-bot doctor --webhook", "portal"]);
  },
);
