import type { Platform } from "../../../faces/platform.ts";

/**
 * Fills the platform with everything that a page can show: replies, failures, images, long words, faults, and a wrong
 * clock.
 */
export async function lively(
  platform: Platform,
): Promise<{ conversationId: string; eventId: string }> {
  const { control } = platform;
  const { conversationId = "", events } = control.act({
    type: "dm.message",
    from: "ada",
    text: "hello",
  });
  const [event] = events;
  await platform.waitFor("api", ({ text }) => text === "Hello Ada!");
  control.act({ type: "dm.message", from: "ben", text: "look at these", images: 2 });
  const gone = control.act({ type: "dm.message", from: "ben", text: "not this" });
  const { messageId = "" } = gone;
  control.deleteMessage(messageId);
  control.act({ type: "dm.message", from: "ada", text: `a long word: ${"x".repeat(300)}` });
  control.createGroup({ members: ["ada", "ben"], text: "who is here?" });
  const { postId = "" } = control.act({
    type: "post",
    from: "ada",
    text: "tea or coffee?",
    images: 1,
  });
  control.act({ type: "mention", from: "ben", postId, text: "@bot what do you say?" });
  for (const type of ["comment", "reply", "like", "repost", "quote", "follow", "poll.created"]) {
    control.act({ type, from: "ben" });
  }
  control.setFaults({
    webhook: { mode: "status", times: 1 },
    api: { mode: "status", times: 2, match: "write" },
  });
  const failing = control.act({ type: "dm.message", from: "ada", text: "does this fail?" });
  await platform.waitFor(
    "delivery",
    ({ eventIds, status }) => eventIds.includes(failing.events[0]?.id ?? "") && status === 200,
  );
  control.snapshots.take("before lunch");
  control.setLimits({ requestsPerMinute: 300, dmsPerDay: 1000 });
  control.setBlock({ by: "ben" });
  control.setBlock({ by: "ben", blocked: false });
  control.setBlock({ by: "ada" });
  control.apps.create({ username: "helper" });
  control.setFaults({ webhook: { mode: "twice" }, api: { mode: "mix", rate: 0.3 } });
  control.clock.set({ advanceMs: 600_000, frozen: true });
  return { conversationId, eventId: event?.id ?? "" };
}
