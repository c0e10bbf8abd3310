import { expect, onTestFinished, test } from "vitest";
import { SmallDisk } from "../../faults/driver/disk.ts";
import { expectAlerts, expectRunbook, hasPromtool } from "./alerts.ts";
import { NightShift, TEST_MS } from "./night.ts";

/** `undefined` if this process may not mount a disk. */
const disk = hasPromtool ? SmallDisk.mount(64) : undefined;

test.skipIf(disk === undefined)(
  "the disk is full: deliveries are refused until there is room",
  { timeout: TEST_MS },
  async () => {
    if (disk === undefined) return;
    onTestFinished(() => disk.unmount());
    const night = await NightShift.begin({ disableAfter: 1_000 }, disk.folder);
    // Close the bot's files before the disk is unmounted.
    onTestFinished(() => night.end());
    disk.fill();
    const refused = night.write("is there room?");
    await night.platform.waitFor("delivery", ({ status }) => status === 503);
    const status = await night.status();
    expect(status).toMatchObject({ inbox: { pending: 0, deadLetters: 0 } });
    await night.lookAtFault();
    await night.expectDoctorFailure({
      area: "database",
      what: expect.stringContaining("free"),
      remedy: expect.any(String),
    });
    expect(await night.inbox("stats")).toMatchObject({ pending: 0, dead: 0 });

    const fired = await night.fires(async () => {
      disk.free();
      await night.answered(refused);
    });
    expectAlerts(fired, "the disk is full", [
      "ServiceBotDiskFilling",
      "ServiceBotLogUnread",
      "ServiceBotStoreFailing",
    ]);
    expectRunbook("ServiceBotStoreFailing", ["df -h", "service-bot doctor"]);
  },
);
