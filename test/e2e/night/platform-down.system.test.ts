import { expect, test } from "vitest";
import { expectAlerts, expectRunbook, hasPromtool } from "./alerts.ts";
import { NightShift, TEST_MS } from "./night.ts";

test.skipIf(!hasPromtool)(
  "the platform is down: events wait until it is back",
  { timeout: TEST_MS },
  async () => {
    const night = await NightShift.begin();
    night.platform.control.setFaults({ api: { mode: "status", status: 503 } });
    const waiting = night.write("are you there?");
    const status = await night.until(
      ({ inbox, log }) => inbox?.pending === 1 && log?.lastPollError !== null,
    );
    expect(status).toMatchObject({
      ready: true,
      inbox: { pending: 1, deadLetters: 0 },
      // Either the read itself gets the 503, or failures of other calls have already opened the circuit.
      log: { lastPollError: { code: expect.stringMatching(/^API_(ERROR|CIRCUIT_OPEN)$/) } },
    });
    await night.lookAtFault();
    await night.expectDoctorFailure({
      area: "platform",
      what: expect.stringContaining("503"),
      remedy: expect.any(String),
    });
    expect(await night.inbox("stats")).toMatchObject({ pending: 1, dead: 0 });
    const { events } = (await night.inbox("list", "--state", "pending")) as { events: object[] };
    expect(events).toHaveLength(1);

    const fired = await night.fires(async () => {
      night.platform.control.setFaults({ api: { mode: "none" } });
      await night.answered(waiting);
    });
    expectAlerts(fired, "the platform is down", [
      "ServiceBotBacklogOld",
      "ServiceBotLogUnread",
      "ServiceBotPlatformDown",
    ]);
    expect(await night.doctor()).toMatchObject({ code: 0 });
    expectRunbook("ServiceBotPlatformDown", ["service-bot doctor"]);
  },
);
