import { describe, expect, onTestFinished, test } from "vitest";
import type { Inbox, Shared } from "../faces/inbox.ts";
import { Metrics, readStatus } from "../faces/observe.ts";
import { gaugeSources } from "./gauge-sources.ts";

const measures = { pending: 7, dead: 2, oldestPendingAt: undefined, disk: undefined };
const report = { instances: [], poller: undefined, endedLastMinute: 3 };
const refused = () => Promise.reject(new Error("canceling statement due to statement timeout"));

function sourcesOf(answers: {
  readonly measure?: Inbox["measure"];
  readonly report?: Shared["report"];
}) {
  const shared: Pick<Shared, "id" | "report"> = {
    id: "a",
    report: answers.report ?? (async () => report),
  };
  return gaugeSources({
    measure: answers.measure ?? (async () => measures),
    shared: shared as Shared,
  });
}

describe("a status", () => {
  test("has the inbox without the instances, if their query alone fails", async () => {
    const status = await readStatus(sourcesOf({ report: refused }));
    expect(status).toMatchObject({ inbox: { pending: 7, deadLetters: 2 }, instances: undefined });
  });

  test("has the instances without the inbox, if its query alone fails", async () => {
    const status = await readStatus(sourcesOf({ measure: refused }));
    expect(status).toMatchObject({
      inbox: undefined,
      instances: { self: "a", endedLastMinute: 3 },
    });
  });
});

describe("the store", () => {
  test.each([
    ["is up after both answers", {}, "1", "7"],
    ["is not up if the measures fail", { measure: refused }, "0", "Nan"],
    ["is not up if the report on the instances fails", { report: refused }, "0", "Nan"],
  ])("%s", async (_name, answers, up, pending) => {
    const metrics = new Metrics({}, false);
    onTestFinished(() => metrics.close());
    metrics.watch(sourcesOf(answers));
    const lines = (await metrics.text()).split("\n");
    expect(lines).toContain(`service_bot_store_up ${up}`);
    expect(lines).toContain(`service_bot_ready ${up}`);
    expect(lines).toContain(`service_bot_events_pending ${pending}`);
  });
});
