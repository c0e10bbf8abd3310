import { expect, test } from "vitest";
import { expectAlerts, expectRunbook, hasPromtool } from "./alerts.ts";
import { NightShift, TEST_MS } from "./night.ts";

test.skipIf(!hasPromtool)(
  "a poison event: the bot parks it, handles other events, and replies to it once the code is fixed",
  { timeout: TEST_MS },
  async () => {
    const night = await NightShift.begin();
    const poison = night.write("poison");
    await night.answered(night.write("and to me?", "ben"));
    const status = await night.until(
      ({ inbox }) => inbox?.deadLetters === 1 && inbox.pending === 0,
    );
    expect(status).toMatchObject({ ready: true, mode: "auditing", inbox: { pending: 0 } });
    await night.lookAtFault();
    expect(await night.doctor()).toMatchObject({ code: 0 });
    const listed = (await night.inbox("list")) as { events: { id: string }[] };
    expect(listed.events).toEqual([
      expect.objectContaining({
        attempts: 2,
        error: "TypeError: cannot read its name",
      }),
    ]);
    const id = listed.events[0]?.id ?? "";
    const shown = await night.inbox("show", id);
    expect(shown).toMatchObject({ history: [{ outcome: "failed" }, { outcome: "dead" }] });

    const fired = await night.fires(async () => {
      await night.restart({ HANDLER: "mended" });
      expect(await night.inbox("retry", id)).toMatchObject({ changed: 1 });
      await night.answered(poison);
    });
    expectAlerts(fired, "a poison event", ["ServiceBotDeadLetters"]);
    expectRunbook("ServiceBotDeadLetters", [
      "service-bot inbox list",
      "service-bot inbox show",
      "service-bot inbox retry",
      "service-bot inbox discard",
    ]);
  },
);
