import { describe, expect, test } from "vitest";
import { controlClient } from "../../faces/cli.ts";
import { type Operation, operations } from "../../faces/platform.ts";
import { act, runPlatform } from "../support/platform.ts";

/** Starts a platform with some content. */
async function start() {
  const platform = await runPlatform();
  const { conversationId = "", events } = act(platform, "dm.message");
  act(platform, "comment");
  platform.control.setBlock({ by: "ben" });
  platform.control.apps.create({ username: "helper" });
  platform.control.snapshots.take("first");
  const eventId = events[0]?.id ?? "";
  return {
    local: platform.control,
    remote: controlClient(platform.url, platform),
    conversationId,
    eventId,
  };
}

test("the client has every operation of the control in process, and the timeline", async () => {
  const { local, remote } = await start();
  for (const { part, name } of operations) {
    const [mine, theirs] = [local, remote].map((one) =>
      part === undefined ? one : Reflect.get(one, part),
    );
    expect(Reflect.get(theirs, name), name).toBeTypeOf("function");
    if (name !== "timeline" && name !== "stream") expect(name in mine, name).toBe(true);
  }
});

describe("the client returns what the control in process returns", () => {
  test("for reads", async () => {
    const { local, remote, conversationId, eventId } = await start();
    const given: Readonly<Record<string, readonly unknown[]>> = {
      messages: [conversationId],
      messagesPage: [conversationId, { limit: 1, before: "m_9" }],
      conversations: [{ of: "ada" }],
      posts: [{ limit: 1 }],
      post: ["p_1"],
      comments: ["p_1"],
      events: [undefined, "bot", 1],
      event: [eventId],
      state: ["helper"],
    };
    const isRead = ({ part, name, route }: Operation) =>
      route.method === "GET" &&
      (given[name] !== undefined || !route.path.includes(":")) &&
      part !== "inbox" &&
      !["stream", "timeline", "view"].includes(name);
    const reads = operations.filter(isRead);
    expect(reads.length).toBeGreaterThan(20);
    for (const { part, name } of reads) {
      const [mine, theirs] = [local, remote].map((one) =>
        part === undefined ? one : Reflect.get(one, part),
      );
      const member: unknown = Reflect.get(mine, name);
      const args = given[name] ?? [];
      const expected =
        typeof member === "function" ? await Reflect.apply(member, mine, args) : member;
      expect(await Reflect.apply(Reflect.get(theirs, name), theirs, args), name).toEqual(expected);
    }
    expect((await remote.timeline(3)).entries[0]?.seq).toBe(4);
  });

  test("for changes, whose effect is the same", async () => {
    const { local, remote } = await start();
    expect(await remote.act({ type: "post", from: "ben" })).toEqual({ events: [], postId: "p_2" });
    expect(await remote.createToken(["read"], "helper")).toMatchObject({ scopes: ["read"] });
    expect(local.apps.tokens("helper")).toHaveLength(2);
    expect(await remote.saveWebhook({ enabled: false }, "helper")).toEqual(
      local.webhookOf("helper"),
    );
    expect(await remote.apps.set("helper", { disabled: true })).toEqual(local.apps.list()[1]);
    expect(await remote.setBlock({ by: "ben", blocked: false })).toEqual([]);
    const set = { now: "2030-01-01T00:00:00.000Z", frozen: true };
    expect(await remote.clock.set(set)).toMatchObject(set);
    expect(local.clock.view).toMatchObject(set);
    expect(await remote.snapshots.take("second")).toMatchObject({ name: "second" });
    expect(await remote.regenerateWebhookSecret()).toMatch(/^whsec_/);
    await remote.snapshots.restore("snap_1");
    await remote.snapshots.remove("snap_1");
    expect(local.snapshots.list().map(({ name }) => name)).toEqual(["second"]);
  });
});

test("the client reports the platform's reason", async () => {
  const { remote } = await start();
  await expect(remote.post("p_99")).rejects.toThrow("p_99");
  await expect(remote.state("nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
});
