import { describe, expect, test } from "vitest";
import type { NewEvent } from "../faces/inbox.ts";
import { ManualClock } from "../faces/testing.ts";
import { batchOf, delivery, faces, makeRig } from "./support.ts";

describe.each(faces)("the fallback, over $name", (face) => {
  test("learns of each batch once it is stored, duplicates included", async () => {
    const seen: string[][] = [];
    const rig = makeRig({
      fallback: {
        delivered: (events: readonly NewEvent[]) => {
          expect(events.every(({ id }) => rig.inbox.stored.has(id))).toBe(true);
          seen.push(events.map(({ id }) => id));
        },
      },
    });
    const send = await face.open(rig.endpoints);
    await send(delivery(batchOf("1", "2")));
    await send(delivery(batchOf("2")));
    expect(seen).toEqual([["1", "2"], ["2"]]);
  });

  test("does not learn of what was refused or not stored", async () => {
    const seen: unknown[] = [];
    const fallback = { delivered: (events: readonly NewEvent[]) => void seen.push(events) };
    const rig = makeRig({ fallback });
    const send = await face.open(rig.endpoints);
    await send(delivery("{"));
    const broken = makeRig({ fallback, inbox: { put: () => Promise.reject(new Error("away")) } });
    await (await face.open(broken.endpoints))(delivery(batchOf("1")));
    expect(seen).toEqual([]);
  });

  test("that throws does not turn a stored batch into a failure: failures disable the webhook", async () => {
    const fallback = {
      delivered: () => {
        throw new Error("the fallback broke");
      },
    };
    const { endpoints, inbox, lines } = makeRig({ fallback });
    const send = await face.open(endpoints);
    expect((await send(delivery(batchOf("1")))).status).toBe(200);
    expect(inbox.stored.size).toBe(1);
    // A failing fallback is for the operator to fix, so it is logged as an error.
    expect(lines()).toContainEqual(
      expect.objectContaining({
        level: "error",
        err: expect.objectContaining({ message: "the fallback broke" }),
      }),
    );
  });
});

describe.each(faces)("lastDeliveryAt, over $name", (face) => {
  test("is when a batch was stored last, by the clock that is not set", async () => {
    const steady = new ManualClock(5_000);
    const { endpoints, receiver } = makeRig({ steady });
    const send = await face.open(endpoints);
    await send(delivery("{"));
    expect(receiver.history.lastDeliveryAt).toBeUndefined();
    await send(delivery(batchOf("1")));
    expect(receiver.history.lastDeliveryAt).toBe(5_000);
    await steady.advance(100);
    await send(delivery(batchOf("1")));
    expect(receiver.history.lastDeliveryAt).toBe(5_100);
  });

  test("is not moved by a batch of one's own service, which says nothing about the platform's webhook", async () => {
    const seen: unknown[] = [];
    const fallback = { delivered: (events: readonly NewEvent[]) => void seen.push(events) };
    const { endpoints, receiver, inbox } = makeRig({ fallback });
    const send = await face.open(endpoints);
    await send(delivery("{"));
    const own = { id: "order:1", type: "order.paid", payload: {} };
    await send(delivery(JSON.stringify({ events: [own] })));
    expect([...inbox.stored.keys()]).toEqual(["order:1"]);
    expect(seen).toEqual([]);
    const { lastDeliveryAt, secret, refused, lastRefusal } = receiver.history;
    expect({ lastDeliveryAt, secret, refused, lastRefusal }).toMatchObject({
      ...{ lastDeliveryAt: undefined, secret: undefined, refused: 1 },
      lastRefusal: { code: "BODY_INVALID" },
    });
    await send(delivery(JSON.stringify({ events: [own, ...JSON.parse(batchOf("2")).events] })));
    expect(receiver.history).toMatchObject({ lastDeliveryAt: expect.any(Number), refused: 0 });
  });

  test("is not moved by a batch that could not be stored", async () => {
    const { endpoints, receiver } = makeRig({
      inbox: { put: () => Promise.reject(new Error("away")) },
    });
    await (await face.open(endpoints))(delivery(batchOf("1")));
    expect(receiver.history.lastDeliveryAt).toBeUndefined();
  });
});
